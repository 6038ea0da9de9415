//! What is shown while a command waits for a run: one line that is written over on a terminal, a line for each change
//! of state elsewhere, nothing with `--json`.

use std::io::{self, Write as _};
use std::time::Duration;

use subagentd_ipc::client::Items;
use subagentd_proto::method::{self, RunGet};
use subagentd_proto::run::{GetParams, ProgressParams, RunProgress, RunView, State};

use crate::connection::Daemon;
use crate::output::{self, Screen};
use crate::render::progress as render;
use crate::render::time::Clock;

/// Between two redrawings, for the time that has passed.
const REDRAW: Duration = Duration::from_secs(1);
/// Back to the first column, and everything right of it erased.
const ERASE: &str = "\r\u{1b}[2K";

/// The view. Dropping it leaves no half line behind.
pub(crate) struct Live {
    /// Whether lines can be written over.
    over: bool,
    quiet: bool,
    /// When the state began that is shown.
    since_ms: u64,
    newest: Option<RunProgress>,
    drawn: bool,
}

impl Live {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self {
            over: output::writes_over(),
            quiet: screen.json,
            since_ms: Clock::local().now_ms,
            newest: None,
            drawn: false,
        }
    }

    /// Shows how far the run is until `work` is done.
    pub(crate) async fn beside<T>(&mut self, daemon: &Daemon<'_>, run: &str, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        if self.quiet {
            return work.await;
        }
        let mut items = tokio::select! {
            biased;
            done = &mut work => return done,
            items = self.open(daemon, run) => items,
        };
        let mut redraw = tokio::time::interval(REDRAW);
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    self.erase();
                    return done;
                }
                item = next(&mut items) => match item {
                    Some(progress) => self.take(progress),
                    None => items = None,
                },
                _ = redraw.tick(), if self.over => self.draw(),
            }
        }
    }

    /// An older daemon, or one that is going away, shows nothing; the work tells.
    async fn open(&mut self, daemon: &Daemon<'_>, run: &str) -> Option<Items<RunProgress>> {
        if self.over && self.newest.is_none() {
            let known = daemon.call::<RunGet>(GetParams { run: run.to_owned() }).await.ok();
            self.since_ms = known.as_ref().and_then(since).unwrap_or(self.since_ms);
        }
        let params = ProgressParams { run: run.to_owned() };
        daemon.subscribe::<method::RunProgress>(params).await.ok()
    }

    fn take(&mut self, progress: RunProgress) {
        let before = self.newest.as_ref();
        if before.is_some_and(|before| before.state != progress.state) {
            self.since_ms = Clock::local().now_ms;
        }
        let changed = before.map(render::standing) != Some(render::standing(&progress));
        // The end is told by the command itself, and a start lasts milliseconds.
        let told = !progress.state.is_end() && progress.state != State::Starting;
        if changed && told && !self.over {
            write(&format!("{}\n", render::plain(&progress, &Clock::local())));
        }
        self.newest = Some(progress);
        self.draw();
    }

    fn draw(&mut self) {
        if let Some(progress) = self.newest.as_ref().filter(|_| self.over) {
            // Asked each time: the window may have been made narrower, and a wrapped line could not be written over.
            let line = render::live(progress, self.since_ms, &Clock::local(), output::live_width());
            write(&format!("{ERASE}{line}"));
            self.drawn = true;
        }
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write(ERASE);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.erase();
    }
}

/// When the state of a run began, as far as that is known: of one that waits to go on it is not.
fn since(run: &RunView) -> Option<u64> {
    let open = run.children.iter().filter(|child| child.ended_at_ms.is_none());
    let started = open.filter_map(|child| child.started_at_ms).max();
    started.or_else(|| run.children.iter().all(|child| child.attempt == 0).then_some(run.created_at_ms))
}

async fn next(items: &mut Option<Items<RunProgress>>) -> Option<RunProgress> {
    match items {
        // An item that cannot be read is like none: the work tells how it ends.
        Some(items) => items.next().await.and_then(Result::ok),
        None => std::future::pending().await,
    }
}

fn write(text: &str) {
    let mut out = io::stderr().lock();
    // Progress that nobody can see is no reason to fail.
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn a_state_began_with_its_attempt_and_not_with_the_run() {
        let queued = samples::queued();
        assert_eq!(since(&queued), Some(samples::CREATED));
        let mut resumed = samples::ended();
        resumed.state = State::Running;
        resumed.children[0].attempt = 2;
        resumed.children[0].state = State::Running;
        assert_eq!(since(&resumed), None, "its first attempt has ended, the next one has not begun");
        resumed.children[0].started_at_ms = Some(samples::CREATED + 500_000);
        resumed.children[0].ended_at_ms = None;
        assert_eq!(since(&resumed), Some(samples::CREATED + 500_000));
    }
}
