//! Waiting, always with a deadline.

use std::time::{Duration, Instant};

/// Longer than anything here takes on a loaded machine; a test that reaches it hangs.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// Between two looks at what tells nobody when it changes: a file, the process table, a state without an event.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// The future's value; panics at the deadline.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {DEADLINE:?}"),
    }
}

/// Looks until there is something; panics at the deadline.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    within(what, async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
}

/// The same where there is no runtime.
pub fn until_blocking<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        std::thread::sleep(LOOK_EVERY);
    }
}
