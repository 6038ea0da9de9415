use std::os::unix::fs::PermissionsExt as _;

use subagentd_proto::error::{Fault, Kind};

use super::rig::{
    Count, CountParams, Echo, EchoParams, Empty, Held, Large, LargeParams, Number, Refused, count, rig, until,
};
use crate::{CallError, Client, ConnectError, Limits};

fn counting(to: u64) -> CountParams {
    CountParams { to, then: String::new() }
}

#[tokio::test]
async fn calls_come_back_typed() {
    let rig = rig(Limits::default());
    let client = Client::connect(&rig.socket).await.unwrap();
    let pid = i32::try_from(std::process::id()).unwrap();
    assert_eq!(client.daemon_pid(), Some(pid));
    let early = client.call::<Echo>(EchoParams::default()).await.unwrap_err();
    assert!(matches!(&early, CallError::Fault(fault) if fault.kind == Kind::NotHello), "{early}");
    assert_eq!(client.hello("me", "test", "0").await.unwrap().store, "s");
    let sent = || EchoParams { text: "ä\n\u{0}".to_owned(), inner: None };
    assert_eq!(client.call::<Echo>(sent()).await, Ok(sent()));
    let refused = client.call::<Refused>(Empty {}).await;
    let fault = Fault::new(Kind::Overloaded, "the queue is full");
    assert_eq!(refused, Err(CallError::Fault(fault)));
    let large = client.call::<Large>(LargeParams { bytes: 3_000_000 }).await.unwrap();
    assert_eq!(large.len(), 3_000_000);
}

#[tokio::test]
async fn a_request_too_large_is_refused_before_it_is_sent() {
    let rig = rig(Limits::default());
    let client = Client::connect(&rig.socket).await.unwrap();
    client.hello("me", "test", "0").await.unwrap();
    let large = EchoParams { text: "x".repeat(17 * 1024 * 1024), inner: None };
    let error = client.call::<Echo>(large).await.unwrap_err();
    assert!(matches!(&error, CallError::Fault(fault) if fault.kind == Kind::RequestSize), "{error}");
    assert!(client.call::<Echo>(EchoParams::default()).await.is_ok());
}

#[tokio::test]
async fn a_subscription_brings_items_and_ends_when_dropped() {
    let rig = rig(Limits::default());
    let client = Client::connect(&rig.socket).await.unwrap();
    client.hello("me", "test", "0").await.unwrap();
    let mut items = client.subscribe::<Count>(counting(500)).await.unwrap();
    for n in 1..=500 {
        let item: Number = items.next().await.unwrap().unwrap();
        assert_eq!(item.n, n);
    }
    drop(items);
    until("subscriptions", 0, || count(&rig.shared.subscribed)).await;

    let ending = CountParams { to: 1, then: "end".to_owned() };
    let mut items = client.subscribe::<Count>(ending).await.unwrap();
    assert!(items.next().await.unwrap().is_ok());
    assert_eq!(items.next().await, None);
}

#[tokio::test]
async fn items_that_nobody_takes_are_reported_as_lost() {
    let rig = rig(Limits::default());
    let client = Client::connect(&rig.socket).await.unwrap();
    client.hello("me", "test", "0").await.unwrap();
    let mut items = client.subscribe::<Count>(counting(5_000)).await.unwrap();
    until("subscriptions", 0, || count(&rig.shared.subscribed)).await;
    let mut last = 0;
    let end = loop {
        match items.next().await.unwrap() {
            Ok(item) => last = item.n,
            Err(error) => break error,
        }
    };
    assert_eq!((end, last), (CallError::Lagged, 1_024));
    assert_eq!(items.next().await, None);
}

#[tokio::test]
async fn a_daemon_that_goes_is_noticed_by_calls_and_subscriptions() {
    let rig = rig(Limits { grace: std::time::Duration::from_millis(50), ..Limits::default() });
    let client = Client::connect(&rig.socket).await.unwrap();
    client.hello("me", "test", "0").await.unwrap();
    let mut items = client.subscribe::<Count>(counting(0)).await.unwrap();
    let other = client.clone();
    let call = tokio::spawn(async move { other.call::<Held>(Empty {}).await });
    until("calls under way", 1, || count(&rig.shared.running)).await;
    rig.stop.cancel();
    assert_eq!(items.next().await, Some(Err(CallError::Closed)));
    assert_eq!(items.next().await, None);
    assert_eq!(call.await.unwrap(), Err(CallError::Closed));
    assert_eq!(client.call::<Echo>(EchoParams::default()).await, Err(CallError::Closed));
    assert!(!client.is_connected());
}

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    let rig = rig(Limits::default());
    let folder = rig.directory.path();
    let missing = Client::connect(&folder.join("none.sock")).await.unwrap_err();
    assert!(matches!(missing, ConnectError::NotThere { .. }), "{missing}");
    let nowhere = Client::connect(&folder.join("no/where.sock")).await.unwrap_err();
    assert!(matches!(nowhere, ConnectError::NotThere { .. }), "{nowhere}");
    let stale = folder.join("stale.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let refused = Client::connect(&stale).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Refused { .. }), "{refused}");
    let long = Client::connect(&folder.join("x".repeat(150))).await.unwrap_err();
    assert!(matches!(long, ConnectError::TooLong { .. }) && long.to_string().contains("107"), "{long}");
}

#[tokio::test]
async fn a_directory_of_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let rig = rig(Limits::default());
    let directory = rig.socket.parent().unwrap();
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::chown(directory, Some(12_345), None).unwrap();
    let foreign = Client::connect(&rig.socket).await.unwrap_err();
    assert!(matches!(foreign, ConnectError::ForeignDirectory { uid: 12_345, .. }), "{foreign}");
}
