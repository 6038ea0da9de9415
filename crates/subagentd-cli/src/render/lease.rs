//! The screens of `lease list` and `lease release`.

use subagentd_proto::lease::{LeaseView, ListResponse, ReleaseResponse};

use super::table::{Columns, plain, state};
use super::time::Clock;
use super::words;
use crate::output::Screen;

/// Workspaces that are held, oldest first, one a line.
pub(crate) fn leases(response: &ListResponse, screen: &Screen, clock: &Clock) -> String {
    if response.leases.is_empty() {
        return "No workspace is held.\n".to_owned();
    }
    let mut columns = Columns::new(screen, &["RUN", "STATE", "SINCE", "WORKSPACE"], &[2]);
    for lease in &response.leases {
        columns.row(vec![
            plain(words::ending(&lease.run)),
            state(lease.state, None),
            plain(&clock.at_short(lease.since_ms)),
            plain(&lease.workspace),
        ]);
    }
    columns.text()
}

/// The first one whose holder has ended: processes of it could not be ended, and writers wait for them in vain.
pub(crate) fn stuck(response: &ListResponse) -> Option<&LeaseView> {
    response.leases.iter().find(|lease| lease.state.is_end())
}

/// What `lease release` did.
pub(crate) fn released(response: &ReleaseResponse, run: &str) -> String {
    let name = words::ending(run);
    match response.released {
        0 => format!("Run {name} holds no workspace: there is nothing to give up.\n"),
        1 => format!("Run {name} gave up its workspace; the next writer may start.\n"),
        many => format!("Run {name} gave up {many} workspaces; the next writers may start.\n"),
    }
}

#[cfg(test)]
mod tests {
    use subagentd_proto::run::State;

    use super::*;
    use crate::render::samples;

    fn lease(state: State, workspace: &str) -> LeaseView {
        LeaseView {
            run: samples::RUN.to_owned(),
            child: 0,
            state,
            workspace: workspace.to_owned(),
            since_ms: samples::CREATED,
        }
    }

    #[test]
    fn holders_stand_one_a_line() {
        let leases = vec![lease(State::Running, "/home/ada/project"), lease(State::Cancelled, "/home/ada/other")];
        let response = ListResponse { leases };
        assert_eq!(
            super::leases(&response, &samples::screen(), &samples::clock()),
            "\
RUN       STATE      SINCE  WORKSPACE
1a2b3c4d  running    22:13  /home/ada/project
1a2b3c4d  cancelled  22:13  /home/ada/other
"
        );
        assert_eq!(stuck(&response).map(|lease| lease.workspace.as_str()), Some("/home/ada/other"));
        let none = ListResponse { leases: Vec::new() };
        assert_eq!(super::leases(&none, &samples::screen(), &samples::clock()), "No workspace is held.\n");
    }

    #[test]
    fn a_release_tells_what_was_given_up() {
        let table = [
            (0, "holds no workspace: there is nothing to give up."),
            (1, "gave up its workspace;"),
            (2, "gave up 2 workspaces;"),
        ];
        for (released, words) in table {
            let told = super::released(&ReleaseResponse { released }, samples::RUN);
            assert!(told.contains(words), "{told}");
        }
    }
}
