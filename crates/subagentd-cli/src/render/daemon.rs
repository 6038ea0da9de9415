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
    let waiting = match status.queued {
        0 => "none waiting".to_owned(),
        some => format!("{some} waiting for a slot or their workspace"),
    };
    fields.add("children", format!("{} at work of at most {} at once, {waiting}", status.live, status.max_children));
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
    let live = words::count(u64::from(response.live), "child works", "children work");
    let queued = words::count(u64::from(response.queued), "waits", "wait");
    match (response.live, response.queued) {
        (0, 0) => "The daemon stopped.\n".to_owned(),
        (_, 0) => format!("The daemon stopped. {live} on, none waits.\n"),
        (0, _) => format!("The daemon stopped. No child is at work, {queued} for the next daemon.\n"),
        _ => format!("The daemon stopped. {live} on, {queued} for the next daemon.\n"),
    }
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
  children  2 at work of at most 4 at once, 1 waiting for a slot or their
            workspace
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
        assert_eq!(
            stopped(&StopResponse { live: 3, queued: 0 }),
            "The daemon stopped. 3 children work on, none waits.\n"
        );
        assert_eq!(
            stopped(&StopResponse { live: 0, queued: 1 }),
            "The daemon stopped. No child is at work, 1 waits for the next daemon.\n"
        );
    }
}
