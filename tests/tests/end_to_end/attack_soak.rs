//! Random histories of steer, pause, resume, cancel and kills, judged by what the children wrote down.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use subagentd_ipc::client::{CallError, Client};
use subagentd_proto::method::{LeaseList, RunCancel};
use subagentd_proto::run::{CancelParams, Delivery, Receipt, State};
use subagentd_tests::{Ask, Owner, Script, Site, until};

const RUNS: usize = 20;
const STEERS: usize = 28;

struct Random(Cell<u64>);
impl Random {
    fn below(&self, bound: u64) -> u64 {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        x % bound
    }
}

#[derive(Default, Clone)]
struct Told {
    /// Text, number (none: not acknowledged).
    steers: Vec<(String, Option<u32>)>,
    resumes: Vec<(String, bool)>,
    shim_kills: u32,
}

struct World {
    site: Site,
    random: Random,
    runs: RefCell<Vec<(String, Ask)>>,
    told: RefCell<HashMap<String, Told>>,
    log: RefCell<Vec<String>>,
    errors: RefCell<HashMap<String, u32>>,
    serial: Cell<u64>,
}

async fn connect(site: &Site) -> Owner {
    let socket = site.place().socket;
    loop {
        if let Ok(client) = Client::connect(&socket).await
            && let Ok(hello) = client.hello("me", "end-to-end", "1").await
        {
            return Owner { client, store: hello.store };
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn ask(site: &Site, exclusive: Option<usize>) -> Ask {
    let mut script = Script::new();
    for turn in 0..25 {
        let tool = json!({ "name": "bash", "args": { "command": "x" }, "result": "y", "exitCode": 0 });
        script = script.step(json!({ "tool": tool })).sleep(10 + turn % 3 * 25);
        let tool = json!({ "name": "bash", "args": { "command": "x" }, "result": "y", "exitCode": 0 });
        script = script.step(json!({ "resumed": { "tool": tool } })).step(json!({ "resumed": { "sleep": 10 + turn % 4 * 20 } }));
    }
    let script = script.say("done");
    match exclusive {
        Some(number) => site.play("worker", &script).directory(site.directory(&format!("root-{number}"))),
        None => site.play("explore", &script),
    }
}

async fn actor(world: Rc<World>, steps: u32) {
    let mut owner = connect(&world.site).await;
    for _ in 0..steps {
        let random = &world.random;
        let (run, ask) = {
            let runs = world.runs.borrow();
            runs[usize::try_from(random.below(runs.len() as u64)).unwrap()].clone()
        };
        let serial = world.serial.get() + 1;
        world.serial.set(serial);
        let dice = random.below(100);
        let note = |what: String| world.log.borrow_mut().push(format!("{serial} {} {what}", &run[28..]));
        let failed: Option<CallError> = match dice {
            0..45 => {
                if world.told.borrow().get(&run).is_some_and(|told| told.steers.len() >= STEERS) {
                    continue;
                }
                let text = format!("steer-{serial}-end");
                let delivery = if random.below(4) == 0 { Delivery::FollowUp } else { Delivery::Steer };
                // Counted before, so that no more than are shown are sent.
                let at = {
                    let mut told = world.told.borrow_mut();
                    let told = told.entry(run.clone()).or_default();
                    told.steers.push((text.clone(), None));
                    told.steers.len() - 1
                };
                match owner.steer(&run, &text, delivery).await {
                    Ok(answer) => {
                        note(format!("steer {} {:?} {:?}", answer.number, answer.receipt, answer.state));
                        world.told.borrow_mut().get_mut(&run).unwrap().steers[at].1 = Some(answer.number);
                        None
                    }
                    Err(CallError::Fault(fault)) => {
                        // Refused: never heard.
                        note(format!("steer refused {}", fault.message));
                        world.told.borrow_mut().get_mut(&run).unwrap().steers[at] = (text, Some(u32::MAX));
                        None
                    }
                    Err(error) => Some(error),
                }
            }
            45..62 => owner.pause(&run).await.map(|answer| note(format!("pause {} {:?}", answer.outcome, answer.state))).err(),
            62..88 => {
                let text = (random.below(3) > 0).then(|| format!("resume-{serial}-end"));
                let answer = owner.resume(&run, &ask, text.as_deref()).await;
                if let Ok(answer) = &answer {
                    note(format!("resume {} {text:?}", answer.attempt));
                }
                if let Some(text) = text
                    && !matches!(answer, Err(CallError::Fault(_)))
                {
                    world.told.borrow_mut().entry(run.clone()).or_default().resumes.push((text, answer.is_ok()));
                }
                answer.err()
            }
            88..91 => owner.call::<RunCancel>(CancelParams { run: run.clone() }).await.map(|answer| note(format!("cancel {} {:?}", answer.outcome, answer.state))).err(),
            91..93 => {
                let shim = world.site.processes().into_iter().find(|process| process.is_shim_of(&run));
                if let Some(shim) = shim {
                    world.told.borrow_mut().entry(run.clone()).or_default().shim_kills += 1;
                    note("kill shim".to_owned());
                    shim.signal(Signal::KILL);
                }
                None
            }
            _ => {
                tokio::time::sleep(Duration::from_millis(random.below(40))).await;
                None
            }
        };
        match failed {
            None => {}
            Some(CallError::Fault(fault)) => {
                let words: String = fault.message.split(' ').filter(|word| word.len() < 25).collect::<Vec<_>>().join(" ");
                *world.errors.borrow_mut().entry(words).or_default() += 1;
            }
            Some(error) => {
                *world.errors.borrow_mut().entry(error.to_string()).or_default() += 1;
                owner = connect(&world.site).await;
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn heard(site: &Site, run: &str) -> Vec<String> {
    let all = files(&site.state().join("runs").join(run).join("session"));
    let mut said = Vec::new();
    for file in all.iter().filter(|path| path.to_str().unwrap().ends_with(".jsonl")) {
        for line in fs::read_to_string(file).unwrap().lines() {
            let Ok(entry) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            if entry["message"]["role"] == "user" {
                said.push(entry["message"]["content"].to_string());
            }
        }
    }
    said
}

async fn history(seed: u64, kills: bool) -> Vec<String> {
    let site = Site::with(&[("limits.children", "6"), ("limits.grace", "300ms")]);
    let mut daemon = site.start();
    let world = Rc::new(World {
        site,
        random: Random(Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)),
        runs: RefCell::default(),
        told: RefCell::default(),
        log: RefCell::default(),
        errors: RefCell::default(),
        serial: Cell::default(),
    });
    let owner = connect(&world.site).await;
    for number in 0..RUNS {
        let ask = ask(&world.site, (number % 2 == 0).then_some(number / 2 % 4)).task(&format!("task-{number}-end"));
        let run = owner.launch(&ask).await.run;
        world.runs.borrow_mut().push((run, ask));
    }
    let actors: Vec<_> = (0..6).map(|_| tokio::task::spawn_local(actor(Rc::clone(&world), 60))).collect();
    while !actors.iter().all(|actor| actor.is_finished()) {
        tokio::time::sleep(Duration::from_millis(150 + world.random.below(500))).await;
        if kills {
            world.log.borrow_mut().push("kill daemon".to_owned());
            daemon.kill9();
            daemon = world.site.start();
        }
    }
    for actor in actors {
        actor.await.unwrap();
    }
    let mut faults = Vec::new();
    let owner = connect(&world.site).await;
    let runs: Vec<String> = world.runs.borrow().iter().map(|(run, _)| run.clone()).collect();
    for run in &runs {
        owner.cancel(run).await;
    }
    for (number, run) in runs.iter().enumerate() {
        let view = owner.wait(run).await;
        let mut fault = |what: String| faults.push(format!("seed {seed} run {} ({number}) {:?}: {what}", &run[28..], view.state));
        let child = &view.children[0];
        let said = heard(&world.site, run).join("\n");
        let told = world.told.borrow().get(run).cloned().unwrap_or_default();
        if view.ended_at_ms.is_none() {
            fault("no ended_at".to_owned());
        }
        let tasks = said.matches(&format!("task-{number}-end")).count();
        let ran = child.attempt > 0 && !said.is_empty();
        if tasks > 1 || (ran && tasks == 0) {
            fault(format!("its task was heard {tasks} times: {said}"));
        }
        for (text, acknowledged) in &told.resumes {
            let times = said.matches(text.as_str()).count();
            if times > 1 {
                fault(format!("{text} ({acknowledged}) heard {times} times"));
            }
        }
        for (text, number) in &told.steers {
            let times = said.matches(text.as_str()).count();
            if times > 1 {
                fault(format!("{text} heard {times} times"));
            }
            let Some(number) = number else { continue };
            if *number == u32::MAX {
                if times > 0 {
                    fault(format!("{text} was refused and heard"));
                }
                continue;
            }
            let receipt = child.steers.iter().find(|steer| steer.number == *number).map(|steer| steer.receipt);
            match (receipt, times) {
                (Some(Receipt::Delivered), 1) | (Some(Receipt::Undelivered), 0) => {}
                (Some(Receipt::Undelivered), 1) if told.shim_kills > 0 => {
                    eprintln!("seed {seed}: {text} undelivered and heard, with {} shim kills", told.shim_kills);
                }
                other => fault(format!("{text} number {number}: {other:?}, shim kills {}", told.shim_kills)),
            }
        }
    }
    world.site.until_no_attempts().await;
    let leases = owner.call::<LeaseList>(serde_json::from_value(json!({})).unwrap()).await.unwrap().leases;
    if !leases.is_empty() {
        faults.push(format!("leases {leases:?}"));
    }
    let status = until("slots are free", async || {
        let status = daemon.status().await;
        (status.live == 0 && status.queued == 0).then_some(status)
    });
    status.await;
    until("no shim is left", async || {
        world.site.processes().into_iter().all(|process| !process.is_shim()).then_some(())
    })
    .await;
    for number in 0..4 {
        let ask = world.site.play("worker", &Script::new().say("ok")).directory(world.site.directory(&format!("root-{number}")));
        let view = owner.run(&ask).await;
        if view.state != State::Succeeded {
            faults.push(format!("root {number}: {:?}", view.state));
        }
    }
    let spool: Vec<_> = files(&world.site.state().join("spool"));
    if !spool.is_empty() {
        faults.push(format!("spool {spool:?}"));
    }
    if seed % 10 == 0 {
        eprintln!("seed {seed} errors {:#?}", world.errors.borrow());
    }
    let odd: Vec<String> = world.site.logs().lines().filter(|line| line.contains("ERROR") || line.contains("differ")).map(str::to_owned).collect();
    if !odd.is_empty() {
        eprintln!("seed {seed} log {odd:#?}");
        for line in &odd {
            let Some(run) = line.split("attempt=").nth(1).and_then(|rest| rest.get(..36)) else { continue };
            for line in world.log.borrow().iter().filter(|line| line.starts_with("kill") || line.contains(&run[28..])) {
                eprintln!("  ODD {line}");
            }
            for line in world.site.logs().lines().filter(|line| line.contains(run)) {
                eprintln!("  ODD {line}");
            }
            let view = owner.get(run).await;
            eprintln!("  ODD {:?} {:?} {:?} exclusive {:?}", view.state, view.children[0].reason, view.children[0].attempt, view.children[0].agent);
        }
    }
    if !faults.is_empty() {
        let tails: Vec<String> = faults.iter().filter_map(|fault| fault.split(' ').nth(3)).map(str::to_owned).collect();
        for line in world.log.borrow().iter().filter(|line| line.starts_with("kill") || tails.iter().any(|tail| line.contains(tail.as_str()))) {
            eprintln!("  {line}");
        }
    }
    faults
}

fn histories(kills: bool) {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (first, count) = (number("ATTACK_SEED", 1), number("ATTACK_ROUNDS", 3));
    let mut all = Vec::new();
    for seed in first..first + count {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let faults = local.block_on(&runtime, history(seed, kills));
        eprintln!("seed {seed}: {} faults", faults.len());
        for fault in &faults {
            eprintln!("  {fault}");
        }
        all.extend(faults);
    }
    assert!(all.is_empty(), "{} faults", all.len());
}

#[test]
fn histories_with_daemon_kills() {
    histories(true);
}

#[test]
fn histories_without_daemon_kills() {
    histories(false);
}
