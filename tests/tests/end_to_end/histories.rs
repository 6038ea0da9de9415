//! Random histories of steer, pause, resume, cancel and kills, judged from outside: by what the children wrote down.
//!
//! Each test plays two seeds. `END_TO_END_SEED` names the first one and `END_TO_END_ROUNDS` how many are played from
//! there on: `END_TO_END_ROUNDS=200 cargo test -p subagentd-tests --test end_to_end histories`. A seed makes the same
//! choices each time; what meets what is up to the machine.

mod actor;
mod check;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use subagentd_ipc::client::Client;
use subagentd_tests::{Ask, Owner, Script, Site, until};
use tokio::task::{LocalSet, spawn_local};

use actor::Actor;

const RUNS: usize = 20;
/// Half of the runs are writers, in so many directories.
const ROOTS: usize = 4;
const ACTORS: usize = 6;
/// What each of them does.
const STEPS: u32 = 45;
/// A run's view shows no more steers than this.
const STEERS: usize = 28;

/// Played by each test where nothing else is asked for.
const FIRST_SEED: u64 = 1;
const ROUNDS: u64 = 2;

/// Xorshift, so that the choices are the same each time.
struct Dice(Cell<u64>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    fn below(&self, bound: u64) -> u64 {
        let mut next = self.0.get();
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        self.0.set(next);
        next % bound
    }
}

/// How a call ended, as far as its caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The connection went first.
    None,
    Refused,
    /// By this number, for a steer.
    Yes(u32),
}

/// All that one run was told.
#[derive(Debug, Default, Clone)]
struct Told {
    steers: Vec<(String, Answer)>,
    /// Without those that were refused.
    resumes: Vec<String>,
    shim_kills: u32,
}

/// What all actors share.
struct Course {
    site: Site,
    dice: Dice,
    runs: Vec<(String, Ask)>,
    told: RefCell<HashMap<String, Told>>,
    /// What happened, and to which run; the daemon's ends are of all runs.
    log: RefCell<Vec<(Option<String>, String)>>,
    serial: Cell<u64>,
}

impl Course {
    /// Changes what is known of a run.
    fn tell<T>(&self, run: &str, change: impl FnOnce(&mut Told) -> T) -> T {
        change(self.told.borrow_mut().entry(run.to_owned()).or_default())
    }

    fn told(&self, run: &str) -> Told {
        self.told.borrow().get(run).cloned().unwrap_or_default()
    }

    fn note(&self, run: Option<&str>, what: String) {
        self.log.borrow_mut().push((run.map(str::to_owned), what));
    }

    /// What happened to one run, line by line.
    fn history(&self, run: &str) -> String {
        let log = self.log.borrow();
        let of_run = log.iter().filter(|(of, _)| of.as_deref().is_none_or(|of| of == run));
        of_run.map(|(_, what)| format!("\n    {what}")).collect()
    }
}

/// A connection, as soon as there is one.
async fn connect(site: &Site) -> Owner {
    let socket = site.place().socket;
    until("a greeted connection", async || {
        let client = Client::connect(&socket).await.ok()?;
        let store = client.hello("me", "end-to-end", "1").await.ok()?.store;
        Some(Owner { client, store })
    })
    .await
}

/// A child that works for a second or two, in many short turns.
fn ask(site: &Site, number: usize) -> Ask {
    let tool = || json!({ "name": "bash", "args": { "command": "x" }, "result": "y", "exitCode": 0 });
    let mut script = Script::new();
    for turn in 0..25 {
        script = script.step(json!({ "tool": tool() })).sleep(10 + turn % 3 * 25);
        script = script.step(json!({ "resumed": { "tool": tool() } }));
        script = script.step(json!({ "resumed": { "sleep": 10 + turn % 4 * 20 } }));
    }
    let script = script.say("done");
    let ask = match number % 2 {
        0 => site.play("worker", &script).directory(root(site, number / 2 % ROOTS)),
        _ => site.play("explore", &script),
    };
    ask.task(&task(number))
}

fn root(site: &Site, number: usize) -> std::path::PathBuf {
    site.directory(&format!("root-{number}"))
}

/// No text is part of another one.
fn task(number: usize) -> String {
    format!("task-{number}-end")
}

/// Plays one history; gives every broken promise, with what happened to its run.
async fn play(seed: u64, kills: bool) -> Vec<String> {
    let site = Site::with(&[("limits.children", "6"), ("limits.grace", "300ms")]);
    let mut daemon = site.start();
    let owner = connect(&site).await;
    let mut runs = Vec::new();
    for number in 0..RUNS {
        let ask = ask(&site, number);
        runs.push((owner.launch(&ask).await.run, ask));
    }
    let (told, log, serial) = Default::default();
    let course = Rc::new(Course { site, dice: Dice::new(seed), runs, told, log, serial });
    let actor = |_| {
        let course = Rc::clone(&course);
        spawn_local(async move { Actor::new(course).await.act(STEPS).await })
    };
    let actors: Vec<_> = (0..ACTORS).map(actor).collect();
    while kills && !actors.iter().all(|actor| actor.is_finished()) {
        tokio::time::sleep(Duration::from_millis(150 + course.dice.below(500))).await;
        course.note(None, "the daemon is killed".to_owned());
        daemon.kill9();
        daemon = course.site.start();
    }
    for actor in actors {
        actor.await.unwrap();
    }
    check::check(&course, &daemon).await
}

fn histories(kills: bool) {
    let given = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = given("END_TO_END_SEED").unwrap_or(FIRST_SEED);
    for seed in first..first + given("END_TO_END_ROUNDS").unwrap_or(ROUNDS) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let faults = LocalSet::new().block_on(&runtime, play(seed, kills));
        assert!(faults.is_empty(), "seed {seed} broke {} promises:\n{}", faults.len(), faults.join("\n"));
    }
}

#[test]
fn without_an_end_of_the_daemon() {
    histories(false);
}

#[test]
fn with_a_daemon_that_is_killed_again_and_again() {
    histories(true);
}
