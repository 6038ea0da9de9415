//! Who may give a shim orders: its daemon, and nobody below it.

use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Site};

/// The shell command that tries to give the shim above it this order, in the name of a process that is gone.
pub(crate) fn intrude(order: &serde_json::Value) -> String {
    format!("'{}' '{order}'", env!("CARGO_BIN_EXE_intruder"))
}

#[tokio::test]
async fn a_process_that_is_gone_when_the_shim_looks_gives_no_orders() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for kind in ["cancel", "pause"] {
        let order = serde_json::json!({ "type": kind, "intent": 77 });
        let puppet = Puppet::new(&site, &format!("{} || exit 9; settle", intrude(&order)), "my answer");
        let view = owner.run(&site.puppet("explore", &puppet)).await;
        assert_eq!(view.state, State::Succeeded, "{kind}: {view:#?}");
        assert_eq!(owner.text(&view.run).await.0, "my answer", "{kind}");
    }
}
