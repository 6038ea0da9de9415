//! One launch as it is decided before anything is sent.

use std::time::Duration;

use subagentd_proto::run::{CapturedEnvironment, LaunchParams};

use super::dice::Dice;
use super::history::Launch;
use super::life::{self, Life};
use super::rig::{ROOTS, Rig};

/// What is sent, and what is done with it later.
pub(super) struct Order {
    pub(super) launch: Launch,
    pub(super) params: LaunchParams,
    /// When it is cancelled, after the acknowledgement.
    pub(super) cancel: Option<Duration>,
    /// Whether a cancel without an answer is sent again.
    pub(super) insists: bool,
    /// Whether somebody waits for its end.
    pub(super) waits: bool,
    /// Whether it is sent on two connections at once.
    pub(super) twice: bool,
    /// When it is sent once more, after the acknowledgement.
    pub(super) again: Option<Duration>,
}

impl Order {
    /// By chance.
    pub(super) fn draw(rig: &Rig, dice: &mut Dice, owner: &str, number: u32) -> anyhow::Result<Self> {
        let key = format!("{owner}-{number:05}");
        let root = dice.index(ROOTS);
        let life = life::draw(dice, &key, &rig.stamps_of(root));
        let exclusive = dice.chance(70);
        let cancel = cancel(dice, &life);
        let (insists, waits, twice) = (dice.chance(70), dice.chance(25), dice.chance(8));
        let again = dice.chance(8).then(|| Duration::from_millis(dice.between(0, 300)));
        let (launch, params) = launch(rig, owner, key, root, exclusive, &life)?;
        Ok(Self { launch, params, cancel, insists, waits, twice, again })
    }

    /// A short writer in this root that has to succeed: its scope and a slot are free.
    pub(super) fn probe(rig: &Rig, owner: &str, root: usize) -> anyhow::Result<Self> {
        let key = format!("{owner}-{root}");
        let life = life::live("quick", &mut Dice::new(0), &key, &rig.stamps_of(root));
        let (launch, params) = launch(rig, owner, key, root, true, &life)?;
        Ok(Self { launch, params, cancel: None, insists: true, waits: true, twice: false, again: None })
    }
}

fn cancel(dice: &mut Dice, life: &Life) -> Option<Duration> {
    let after = match dice.below(100) {
        0..7 => Some(0),
        7..13 => Some(dice.between(0, 30)),
        13..22 => Some(dice.between(30, 500)),
        _ if life.endless => Some(dice.between(0, 500)),
        _ => None,
    };
    after.map(Duration::from_millis)
}

fn launch(
    rig: &Rig,
    owner: &str,
    key: String,
    root: usize,
    exclusive: bool,
    life: &Life,
) -> anyhow::Result<(Launch, LaunchParams)> {
    let variables = rig.script(&key, &life.steps)?;
    let mut params = LaunchParams {
        agent: if exclusive { "worker" } else { "explore" }.to_owned(),
        task: "play".to_owned(),
        directory: rig.root(root).to_string_lossy().into_owned(),
        title: Some(key.clone()),
        timeout: life.timeout,
        idle_timeout: life.idle,
        key: Some(key.clone()),
        ..LaunchParams::default()
    };
    params.capture.environment = Some(CapturedEnvironment { variables, ..CapturedEnvironment::default() });
    let launch = Launch {
        key,
        owner: owner.to_owned(),
        root,
        exclusive,
        life: life.name,
        expected: life.expected.clone(),
        acknowledged: Vec::new(),
        cancels: Vec::new(),
        told: Vec::new(),
    };
    Ok((launch, params))
}
