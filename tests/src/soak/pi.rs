//! Eight real pi children at once, round after round: how long it takes, how much memory they need, and whether one of
//! them fails to start.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::json;
use subagentd_ipc::client::Client;
use subagentd_proto::method::{RunGet, RunLaunch, RunWait};
use subagentd_proto::run::{Capture, CapturedEnvironment, GetParams, LaunchParams, RunView, State, WaitParams};

use super::rig::Rig;
use crate::pi::{FAUX, Paths};
use crate::processes::Process;

/// Children at once.
const AT_ONCE: usize = 8;
/// A round that takes longer counts as failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at what tells nobody.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What came of it.
#[derive(Debug, Default)]
pub struct PiVerdict {
    /// Figures of all rounds, for people.
    pub table: String,
    /// Every child that did not end well with its first attempt.
    pub failures: Vec<String>,
}

/// What one round took.
struct Round {
    /// Until each child had its prompt, had been answered, and ran a tool.
    ready: Duration,
    /// Until each run had ended.
    ended: Duration,
    /// Proportional memory of the children while all of them ran, in KiB.
    memory: u64,
    failures: Vec<String>,
}

/// Runs the rounds and tells of each one.
///
/// # Errors
/// When there is no pi, or the surroundings cannot be made; what the product does wrong is in the verdict.
pub fn pi_rounds(daemon: &Path, rounds: u32, say: &mut dyn FnMut(&str)) -> anyhow::Result<PiVerdict> {
    let paths = Paths::find().context("there is no pi to run")?;
    let place = Place::new(daemon, &paths)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut done = Vec::new();
    for number in 1..=rounds {
        let round = runtime.block_on(place.round(number))?;
        say(&format!("round {number:>3}: {}\n", round.text()));
        round.failures.iter().for_each(|failure| say(&format!("FAILED {failure}\n")));
        done.push(round);
    }
    Ok(verdict(done))
}

impl Round {
    fn text(&self) -> String {
        let (ready, ended) = (self.ready.as_secs_f64(), self.ended.as_secs_f64());
        format!("at work {ready:.2} s, ended {ended:.2} s, {} MiB for {AT_ONCE}", self.memory / 1024)
    }
}

fn verdict(mut rounds: Vec<Round>) -> PiVerdict {
    let mut table = format!("{} rounds of {AT_ONCE} children at once\n", rounds.len());
    type Figure = (&'static str, fn(&Round) -> f64);
    let figures: [Figure; 3] = [
        ("at work, s", |round| round.ready.as_secs_f64()),
        ("ended, s", |round| round.ended.as_secs_f64()),
        ("MiB for each", |round| round.memory as f64 / 1024.0 / AT_ONCE as f64),
    ];
    for (name, figure) in figures {
        let mut values: Vec<f64> = rounds.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(least), Some(most), Some(median)) = (values.first(), values.last(), values.get(values.len() / 2)) {
            table.push_str(&format!("{name:<14} median {median:.2}, least {least:.2}, most {most:.2}\n"));
        }
    }
    let failures: Vec<String> = rounds.iter_mut().flat_map(|round| std::mem::take(&mut round.failures)).collect();
    table.push_str(&format!("children that failed: {} of {}\n", failures.len(), rounds.len() * AT_ONCE));
    PiVerdict { table, failures }
}

/// A daemon of its own, with pi's configuration and a directory for each child.
struct Place {
    rig: Rig,
    daemon: Child,
    search: String,
}

