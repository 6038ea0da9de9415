//! A peer that answers as a script says, and remembers what it was asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything here takes; a test that reaches it hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) const RUN: &str = "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d";

/// What the peer does with a call.
pub(crate) enum Reply {
    Result(Value),
    Fault(i64, &'static str, &'static str),
    /// Closes the connection.
    Close,
    /// Never answers.
    Silence,
}

type Script = dyn Fn(&str, &Value) -> Reply + Send + Sync;

/// A private place, with or without somebody who listens there.
pub(crate) struct Peer {
    pub(crate) place: tempfile::TempDir,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
    seen: Receiver<String>,
}

impl Peer {
    /// Nobody listens, nothing was ever stored.
    pub(crate) fn absent() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Self { place, calls: Arc::default(), seen: channel().1 }
    }

    /// Answers every call by `script`; greetings are answered here.
    pub(crate) fn scripted(script: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let mut peer = Self::absent();
        let listener = UnixListener::bind(peer.socket()).unwrap();
        let (sender, seen) = channel();
        peer.seen = seen;
        let calls = Arc::clone(&peer.calls);
        let script: Arc<Script> = Arc::new(script);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, calls, sender) = (Arc::clone(&script), Arc::clone(&calls), sender.clone());
                thread::spawn(move || serve(&stream.unwrap(), &*script, &calls, &sender));
            }
        });
        peer
    }

    /// Takes one connection and is gone with the first call after the greeting.
    pub(crate) fn crashing() -> Self {
        let peer = Self::absent();
        let listener = UnixListener::bind(peer.socket()).unwrap();
        let calls = Arc::clone(&peer.calls);
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            drop(listener);
            serve(&stream, &|_, _| Reply::Close, &calls, &channel().0);
        });
        peer
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.place.path().join("rpc.sock")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.place.path().join("state")
    }

    /// The program with `args`, in this place. No daemon can be started: the program named is none.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subagentd-cli"));
        command
            .args(args)
            .env("SUBAGENTD_STATE_DIR", self.state())
            .env("SUBAGENTD_SOCKET", self.socket())
            .env("SUBAGENTD_DAEMON", self.place.path().join("no-program"))
            .env("TZ", "UTC")
            .env_remove("SUBAGENTD_ATTEMPT")
            .current_dir(self.place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Seen {
        finish(self.command(args).spawn().unwrap())
    }

    /// The calls so far, greetings included.
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        self.calls.lock().unwrap().clone()
    }

    /// What was asked by `method`, in order.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let named = |(name, params): (String, Value)| (name == method).then_some(params);
        self.calls().into_iter().filter_map(named).collect()
    }

    /// Waits until `method` was called.
    pub(crate) fn until(&self, method: &str) {
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let name = self
                .seen
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("{method} was not called; these were: {:?}", self.calls()));
            if name == method {
                return;
            }
        }
    }
}

fn serve(stream: &UnixStream, script: &Script, calls: &Mutex<Vec<(String, Value)>>, seen: &Sender<String>) {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).unwrap();
        let method = request["method"].as_str().unwrap().to_owned();
        let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
        calls.lock().unwrap().push((method.clone(), params.clone()));
        let reply = if method == "daemon/hello" { Reply::Result(hello()) } else { script(&method, &params) };
        drop(seen.send(method));
        let mut answer = json!({"jsonrpc": "2.0", "id": request["id"]});
        match reply {
            Reply::Result(result) => answer["result"] = result,
            Reply::Fault(code, kind, message) => {
                answer["error"] = json!({"code": code, "message": message, "data": {"kind": kind, "retryable": false}});
            }
            Reply::Close => return stream.shutdown(std::net::Shutdown::Both).unwrap(),
            Reply::Silence => continue,
        }
        // The program may have gone already.
        if writeln!(writer, "{answer}").is_err() {
            return;
        }
    }
}

fn hello() -> Value {
    json!({
        "protocol": 1, "version": "0.1.0", "store": "s", "features": [],
        "limits": {"frameBytes": 1, "inFlight": 32, "subscriptions": 16, "textSliceBytes": 262_144, "waitMs": 50_000},
    })
}

/// What a finished program left.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Seen {
    /// Standard output as exactly one JSON document.
    pub(crate) fn document(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Waits for the end, with a deadline.
pub(crate) fn finish(child: Child) -> Seen {
    let (sender, receiver) = channel();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let Output { status, stdout, stderr } = receiver.recv_timeout(DEADLINE).map_or_else(
        |_| {
            nix::sys::signal::kill(pid, nix::sys::signal::SIGKILL).ok();
            panic!("the program did not end")
        },
        Result::unwrap,
    );
    Seen { code: status.code(), out: String::from_utf8(stdout).unwrap(), err: String::from_utf8(stderr).unwrap() }
}

pub(crate) fn launched() -> Reply {
    Reply::Result(json!({"run": RUN, "state": "queued", "repeated": false, "decisions": decisions()}))
}

fn decisions() -> Value {
    let decision = |value: Value| json!({"value": value, "source": "default", "reason": "nobody said anything"});
    json!({
        "agentSource": "builtin",
        "runtime": decision(json!("offline")),
        "model": decision(json!("offline/search")),
        "thinking": decision(json!("off")),
        "tools": decision(json!(["read"])),
        "context": decision(json!("fresh")),
        "class": decision(json!("shared")),
        "background": decision(json!(false)),
        "directory": "/w", "workspace": "/w", "timeoutMs": 0, "idleTimeoutMs": 0,
    })
}

/// A run of `owner` in `state`, with the notice 7 if it ended.
pub(crate) fn view(state: &str, owner: &str) -> Value {
    let ended = !["queued", "starting", "running", "paused"].contains(&state);
    let mut run = json!({
        "run": RUN, "kind": "single", "owner": owner, "state": state,
        "createdAtMs": 1_700_000_000_000_u64, "startedAtMs": 1_700_000_001_000_u64,
        "children": [{
            "index": 0, "agent": "explore", "task": "t", "state": state, "attempt": 1,
            "startedAtMs": 1_700_000_001_000_u64, "decisions": decisions(),
        }],
    });
    if ended {
        run["endedAtMs"] = json!(1_700_000_003_000_u64);
        run["children"][0]["endedAtMs"] = json!(1_700_000_003_000_u64);
        run["notice"] = json!({"seq": 7, "acknowledged": false});
    }
    if state == "succeeded" {
        run["children"][0]["reference"] = reference();
        run["children"][0]["answerComplete"] = json!(true);
    }
    run
}

pub(crate) fn reference() -> Value {
    json!({"path": "/s/result.md", "bytes": 2048, "lines": 9, "sha256": "00"})
}

pub(crate) fn waited(state: &str, ended: bool) -> Reply {
    Reply::Result(json!({"ended": ended, "run": view(state, "cli:test")}))
}
