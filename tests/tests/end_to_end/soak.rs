//! A short run of the kill program, with a seed that never changes and one that is new each time.

use std::time::Duration;

use subagentd_tests::programs;
use subagentd_tests::soak::{Plan, soak};

/// Kept as long as it finds nothing new: a repeatable part beside the random one.
const SEED: u64 = 20_261_130;

fn kill_at_random(seed: u64) {
    // Before anything can go wrong. The test shows it when it fails.
    say(&format!("soak seed {seed}"));
    let plan = Plan {
        program: programs().daemon.clone(),
        seed,
        daemon_kills: 20,
        shim_kills: 10,
        runs: 60,
        time: Duration::from_secs(60),
    };
    let verdict = soak(&plan).unwrap();
    say(&verdict.text());
    assert!(verdict.violations.is_empty(), "{} violations with seed {seed}", verdict.violations.len());
}

#[test]
fn soak_fixed_seed() {
    kill_at_random(SEED);
}

#[test]
fn soak_random_seed() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    kill_at_random(u64::from(now.subsec_nanos()) ^ now.as_secs());
}

/// The test runner shows it when the test fails.
#[expect(clippy::print_stderr, reason = "this is how a test speaks")]
fn say(text: &str) {
    eprintln!("{text}");
}
