//! Clients that launch, ask again, cancel and wait.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use subagentd_proto::method::{RunCancel, RunLaunch, RunWait};
use subagentd_proto::run::{CancelParams, LaunchParams, WaitParams};
use tokio::task::JoinSet;

use super::board::Board;
use super::dice::Dice;
use super::history::CancelAnswer;
use super::line::{Call, Line};
use super::order::Order;
use super::rig::Rig;
use super::{history, killer};

/// Runs of all clients that may be open at once: enough to keep a queue, few enough that it moves.
const OPEN: usize = 14;
/// Before the number of open runs is looked at again.
const FULL: Duration = Duration::from_millis(4);
/// The longest wait of a waiting client.
const WAIT_MS: u64 = 1_500;

/// One launching client.
pub(super) struct Launcher {
    pub(super) rig: Arc<Rig>,
    pub(super) board: Arc<Board>,
    pub(super) owner: String,
    pub(super) dice: Dice,
    /// Launches of all clients together that have to be made.
    pub(super) runs: usize,
    pub(super) until: Instant,
}

impl Launcher {
    /// Launches until the killer is done and enough was launched; then waits for what it began.
    pub(super) async fn run(mut self) -> anyhow::Result<()> {
        let mut errands = JoinSet::new();
        let mut number = 0;
        while self.goes_on() {
            let (_, open) = self.board.counts();
            if open >= OPEN {
                tokio::time::sleep(FULL).await;
                continue;
            }
            number += 1;
            let order = Order::draw(&self.rig, &mut self.dice, &self.owner, number)?;
            let gap = Duration::from_millis(self.dice.between(0, 40));
            let errand = Errand::new(&self.rig, &self.board, order);
            errands.spawn(errand.run());
            tokio::time::sleep(gap).await;
        }
        while let Some(done) = errands.join_next().await {
            done?;
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        let (launched, _) = self.board.counts();
        let wanted = !self.board.killed.load(Ordering::Relaxed) || launched < self.runs;
        wanted && !self.board.is_over() && Instant::now() < self.until
    }
}

/// One launch and what its client does with it.
pub(super) struct Errand {
    rig: Arc<Rig>,
    board: Arc<Board>,
    order: Order,
}

impl Errand {
    pub(super) fn new(rig: &Arc<Rig>, board: &Arc<Board>, order: Order) -> Self {
        board.notes().launches.push(order.launch.clone());
        Self { rig: Arc::clone(rig), board: Arc::clone(board), order }
    }

    pub(super) async fn run(self) {
        let first = self.submit(self.line());
        let run = if self.order.twice {
            let (one, other) = tokio::join!(first, self.submit(self.line()));
            one.or(other)
        } else {
            first.await
        };
        let Some(run) = run else { return };
        tokio::join!(self.cancel(&run), self.wait(&run), self.repeat());
    }

    fn line(&self) -> Line {
        Line::new(&self.rig, &self.board, &self.order.launch.owner)
    }

    fn key(&self) -> &str {
        &self.order.launch.key
    }

    /// Sends the launch, with the same key after every lost connection, until it is acknowledged.
    async fn submit(&self, mut line: Line) -> Option<String> {
        let params: &LaunchParams = &self.order.params;
        loop {
            let client = line.client().await?;
            drop(client);
            let under_way = self.board.launching();
            let call = line.call::<RunLaunch>(params.clone()).await;
            drop(under_way);
            match call {
                Call::Answer(answer) => {
                    if answer.repeated {
                        self.board.repeated.fetch_add(1, Ordering::Relaxed);
                    }
                    self.board.acknowledge(self.key(), &answer.run);
                    return Some(answer.run);
                }
                Call::Lost => {}
                Call::Refused(why) => {
                    self.board.trouble(format!("launch {} was refused: {why}", self.key()));
                    return None;
                }
                Call::Over => return None,
            }
        }
    }

    async fn repeat(&self) {
        let Some(after) = self.order.again else { return };
        tokio::time::sleep(after).await;
        self.submit(self.line()).await;
    }

    async fn cancel(&self, run: &str) {
        let Some(after) = self.order.cancel else { return };
        tokio::time::sleep(after).await;
        let mut line = self.line();
        loop {
            self.board.cancel(self.key());
            match line.call::<RunCancel>(CancelParams { run: run.to_owned() }).await {
                Call::Answer(answer) => {
                    let at_ns = killer::now_ns();
                    self.board.cancel_answered(
                        self.key(),
                        CancelAnswer { outcome: answer.outcome, state: answer.state, at_ns },
                    );
                    return;
                }
                Call::Refused(why) => {
                    self.board.trouble(format!("cancel of {} was refused: {why}", self.key()));
                    return;
                }
                Call::Lost if self.order.insists => {}
                Call::Lost | Call::Over => return,
            }
        }
    }

    async fn wait(&self, run: &str) {
        if !self.order.waits {
            return;
        }
        let params = WaitParams { run: run.to_owned(), timeout_ms: Some(WAIT_MS), foreground: false };
        match self.line().insist::<RunWait>(params).await {
            Call::Answer(answer) if answer.ended => self.board.told(self.key(), answer.run.state, history::BY_WAIT),
            Call::Refused(why) => self.board.trouble(format!("wait for {} was refused: {why}", self.key())),
            Call::Answer(_) | Call::Lost | Call::Over => {}
        }
    }
}
