//! What is shown while a command waits for a run: one line that is written over on a terminal, a line for each change
//! of state elsewhere, nothing with `--json`.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::time::Duration;

use subagentd_ipc::client::Items;
use subagentd_proto::method::{self, RunGet};
use subagentd_proto::run::{GetParams, ProgressParams, RunProgress, RunView, State};

use crate::connection::Daemon;
use crate::output::{self, Screen};
use crate::render::fit;
use crate::render::progress::{self as render, Known};
use crate::render::time::Clock;

/// Between two looks at what was asked of the run meanwhile, which its progress does not tell.
const LOOK: Duration = Duration::from_secs(2);
/// Between two redrawings, for the time that has passed.
const REDRAW: Duration = Duration::from_secs(1);

/// The view. Dropping it leaves no half line behind.
pub(crate) struct Live {
    /// Whether lines can be written over.
    over: bool,
    quiet: bool,
    /// When the state began that is shown.
    since_ms: u64,
    newest: Option<RunProgress>,
    known: Known,
    /// Columns of the line that stands there.
    drawn: usize,
}

impl Live {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self {
            over: output::writes_over(),
            quiet: screen.json,
            since_ms: Clock::local().now_ms,
            newest: None,
            known: Known::default(),
            drawn: 0,
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
        let mut look = tokio::time::interval(LOOK);
        let mut view = None;
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
                seen = arrived(&mut view) => {
                    view = None;
                    self.known = seen.as_ref().map(Known::of).unwrap_or_default();
                }
                _ = look.tick(), if self.over && view.is_none() => view = Some(Box::pin(get(daemon, run))),
                _ = redraw.tick(), if self.over => self.draw(),
            }
        }
    }

    /// An older daemon, or one that is going away, shows nothing; the work tells.
    async fn open(&mut self, daemon: &Daemon<'_>, run: &str) -> Option<Items<RunProgress>> {
        if self.newest.is_none() {
            let known = get(daemon, run).await;
            self.since_ms = known.as_ref().and_then(since).unwrap_or(self.since_ms);
            self.known = known.as_ref().map(Known::of).unwrap_or_default();
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
            write(&format!("{}\n", render::plain(&progress, &self.known, &Clock::local())));
        }
        let ended = progress.state.is_end();
        self.newest = Some(progress);
        if !ended {
            self.draw();
        }
    }

    fn draw(&mut self) {
        if let Some(progress) = self.newest.as_ref().filter(|_| self.over) {
            // Asked each time: the window may have been made narrower, and a wrapped line could not be written over.
            let columns = output::live_width();
            let line = render::live(progress, &self.known, self.since_ms, &Clock::local(), columns);
            write(&format!("{}{line}", over(self.drawn, columns)));
            self.drawn = fit::width(&line);
        }
    }

    fn erase(&mut self) {
        match std::mem::take(&mut self.drawn) {
            0 => {}
            drawn => write(&over(drawn, output::live_width())),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.erase();
    }
}

/// Back to the first column of a line of so many, and everything behind it erased. A window that was made narrower has
/// broken the line into several.
fn over(drawn: usize, columns: u16) -> String {
    let rows = drawn.saturating_sub(1) / usize::from(columns.max(1));
    let up = if rows > 0 { format!("\u{1b}[{rows}A") } else { String::new() };
    format!("\r{up}\u{1b}[J")
}

async fn get(daemon: &Daemon<'_>, run: &str) -> Option<RunView> {
    daemon.call::<RunGet>(GetParams { run: run.to_owned() }).await.ok()
}

/// The view that was asked for; never, where none was.
async fn arrived<F: Future<Output = Option<RunView>>>(view: &mut Option<Pin<Box<F>>>) -> Option<RunView> {
    match view {
        Some(view) => view.await,
        None => std::future::pending().await,
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
    fn a_line_that_a_narrower_window_broke_is_erased_whole() {
        for (drawn, columns, wanted) in
            [(0, 80, "\r\u{1b}[J"), (76, 80, "\r\u{1b}[J"), (80, 80, "\r\u{1b}[J"), (76, 30, "\r\u{1b}[2A\u{1b}[J")]
        {
            assert_eq!(over(drawn, columns), wanted, "{drawn} in {columns}");
        }
    }

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
