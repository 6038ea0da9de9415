//! The screen of `daemon status` and `daemon start`.

use subagentd_proto::daemon::{StatusResponse, StopResponse};

use super::fields::Fields;
use super::time::Clock;
use super::words;
use crate::output::Screen;

/// What the daemon is and does.
pub(crate) fn status(status: &StatusResponse, screen: &Screen, clock: &Clock) -> String {
    let word = if status.stopping { "is stopping" } else { "runs" };
    let mut fields = Fields::default();
    fields.add(
        "children",
        format!("{} at work, {} waiting, {} at once at most", status.live, status.queued, status.max_children),
    );
    let runtime = &status.default_runtime;
    fields.add("runtime", format!("{} ({})", words::line(&runtime.value), words::line(&runtime.reason)));
    fields.add("state", words::line(&status.state_directory));
    fields.add("socket", words::line(&status.socket));
    format!(
        "The daemon {word}: version {}, pid {}, since {}\n{}",
        words::line(&status.version),
        status.pid,
        clock.at(status.started_at_ms),
        fields.text(2, screen)
    )
}

/// What `daemon stop` leaves behind.
pub(crate) fn stopped(response: &StopResponse) -> String {
    let mut text = String::from("The daemon stopped.");
    if response.live > 0 || response.queued > 0 {
        text.push_str(&format!(
            " {} on, {} for the next daemon.",
            words::count(u64::from(response.live), "child works", "children work"),
            words::count(u64::from(response.queued), "waits", "wait"),
        ));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn the_status_tells_load_runtime_and_place() {
        let mut response = StatusResponse {
            version: "0.1.0".to_owned(),
            protocol: 1,
            pid: 4711,
            started_at_ms: samples::CREATED,
            state_directory: "/home/ada/.local/state/subagentd".to_owned(),
            socket: "/run/user/1000/subagentd/rpc.sock".to_owned(),
            stopping: false,
            live: 2,
            queued: 1,
            max_children: 4,
            default_runtime: samples::decision("offline".to_owned(), "default", "no pi was found in PATH"),
        };
        assert_eq!(
            status(&response, &samples::screen(), &samples::clock()),
            "\
The daemon runs: version 0.1.0, pid 4711, since 22:13
  children  2 at work, 1 waiting, 4 at once at most
  runtime   offline (no pi was found in PATH)
  state     /home/ada/.local/state/subagentd
  socket    /run/user/1000/subagentd/rpc.sock
"
        );
        response.stopping = true;
        assert!(status(&response, &samples::screen(), &samples::clock()).starts_with("The daemon is stopping: "));
    }

    #[test]
    fn a_stop_tells_what_goes_on() {
        assert_eq!(stopped(&StopResponse { live: 0, queued: 0 }), "The daemon stopped.\n");
        assert_eq!(
            stopped(&StopResponse { live: 1, queued: 3 }),
            "The daemon stopped. 1 child works on, 3 wait for the next daemon.\n"
        );
    }
}
