//! The killer: it starts the daemons and ends them, their shims and some children with SIGKILL.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use super::board::Board;
use super::dice::Dice;
use super::history::{Attempt, Kill, Phase, Victim};
use super::rig::Rig;
use super::table::Shim;

/// Exit code of a daemon that finds another one: between the kill of a daemon and the end of the process that it was
/// just forking, the lock is still held.
const ALREADY_RUNNING: i32 = 10;
/// Between two looks while it waits.
const LOOK: Duration = Duration::from_millis(1);
/// How long it looks for a victim before it does something else.
const SEARCH: Duration = Duration::from_millis(150);

/// Nanoseconds by the wall clock, as the children stamp.
pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The killer and the daemon it holds.
pub(super) struct Killer {
    rig: Arc<Rig>,
    board: Arc<Board>,
    dice: Dice,
    daemon: Option<(Child, Instant)>,
    number: u32,
    daemons_left: u32,
    shims_left: u32,
}

/// When a shim is killed.
enum Moment {
    /// Whenever.
    Any,
    /// As soon as it shows up beside these, so that the time before its child is hit, too.
    Fresh(Vec<i32>),
    /// Once its child's answer is stored: while it ends the tree and publishes.
    Settled,
}

impl Moment {
    fn has_come(&self, rig: &Rig, shim: &Shim) -> bool {
        match self {
            Self::Any => true,
            Self::Fresh(known) => !known.contains(&shim.pid),
            Self::Settled => rig.has_answer(&shim.attempt.run),
        }
    }

    /// Microseconds from the sight of it to the kill, at most.
    fn spread_us(&self) -> u64 {
        match self {
            Self::Any => 1,
            Self::Fresh(_) => 4_000,
            Self::Settled => 6_000,
        }
    }
}

impl Killer {
    pub(super) fn new(rig: &Arc<Rig>, board: &Arc<Board>, dice: Dice, daemons: u32, shims: u32) -> Self {
        let (rig, board) = (Arc::clone(rig), Arc::clone(board));
        Self { rig, board, dice, daemon: None, number: 0, daemons_left: daemons, shims_left: shims }
    }

    /// Kills until its work is done or the time is up; leaves a daemon.
    pub(super) fn run(&mut self, until: Instant) {
        self.start();
        // Something to kill.
        self.pause(Duration::from_millis(60));
        while self.daemons_left + self.shims_left > 0 && Instant::now() < until {
            self.act();
        }
        if self.daemons_left + self.shims_left > 0 {
            let left = format!("{} daemon and {} shim kills were not made in time", self.daemons_left, self.shims_left);
            self.board.trouble(left);
        }
        self.board.killed.store(true, Ordering::Relaxed);
    }

    fn act(&mut self) {
        let daemon = self.dice.below(u64::from(self.daemons_left + self.shims_left)) < u64::from(self.daemons_left);
        match (daemon, self.dice.below(100)) {
            (true, 0..12) => self.burst(),
            (true, 12..27) => self.while_launching(),
            (true, 27..37) => self.while_settling(),
            (true, 37..47) => self.both(),
            (true, _) => {
                let age = self.age();
                self.pause_until_age(age);
                self.kill_daemon();
                self.gap();
                self.start();
            }
            (false, 0..25) => self.kill_child(),
            (false, _) => {
                let pause = Duration::from_millis(self.dice.between(0, 120));
                self.pause(pause);
                self.kill_shim();
            }
        }
    }

    /// How old a daemon gets: its boot, its first moments, its first second and later.
    fn age(&mut self) -> Duration {
        let most = match self.dice.below(100) {
            0..25 => 15_000,
            25..60 => 120_000,
            60..92 => 500_000,
            _ => 1_300_000,
        };
        Duration::from_micros(self.dice.below(most))
    }

    /// Several daemons within 50 ms.
    fn burst(&mut self) {
        let end = Instant::now() + Duration::from_millis(50);
        while self.daemons_left > 0 && Instant::now() < end {
            let pause = Duration::from_micros(self.dice.below(25_000));
            self.pause(pause);
            self.kill_daemon();
            self.start();
        }
    }

