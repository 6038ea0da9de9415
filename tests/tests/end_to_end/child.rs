//! Children, well and badly behaved: how each of them ends.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;
use subagentd_proto::error::Kind;
use subagentd_proto::run::{ChildView, RunView, State};
use subagentd_tests::{Ask, Owner, Puppet, Script, Site, fault};

async fn child(owner: &Owner, ask: &Ask) -> (RunView, ChildView) {
    let view = owner.run(ask).await;
    let child = view.children[0].clone();
    (view, child)
}

#[tokio::test]
async fn each_way_to_end_without_success_has_its_reason() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let stops = |text: &str, stop: &str| Script::new().stops(text, stop, "the provider is overloaded");
    let table = [
        (Script::new().step(json!({ "say": "" })), "answer.missing", ""),
        (Script::new().say("  \n "), "answer.missing", ""),
        (stops("partly", "error"), "model.error", "the provider is overloaded"),
        (stops("partly", "length"), "answer.cut-off", ""),
        (stops("partly", "toolUse"), "answer.missing", ""),
        (stops("partly", "aborted"), "child.aborted", ""),
        (Script::new().step(json!({ "exit": 3 })), "child.exited", "code 3"),
        (Script::new().step(json!({ "exit": 0 })), "child.exited", "code 0"),
        (Script::new().step(json!({ "die": "KILL" })), "child.signalled", "signal 9"),
        (Script::new().step(json!({ "before": { "exit": 4 } })).say("never"), "child.exited", "code 4"),
    ];
    for (script, reason, error) in table {
        let ask = site.play("explore", &script).task("the words of the user");
        let (view, child) = child(&owner, &ask).await;
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some(reason)), "{script:?} {child:?}");
        assert!(child.error.as_deref().unwrap_or_default().contains(error), "{error}: {child:?}");
        match child.reference {
            // What is left of an answer is kept, and never said to be whole.
            Some(_) => {
                assert_eq!(child.answer_complete, Some(false), "{script:?}");
                assert_eq!(owner.text(&view.run).await.0, "partly", "the user's text is never the answer");
            }
            None => assert_eq!(fault(owner.result(&view.run).await).kind, Kind::NoResult),
        }
    }
    site.until_no_attempts().await;
}

#[tokio::test]
async fn the_last_line_of_standard_error_is_in_the_error() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let part = "echo first >&2; printf 'the disk \\033[31mburns\\n\\n' >&2; exit 7";
    let (view, child) = child(&owner, &site.puppet("explore", &Puppet::new(&site, part, ""))).await;
    assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("child.exited")));
    let error = child.error.unwrap();
    assert!(error.contains("code 7") && error.contains("the disk  [31mburns") && !error.contains("first"), "{error:?}");
    let kept = fs::read(format!("{}/stderr.log", child.folder.unwrap())).unwrap();
    assert_eq!(kept, b"first\nthe disk \x1b[31mburns\n\n", "as it is, in the private log");
}

