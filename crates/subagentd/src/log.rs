//! The daemon's log: one line per decision, fields and never content, to standard error.

use tracing_subscriber::filter::LevelFilter;

/// Begins to log at the configured level; a word that is no level is a mistake of the settings and said so.
///
/// # Errors
/// When the level is none.
pub(crate) fn start(level: &str) -> anyhow::Result<()> {
    let level: LevelFilter = level.parse().map_err(|_| {
        anyhow::anyhow!("the setting log.level is `{level}`; use error, warn, info, debug, trace or off")
    })?;
    let output = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    output.try_init().map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