    /// In the middle of a launch, as far as that can be seen from here.
    fn while_launching(&mut self) {
        let end = Instant::now() + SEARCH;
        while !self.board.is_launching() && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(50));
        }
        std::thread::sleep(Duration::from_micros(self.dice.below(3_000)));
        self.kill_daemon();
        self.start();
    }

    /// With a published record that it has not, or just, taken.
    fn while_settling(&mut self) {
        let end = Instant::now() + SEARCH;
        while !self.rig.has_record() && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(self.dice.below(2_000)));
        self.kill_daemon();
        self.start();
    }

    /// Daemon and shim at the same moment, in either order.
    fn both(&mut self) {
        let age = self.age();
        self.pause_until_age(age);
        let shim_first = self.dice.chance(50);
        if shim_first {
            self.kill_shim();
        }
        self.kill_daemon();
        if !shim_first {
            self.kill_shim();
        }
        self.start();
    }

    /// Sometimes there is no daemon for a while, and shims die meanwhile: what they leave, nobody adopts.
    fn gap(&mut self) {
        match self.dice.below(100) {
            0..45 => {}
            45..65 => std::thread::sleep(Duration::from_millis(self.dice.between(1, 60))),
            _ => {
                for _ in 0..self.dice.between(1, 3) {
                    std::thread::sleep(Duration::from_millis(self.dice.between(0, 40)));
                    self.kill_shim();
                }
                std::thread::sleep(Duration::from_millis(self.dice.between(0, 60)));
            }
        }
    }

    fn kill_daemon(&mut self) {
        if self.daemons_left == 0 {
            return;
        }
        let Some((mut daemon, since)) = self.daemon.take() else { return };
        if let Ok(Some(status)) = daemon.try_wait() {
            self.ended_alone(status);
            return;
        }
        let phase = if self.board.is_launching() && self.rig.serves(daemon.id()) {
            Phase::Launching
        } else if !self.rig.serves(daemon.id()) {
            Phase::Boot
        } else if since.elapsed() < Duration::from_secs(1) {
            Phase::FirstSecond
        } else {
            Phase::Serving
        };
        self.board.kill(Kill { at_ns: now_ns(), victim: Victim::Daemon(phase) });
        let killed = daemon.kill().and_then(|()| daemon.wait());
        match killed {
            Ok(status) if status.signal() == Some(9) => self.daemons_left -= 1,
            Ok(status) => self.ended_alone(status),
            Err(error) => self.board.trouble(format!("a daemon could not be killed: {error}")),
        }
    }

    fn kill_shim(&mut self) {
        if self.shims_left == 0 {
            return;
        }
        let moment = match self.dice.below(100) {
            0..35 => Moment::Fresh(self.rig.shims().iter().map(|shim| shim.pid).collect()),
            35..60 => Moment::Settled,
            _ => Moment::Any,
        };
        let end = Instant::now() + SEARCH;
        while Instant::now() < end {
            let shims = self.rig.shims();
            let candidates: Vec<_> = shims.iter().filter(|shim| moment.has_come(&self.rig, shim)).collect();
            let Some(shim) = candidates.get(self.dice.index(candidates.len())) else {
                std::thread::sleep(LOOK / 4);
                continue;
            };
            std::thread::sleep(Duration::from_micros(self.dice.below(moment.spread_us())));
            let at_ns = now_ns();
            if shim.kill() {
                self.board.kill(Kill { at_ns, victim: Victim::Shim(shim.attempt.clone(), self.daemon.is_some()) });
                self.shims_left -= 1;
            }
            return;
        }
    }

    fn kill_child(&mut self) {
        let children: Vec<_> = self.rig.children().into_iter().filter(|process| process.attempt.is_some()).collect();
        let Some(child) = children.get(self.dice.index(children.len())) else {
            self.pause(Duration::from_millis(5));
            return;
        };
        if let Some(attempt) = child.attempt.as_deref().and_then(Attempt::parse) {
            self.board.kill(Kill { at_ns: now_ns(), victim: Victim::Child(attempt) });
            child.signal(Signal::KILL);
        }
    }

    fn start(&mut self) {
        self.number += 1;
        match self.rig.start(self.number) {
            Ok(daemon) => self.daemon = Some((daemon, Instant::now())),
            Err(error) => self.board.trouble(format!("daemon {} could not be started: {error}", self.number)),
        }
    }

    fn pause(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            self.check();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn pause_until_age(&mut self, age: Duration) {
        let lived = self.daemon.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        self.pause(age.saturating_sub(lived));
    }

    /// Puts a daemon in the place of one that ended by itself.
    pub(super) fn check(&mut self) {
        let ended = self.daemon.as_mut().and_then(|(daemon, _)| daemon.try_wait().ok().flatten());
        if let Some(status) = ended {
            self.daemon = None;
            self.ended_alone(status);
        }
        if self.daemon.is_none() {
            self.start();
        }
    }

    fn ended_alone(&self, status: std::process::ExitStatus) {
        if status.code() == Some(ALREADY_RUNNING) {
            self.board.busy_starts.fetch_add(1, Ordering::Relaxed);
        } else {
            self.board.trouble(format!("daemon {} ended by itself: {status}", self.number));
        }
    }

    /// One more daemon, for the probes: what the last one only remembered is forgotten.
    pub(super) fn restart(&mut self) {
        self.daemons_left = 1;
        self.kill_daemon();
        self.start();
    }

    /// Ends the last daemon as a service manager does.
    pub(super) fn terminate(&mut self, patience: Duration) {
        let Some((mut daemon, _)) = self.daemon.take() else { return };
        let pid = i32::try_from(daemon.id()).ok().and_then(rustix::process::Pid::from_raw);
        pid.map(|pid| rustix::process::kill_process(pid, Signal::TERM));
        let end = Instant::now() + patience;
        loop {
            match daemon.try_wait() {
                Ok(Some(status)) if status.success() => return,
                Ok(Some(status)) => {
                    return self.board.trouble(format!("the last daemon ended with {status} after TERM"));
                }
                _ if Instant::now() > end => break,
                _ => std::thread::sleep(LOOK),
            }
        }
        self.board.trouble("the last daemon did not end after TERM");
        // It is in the way of the checks that follow.
        daemon.kill().and_then(|()| daemon.wait()).ok();
    }
}

impl Drop for Killer {
    fn drop(&mut self) {
        if let Some((daemon, _)) = &mut self.daemon {
            daemon.kill().and_then(|()| daemon.wait()).ok();
        }
    }
}