/// F08, first variant.
#[tokio::test]
async fn who_said_the_last_word_and_stays_is_made_to_leave() {
    let site = Site::with(&[("limits.grace", "200ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let script = Script::new().say("42").step(json!({ "after": { "sleep": { "ms": 600_000, "ignoreEnd": true } } }));
    let (view, child) = child(&owner, &site.play("explore", &script)).await;
    assert_eq!(view.state, State::Succeeded, "{view:?}");
    assert_eq!(child.remarks, ["child.lingered"]);
    assert_eq!(owner.text(&view.run).await.0, "42");
    site.until_no_attempts().await;
}

/// F08, second variant.
#[tokio::test]
async fn events_after_the_last_word_reopen_nothing() {
    let site = Site::with(&[("limits.grace", "200ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let chatter = r#"
        settle
        while :; do
            echo '{"type":"agent_start"}'
            echo '{"type":"message_end","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"43"}]}}'
            echo '{"type":"agent_settled","aborted":false}'
            sleep 0.02
        done"#;
    let (view, child) = child(&owner, &site.puppet("explore", &Puppet::new(&site, chatter, "42"))).await;
    assert_eq!(view.state, State::Succeeded, "{view:?}");
    assert!(child.remarks.contains(&"child.lingered".to_owned()), "{child:?}");
    assert_eq!(owner.text(&view.run).await.0, "42");
    assert_eq!(owner.inbox().await.len(), 1);
    site.until_no_attempts().await;
}

/// F08, third variant.
#[tokio::test]
async fn who_leaves_in_time_gets_no_signal() {
    let site = Site::with(&[("limits.grace", "20s")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let signalled = site.path("signalled");
    let part = format!("trap 'echo x > {0}; exit 1' TERM HUP INT; settle; sleep 1; exit 0", signalled.display());
    let (view, child) = child(&owner, &site.puppet("explore", &Puppet::new(&site, &part, "42"))).await;
    assert_eq!((view.state, child.remarks.len()), (State::Succeeded, 0), "{child:?}");
    assert_eq!(owner.text(&view.run).await.0, "42");
    assert!(!signalled.exists());
}

#[tokio::test]
async fn a_child_that_is_not_what_was_asked_for_gets_no_prompt() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let lying = |before: &str| Puppet::new(&site, "echo prompted >&2; settle", "no").before(before);
    let answering = |state: &str| {
        format!(
            r#"echo '{{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"subagentd.tools","statusText":"[\"read\"]"}}'
            read -r line
            echo '{{"id":"get_state","type":"response","command":"get_state","success":true,"data":{state}}}'
            while read -r line; do :; done"#
        )
    };
    let other = answering(r#"{"model":{"provider":"offline","id":"dearer"},"thinkingLevel":"off"}"#);
    let harder = answering(r#"{"model":{"provider":"offline","id":"search"},"thinkingLevel":"max"}"#);
    for (before, reason, words) in [(other, "model.mismatch", "offline/dearer"), (harder, "thinking.mismatch", "max")] {
        let (view, child) = child(&owner, &site.puppet("explore", &lying(&before))).await;
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some(reason)), "{child:?}");
        assert!(child.error.unwrap().contains(words));
    }
    // More tools than it may have.
    let more = r#"set -- bash"#;
    let (_, child) = child(&owner, &site.puppet("explore", &lying(more))).await;
    assert_eq!(child.reason.as_deref(), Some("tools.mismatch"), "{child:?}");
}

/// F22, the plain part.
#[tokio::test]
async fn a_question_that_nobody_hears_fails_fast() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let terminal = "if (exec 3<>/dev/tty) 2>/dev/null; then echo found >&2; else echo none >&2; fi; exit 5";
    let (_, child_of_terminal) = child(&owner, &site.puppet("explore", &Puppet::new(&site, terminal, ""))).await;
    assert!(child_of_terminal.error.as_deref().unwrap().ends_with("none"), "{child_of_terminal:?}");

    let port = ask_for_passwords();
    let fetch = format!("git ls-remote http://127.0.0.1:{port}/private.git >/dev/null; exit 6");
    let ask = site.puppet("explore", &Puppet::new(&site, &fetch, "")).variable("GIT_CONFIG_NOSYSTEM", "1");
    let (view, child) = child(&owner, &ask).await;
    assert_eq!(child.reason.as_deref(), Some("child.exited"), "{view:?}");
    assert!(child.error.as_deref().unwrap().contains("terminal prompts disabled"), "{child:?}");
}

/// A server that wants a password of everybody.
fn ask_for_passwords() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            // What was asked does not matter.
            if stream.read(&mut head).unwrap_or(0) == 0 {
                continue;
            }
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            // The other end may be gone.
            stream.write_all(refusal.as_bytes()).ok();
        }
    });
    port
}

/// F23 by decision A11.
#[tokio::test]
async fn a_child_knows_its_client_and_not_its_daemon() {
    let mut site = Site::with(&[("log.level", "trace")]);
    site.set("PLANTED_DAEMON", "s3cret-d");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let part = r#"env > "$END_TO_END_PUPPET/env"; tr '\0' '\n' < /proc/$$/cmdline > "$END_TO_END_PUPPET/args"; pwd -P > "$END_TO_END_PUPPET/pwd"; umask > "$END_TO_END_PUPPET/umask"; settle"#;
    let puppet = Puppet::new(&site, part, "known");
    let path = format!("{}:/of/the/client", std::env::var("PATH").unwrap());
    let mut ask = site.puppet("explore", &puppet).variable("PLANTED_CLIENT", "s3cret-c").variable("PATH", &path);
    for name in
        ["TERM_PROGRAM", "LISTEN_FDS", "NOTIFY_SOCKET", "GIT_DIR", "NODE_OPTIONS", "SUBAGENTD_ATTEMPT", "VSCODE_PID"]
    {
        ask = ask.variable(name, "of-the-client");
    }
    ask.params.capture.environment.as_mut().unwrap().umask = Some(0o027);
    let view = owner.run(&ask).await;
    assert_eq!(view.state, State::Succeeded, "{view:?}");
    let read = |name: &str| fs::read_to_string(puppet.folder().join(name)).unwrap();
    let environment = read("env");
    let has = |line: &str| environment.lines().any(|found| found == line);
    assert!(has("PLANTED_CLIENT=s3cret-c") && has(&format!("PATH={path}")), "{environment}");
    assert!(has(&format!("SUBAGENTD_ATTEMPT={}/0.1", view.run)), "{environment}");
    assert!(!environment.contains("s3cret-d") && !environment.contains("of-the-client"), "{environment}");
    assert!(!read("args").contains("s3cret"));
    assert_eq!(read("pwd").trim_end(), site.work().to_str().unwrap());
    assert_eq!(read("umask").trim_end(), "0027");
    daemon.stop().await;
    let logs = site.logs();
    assert!(logs.contains("DEBUG") && !logs.contains("s3cret"), "the most talkative log names no value");
}

#[tokio::test]
async fn a_client_that_states_no_environment_lends_the_daemons_and_that_is_said() {
    let mut site = Site::new();
    site.set("PLANTED_DAEMON", "s3cret-d");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut ask = site.ask("explore", "anything");
    ask.params.capture.environment = None;
    let launched = owner.launch(&ask).await;
    assert_eq!(launched.remarks, ["environment.of-daemon"]);
    let view = owner.wait(&launched.run).await;
    assert_eq!(view.children[0].remarks, ["environment.of-daemon"]);
}
