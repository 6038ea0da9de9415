//! What must be true of every history once all of its runs have ended.

use subagentd_proto::lease;
use subagentd_proto::method::LeaseList;
use subagentd_proto::run::{Receipt, RunView, State};
use subagentd_tests::{Daemon, Owner, Script, until};

use super::{Answer, Course, ROOTS, connect, root, task};
use crate::told::{files, heard};

/// Ends every run and gives all broken promises.
pub(super) async fn check(course: &Course, daemon: &Daemon) -> Vec<String> {
    let owner = connect(&course.site).await;
    for (run, _) in &course.runs {
        owner.cancel(run).await;
    }
    let mut faults = Vec::new();
    for (number, (run, _)) in course.runs.iter().enumerate() {
        let view = owner.wait(run).await;
        let said = heard(&course.site, run).join("\n");
        let of_run =
            [check_task(number, &view, &said), check_resumes(course, run, &said), check_steers(course, &view, &said)];
        for fault in of_run.concat() {
            faults.push(format!("run {number}, {run}, {:?}: {fault}{}", view.state, course.history(run)));
        }
    }
    faults.extend(check_rest(course, daemon, &owner).await);
    faults
}

/// A child that heard anything heard its task, and heard it once.
fn check_task(number: usize, view: &RunView, said: &str) -> Vec<String> {
    let times = said.matches(&task(number)).count();
    let mut faults = Vec::new();
    if times > 1 || (times == 0 && !said.is_empty()) {
        faults.push(format!("its task was heard {times} times: {said:?}"));
    }
    if view.ended_at_ms.is_none() {
        faults.push("it ended at no time".to_owned());
    }
    faults
}

/// The words of a resume are heard once at most; its end may come before.
fn check_resumes(course: &Course, run: &str, said: &str) -> Vec<String> {
    let resumes = course.told(run).resumes;
    let counted = resumes.into_iter().map(|text| (said.matches(&text).count(), text));
    counted.filter(|(times, _)| *times > 1).map(|(times, text)| format!("{text} was heard {times} times")).collect()
}

/// A steer is heard once at most, never when it was refused, and its receipt says whether it was heard.
fn check_steers(course: &Course, view: &RunView, said: &str) -> Vec<String> {
    let told = course.told(&view.run);
    let receipt_of =
        |number| view.children[0].steers.iter().find(|steer| steer.number == number).map(|steer| steer.receipt);
    let fault = |(text, answer): &(String, Answer)| {
        let times = said.matches(text.as_str()).count();
        let receipt = match answer {
            Answer::None | Answer::Refused => None,
            Answer::Yes(number) => receipt_of(*number),
        };
        let holds = match (answer, receipt, times) {
            (Answer::None, _, 0 | 1) | (Answer::Refused, _, 0) => true,
            (Answer::Yes(_), Some(Receipt::Delivered), 1) | (Answer::Yes(_), Some(Receipt::Undelivered), 0) => true,
            // Who knew it was killed before it could say so.
            (Answer::Yes(_), Some(Receipt::Undelivered), 1) => told.shim_kills > 0,
            _ => false,
        };
        (!holds).then(|| format!("{text}, {answer:?}, {receipt:?}, was heard {times} times"))
    };
    told.steers.iter().filter_map(fault).collect()
}

/// Nothing is left, and every place is free again.
async fn check_rest(course: &Course, daemon: &Daemon, owner: &Owner) -> Vec<String> {
    let site = &course.site;
    site.until_no_attempts().await;
    let mut faults = Vec::new();
    let leases = owner.call::<LeaseList>(lease::ListParams {}).await.unwrap().leases;
    if !leases.is_empty() {
        faults.push(format!("leases of nobody: {leases:?}"));
    }
    until("nobody lives and nobody waits", async || {
        let status = daemon.status().await;
        (status.live == 0 && status.queued == 0).then_some(())
    })
    .await;
    until("no shim left", async || site.processes().iter().all(|process| !process.is_shim()).then_some(())).await;
    for number in 0..ROOTS {
        let ask = site.play("worker", &Script::new().say("free")).directory(root(site, number));
        let view = owner.run(&ask).await;
        if view.state != State::Succeeded {
            faults.push(format!("root {number} is not free: {view:#?}"));
        }
    }
    let spool = files(&site.state().join("spool"));
    if !spool.is_empty() {
        faults.push(format!("records of nobody: {spool:?}"));
    }
    let logs = site.logs();
    let odd = logs.lines().filter(|line| line.contains(" ERROR ") || line.contains("differ"));
    faults.extend(odd.map(|line| format!("the daemon logged: {line}")));
    faults
}
