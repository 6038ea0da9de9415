//! Many notices, many owners, clients that vanish in every way, daemons that come and go.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::json;
use subagentd_ipc::client::{Client, Items};
use subagentd_proto::PROTOCOL;
use subagentd_proto::daemon::{ClientInfo, HelloParams};
use subagentd_proto::inbox::{AckParams, Cursor, ListParams, Notice, WatchParams};
use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::{DaemonHello, InboxAck, InboxList, InboxWatch, RunCancel, RunLaunch};
use subagentd_proto::run::CancelParams;
use subagentd_tests::{Ask, Script, Site, until, within};
use tokio::task::{LocalSet, spawn_local};

const OWNERS: usize = 20;
const EACH: usize = 50;
const LAUNCHERS: usize = 20;
/// One of so many launches goes to its end.
const CHILDREN_OF: usize = 4;
/// Numbers settled before each of the daemon's ends.
const ENDS: [usize; 5] = [100, 300, 500, 700, 900];

/// What all clients share.
struct Course {
    socket: PathBuf,
    /// Numbers whose acknowledgement was answered.
    settled: Cell<usize>,
    /// Connections that nobody looks at any more; they stay open.
    left: RefCell<Vec<Left>>,
}

#[expect(dead_code, reason = "kept open, not used")]
enum Left {
    /// Watches and reads nothing.
    Stopped(UnixStream),
    /// Watches, reads and never acknowledges.
    Mute(Client, Items<Notice>),
    /// Watches no longer.
    Idle(Client),
}

/// Xorshift, so that the choices are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A host's name, and the one it had before.
fn names(host: usize) -> [String; 2] {
    [format!("owner-{host:02}"), format!("earlier-{host:02}")]
}

impl Course {
    /// A connection that has greeted, as soon as there is one.
    async fn client(&self, owner: &str, earlier_owners: &[String]) -> (Client, String) {
        until("a greeted connection", async || {
            let client = Client::connect(&self.socket).await.ok()?;
            let info = ClientInfo { name: "end-to-end".to_owned(), version: "1".to_owned() };
            let (owner, earlier_owners) = (owner.to_owned(), earlier_owners.to_vec());
            let hello = HelloParams { client: info, protocol: PROTOCOL, owner, earlier_owners };
            let store = client.call::<DaemonHello>(hello).await.ok()?.store;
            Some((client, store))
        })
        .await
    }

    /// Launches until each is accepted: a key makes one run of all tries. Most are cancelled while they wait, because
    /// that makes a notice sooner than a child does.
    async fn launch(&self, asks: Vec<(String, Ask)>) -> Vec<(String, String)> {
        let mut runs = Vec::new();
        for (owner, ask) in asks {
            let run = until("an accepted launch", async || {
                let (client, _) = self.client(&owner, &[]).await;
                let run = client.call::<RunLaunch>(ask.params.clone()).await.ok()?.run;
                if runs.len() % CHILDREN_OF != 0 {
                    client.call::<RunCancel>(CancelParams { run: run.clone() }).await.ok()?;
                }
                Some(run)
            })
            .await;
            runs.push((owner, run));
        }
        runs
    }

    fn leave(&self, left: Left) {
        self.left.borrow_mut().push(left);
    }

    /// A newest watcher that reads nothing. There may be no daemon right now.
    fn stop_one(&self, owner: &str) {
        let Ok(mut stream) = UnixStream::connect(&self.socket) else { return };
        let client = json!({ "name": "stopped", "version": "1" });
        let hello = json!({ "client": client, "protocol": PROTOCOL, "owner": owner });
        for (id, (method, params)) in [("daemon/hello", hello), ("inbox/watch", json!({}))].into_iter().enumerate() {
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            // The daemon may have gone meanwhile.
            writeln!(stream, "{call}").ok();
        }
        self.leave(Left::Stopped(stream));
    }
}

/// A host program: shows each number once, acknowledges what it has shown, and is replaced again and again.
struct Host {
    course: Rc<Course>,
    names: [String; 2],
    dice: Dice,
    /// The run of each number that was shown.
    shown: BTreeMap<u64, String>,
    /// Shown, without an answer to their acknowledgement.
    open: BTreeSet<u64>,
    /// In acknowledgements that were never answered.
    unanswered: BTreeSet<u64>,
    /// Newly acknowledged, by the daemon's answers.
    acknowledged: u64,
}

impl Host {
    async fn run(mut self) -> Self {
        while self.shown.len() < EACH || !self.open.is_empty() {
            let (client, store) = self.course.client(&self.names[0], &self.names[1..]).await;
            // Everything up to the last number was shown, because a watcher's order is never changed.
            let cursor = self.shown.keys().last().filter(|_| self.open.is_empty() && self.dice.below(2) == 0);
            let after = cursor.map(|seq| Cursor { store, seq: *seq });
            if let Ok(items) = client.subscribe::<InboxWatch>(WatchParams { after }).await {
                self.watch(client, items).await;
            }
        }
        self
    }

