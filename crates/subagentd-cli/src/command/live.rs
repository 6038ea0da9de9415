//! What is shown while a command waits for a run: one line that is written over on a terminal, a line for each change
//! of state elsewhere, nothing with `--json`.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use subagentd_proto::method;
use subagentd_proto::run::{ProgressParams, RunProgress};

use crate::connection::Daemon;
use crate::output::Screen;
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
    width: u16,
    since_ms: u64,
    newest: Option<RunProgress>,
    drawn: bool,
}

impl Live {
    pub(crate) fn new(screen: &Screen) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        Self {
            over: io::stderr().is_terminal() && !dumb,
            quiet: screen.json,
            width: screen.width,
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
        // An older daemon, or one that is going away, shows nothing; the work tells.
        let params = ProgressParams { run: run.to_owned() };
        let mut items = tokio::select! {
            biased;
            done = &mut work => return done,
            items = daemon.subscribe::<method::RunProgress>(params) => items.ok(),
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

    fn take(&mut self, progress: RunProgress) {
        let changed = self.newest.as_ref().map(render::standing) != Some(render::standing(&progress));
        // The end is told by the command itself.
        if changed && !self.over && !progress.state.is_end() {
            write(&format!("{}\n", render::plain(&progress, &Clock::local())));
        }
        self.newest = Some(progress);
        self.draw();
    }

    fn draw(&mut self) {
        if let Some(progress) = self.newest.as_ref().filter(|_| self.over) {
            let line = render::live(progress, self.since_ms, &Clock::local(), self.width);
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

async fn next(items: &mut Option<subagentd_ipc::client::Items<RunProgress>>) -> Option<RunProgress> {
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