impl Place {
    fn new(program: &Path, paths: &Paths) -> anyhow::Result<Self> {
        let rig = Rig::with_children(program, AT_ONCE)?;
        let configuration = rig.path("home/.config/subagentd");
        for folder in [configuration.clone(), rig.path("pi")] {
            fs::create_dir_all(folder)?;
        }
        fs::write(configuration.join("config.toml"), format!("[runtimes.pi]\ncommand = {:?}\n", paths.command()))?;
        for child in 0..AT_ONCE {
            fs::create_dir(rig.path(&format!("pi-{child}")))?;
        }
        let daemon = rig.start(1)?;
        let search = paths.search().into_string().ok().context("PATH is not UTF-8")?;
        let place = Self { rig, daemon, search };
        let end = Instant::now() + PATIENCE;
        while !place.rig.serves(place.daemon.id()) {
            if Instant::now() > end {
                bail!("the daemon does not serve:\n{}", place.rig.log());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(place)
    }

    async fn round(&self, number: u32) -> anyhow::Result<Round> {
        let client = Client::connect(&self.rig.socket()).await?;
        client.hello("soak", "soak", "1").await?;
        let folder = self.rig.path(&format!("round-{number}"));
        fs::create_dir(&folder)?;
        let began = Instant::now();
        let mut runs = Vec::new();
        for child in 0..AT_ONCE {
            runs.push(client.call::<RunLaunch>(self.ask(&folder, child)?).await?.run);
        }
        let mut failures = Vec::new();
        while !(0..AT_ONCE).all(|child| ready_file(&folder, child).exists()) {
            // One that has ended will never be ready.
            if self.any_has_ended(&client, &runs).await? || began.elapsed() > PATIENCE {
                failures.push(format!("round {number}: not all came to work within {:?}", began.elapsed()));
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let ready = began.elapsed();
        let memory = self.rig.children().iter().filter(|process| is_pi(process)).filter_map(proportional).sum();
        fs::write(folder.join("go"), "")?;
        for run in &runs {
            let view = client.call::<RunWait>(WaitParams { run: run.clone(), ..WaitParams::default() }).await?.run;
            failures.extend(fault(&view).map(|fault| format!("round {number}: {fault}")));
        }
        Ok(Round { ready, ended: began.elapsed(), memory, failures })
    }

    fn ask(&self, folder: &Path, child: usize) -> anyhow::Result<LaunchParams> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (ready, go) = (ready_file(folder, child), folder.join("go"));
        let command = format!("touch '{}'; until [ -e '{}' ]; do sleep 0.05; done", text(&ready), text(&go));
        let bash = json!({ "name": "bash", "arguments": { "command": command } });
        let script = folder.join(format!("script-{child}.json"));
        fs::write(&script, json!({ "responses": [{ "tools": [bash] }, { "text": "done" }] }).to_string())?;
        let mut variables = self.rig.variables();
        variables.extend(BTreeMap::from([
            ("PATH".to_owned(), self.search.clone()),
            ("PI_OFFLINE".to_owned(), "1".to_owned()),
            ("PI_CODING_AGENT_DIR".to_owned(), text(&self.rig.path("pi"))),
            ("SUBAGENTD_TEST_FAUX".to_owned(), text(&script)),
        ]));
        let environment = CapturedEnvironment { variables, ..CapturedEnvironment::default() };
        Ok(LaunchParams {
            agent: "worker".to_owned(),
            task: "go".to_owned(),
            directory: text(&self.rig.path(&format!("pi-{child}"))),
            model: Some(FAUX.to_owned()),
            runtime: Some("pi".to_owned()),
            capture: Capture { environment: Some(environment), ..Capture::default() },
            ..LaunchParams::default()
        })
    }

    async fn any_has_ended(&self, client: &Client, runs: &[String]) -> anyhow::Result<bool> {
        for run in runs {
            if client.call::<RunGet>(GetParams { run: run.clone() }).await?.state.is_end() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It may have ended already.
        self.daemon.kill().ok();
        self.daemon.wait().ok();
    }
}

fn ready_file(folder: &Path, child: usize) -> PathBuf {
    folder.join(format!("ready-{child}"))
}

/// What is wrong with an end.
fn fault(view: &RunView) -> Option<String> {
    let child = view.children.first()?;
    let well = view.state == State::Succeeded && child.attempt == 1 && child.remarks.is_empty();
    (!well).then(|| {
        format!(
            "{} is {:?} after {} attempts: {} {} {:?}",
            view.run,
            view.state,
            child.attempt,
            child.reason.as_deref().unwrap_or_default(),
            child.error.as_deref().unwrap_or_default(),
            child.remarks
        )
    })
}

fn is_pi(process: &Process) -> bool {
    fs::read_to_string(format!("/proc/{}/comm", process.pid)).is_ok_and(|name| name.trim_end() == "pi")
}

/// In KiB.
fn proportional(process: &Process) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.pid)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