    /// One life.
    async fn watch(&mut self, client: Client, mut items: Items<Notice>) {
        for _ in 0..=self.dice.below(12) {
            if self.shown.len() == EACH && self.open.is_empty() {
                return;
            }
            // What it has shown in an earlier life may be all there is to do.
            if self.shown.len() < EACH {
                let Some(Ok(notice)) = within("a notice", items.next()).await else { return };
                self.show(&notice);
                if self.dice.below(3) == 0 {
                    continue;
                }
                if self.dice.below(2) == 0 {
                    // It covers what this connection was sent; the rest stays open.
                    self.acknowledge(&client, Some(notice.seq)).await;
                    continue;
                }
            }
            self.acknowledge(&client, None).await;
        }
        match self.dice.below(8) {
            0..4 => {}
            4 => drop((items, self.course.leave(Left::Idle(client)))),
            5 => self.course.leave(Left::Mute(client, items)),
            6 => self.course.stop_one(&self.names[0]),
            _ => {
                self.course.stop_one(&self.names[0]);
                self.course.leave(Left::Mute(client, items));
            }
        }
    }

    fn show(&mut self, notice: &Notice) {
        match self.shown.insert(notice.seq, notice.run.clone()) {
            Some(before) => assert_eq!(before, notice.run, "one number, two runs"),
            None => drop(self.open.insert(notice.seq)),
        }
    }

    async fn acknowledge(&mut self, client: &Client, up_to: Option<u64>) {
        let seqs: Vec<u64> = match up_to {
            Some(_) => Vec::new(),
            None => self.open.iter().copied().collect(),
        };
        let covered: BTreeSet<u64> = match up_to {
            Some(up_to) => self.open.range(..=up_to).copied().collect(),
            None => self.open.clone(),
        };
        match client.call::<InboxAck>(AckParams { up_to, seqs }).await {
            Ok(answer) => {
                self.acknowledged += answer.acknowledged;
                if up_to.is_none() {
                    self.course.settled.update(|settled| settled + covered.len());
                    self.open.clear();
                }
            }
            Err(_) => self.unanswered.extend(covered),
        }
    }

    /// Each of its runs was shown under one number, and each number was acknowledged once.
    async fn check(&self, runs: &[(String, String)]) {
        let of = &self.names[0];
        let own: BTreeSet<&String> =
            runs.iter().filter(|(owner, _)| self.names.contains(owner)).map(|(_, run)| run).collect();
        assert_eq!(self.shown.values().collect::<BTreeSet<_>>(), own, "{of}");
        assert_eq!((own.len(), self.shown.len()), (EACH, EACH), "{of}");
        let unsure = self.unanswered.len() as u64;
        let all = EACH as u64;
        assert!(
            (all - unsure..=all).contains(&self.acknowledged),
            "{of}: {} acknowledged, {unsure} unanswered",
            self.acknowledged
        );
        let (client, _) = self.course.client(&self.names[0], &self.names[1..]).await;
        let list = async |acknowledged| {
            let params = ListParams { limit: Some(PAGE_ROWS), acknowledged, ..ListParams::default() };
            client.call::<InboxList>(params).await.unwrap().notices.len()
        };
        assert_eq!((list(false).await, list(true).await), (0, EACH), "{of}");
    }
}

/// Begins to launch everything; gives the owner of each run.
async fn launch_all(course: &Rc<Course>, ask: &Ask) -> Vec<(String, String)> {
    let mut asks: Vec<Vec<(String, Ask)>> = vec![Vec::new(); LAUNCHERS];
    for number in 0..OWNERS * EACH {
        let ask = ask.clone().key(&format!("run-{number}"));
        let [owner, earlier] = names(number % OWNERS);
        asks[number % LAUNCHERS].push((if number % 3 == 0 { earlier } else { owner }, ask));
    }
    let launch = |asks| {
        let course = Rc::clone(course);
        spawn_local(async move { course.launch(asks).await })
    };
    let launching: Vec<_> = asks.into_iter().map(launch).collect();
    let mut runs = Vec::new();
    for launching in launching {
        runs.extend(launching.await.unwrap());
    }
    runs
}

async fn deliver() {
    let site = Site::with(&[("limits.children", "8"), ("inbox.offer", "200ms")]);
    let ask = site.play("explore", &Script::new().say("done"));
    let mut daemon = site.start();
    let socket = daemon.socket().to_owned();
    let course = Rc::new(Course { socket, settled: Cell::new(0), left: RefCell::default() });
    let launching = {
        let course = Rc::clone(&course);
        spawn_local(async move { launch_all(&course, &ask).await })
    };
    let host = |number| {
        let (course, names) = (Rc::clone(&course), names(number));
        let (shown, open, unanswered) = Default::default();
        let dice = Dice(number as u64 * 7_919 + 1);
        spawn_local(Host { course, names, dice, shown, open, unanswered, acknowledged: 0 }.run())
    };
    let hosts: Vec<_> = (0..OWNERS).map(host).collect();

    for (round, settled) in ENDS.into_iter().enumerate() {
        until(&format!("{settled} settled"), async || (course.settled.get() >= settled).then_some(())).await;
        match round % 2 {
            0 => daemon.kill9(),
            _ => _ = daemon.stop().await,
        }
        daemon = site.start();
    }
    let runs = within("all launches", launching).await.unwrap();
    for host in hosts {
        within("a host that has everything", host).await.unwrap().check(&runs).await;
    }
}

/// 1,000 notices: none lost, none twice, whatever clients and daemons do.
#[tokio::test]
async fn a_thousand_notices_are_each_acknowledged_once() {
    LocalSet::new().run_until(deliver()).await;
}
