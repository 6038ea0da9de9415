//! What a daemon that was killed leaves behind: its socket and its `daemon.json`.

use subagentd_ipc::daemon_file::DaemonFile;
use subagentd_ipc::place::Place;
use subagentd_ipc::socket::{BindError, LockError, StateLock, remove_dead};

use crate::exit::Exit;
use crate::failure::{Failure, Problem};

/// Removes what is left, under the lock that makes sure that no daemon lives. Where nothing was ever stored there is
/// nothing to do, and nothing is made.
pub(crate) fn remove(place: &Place) -> Result<(), Failure> {
    if !place.state.exists() {
        return Ok(());
    }
    let lock = StateLock::take(&place.state).map_err(held)?;
    let recorded = DaemonFile::read(&place.state);
    for socket in place.candidates(recorded.as_ref()) {
        match remove_dead(&socket) {
            // Nothing there, or something that is not ours: another daemon's, or a file in the way.
            Ok(_) | Err(BindError::InUse { .. } | BindError::NotASocket { .. }) => {}
            Err(error) => return Err(Problem::new(Exit::Failed, "leftovers", format!("{error}.")).into()),
        }
    }
    DaemonFile::remove(&place.state).map_err(|error| {
        let state = place.state.display();
        Problem::new(Exit::Failed, "leftovers", format!("daemon.json in {state} cannot be removed: {error}."))
    })?;
    drop(lock);
    Ok(())
}

fn held(error: LockError) -> Failure {
    match error {
        LockError::Held { state, pid } => {
            let who = pid.map(|pid| format!(" (process {pid} by its own word)")).unwrap_or_default();
            Problem::new(
                Exit::Unreachable,
                "unreachable",
                format!("A daemon{who} holds {} but answers on none of its sockets.", state.display()),
            )
            .hint("It may be starting or ending: try again. Else end that process; runs go on.")
            .into()
        }
        other => Problem::new(Exit::Failed, "leftovers", format!("{other}.")).into(),
    }
}
