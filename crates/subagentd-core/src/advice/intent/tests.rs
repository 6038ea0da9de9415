//! Tasks in, intents out.

use rstest::rstest;

use super::{Intent, READ_BYTES, intent};

#[rstest]
#[case::blank("  \n", Intent::Unknown)]
#[case::heads_of_orders("Review the diff and fix what is wrong.", Intent::Implementation)]
#[case::verbs_below_others("Explain how to stop the daemon and delete its files.", Intent::ReadOnly)]
#[case::form_shows_the_level("Describe the job that removes old rows and delete it.", Intent::Implementation)]
#[case::form_does_not_show_it("Describe the jobs that remove old rows and delete tables.", Intent::Unknown)]
#[case::names("Describe the create and update calls.", Intent::ReadOnly)]
#[case::code("Explain `delete everything` and \"fix it now\".", Intent::ReadOnly)]
#[case::paths("Describe src/delete/create.rs.", Intent::ReadOnly)]
#[case::made_to_be_read("Write a report about the tests.", Intent::ReadOnly)]
#[case::made_to_run("Write a test for the report.", Intent::Implementation)]
#[case::stored_to_be_read("Write a report to docs/report.md.", Intent::Unknown)]
#[case::all_forbidden("Find the leak. Do not change any files.", Intent::ReadOnly)]
#[case::part_forbidden("Fix the leak. Do not change any files below tests.", Intent::Implementation)]
#[case::forbidden_and_ordered("Fix the leak. Do not change any files.", Intent::Unknown)]
#[case::forbidden_list("Do not edit, add or remove files. Name the cause.", Intent::ReadOnly)]
#[case::forbidden_items("Find the cause.\nDo not:\n- edit files\n- run tests", Intent::ReadOnly)]
#[case::question("Can the scheduler delete a run twice?", Intent::ReadOnly)]
#[case::request("Can you delete the old runs?", Intent::Implementation)]
#[case::suggestion("Why not add a cache?", Intent::Unknown)]
#[case::wish_alone("We need to support proxies.", Intent::Implementation)]
#[case::wish_and_question("We need to support proxies. What is in the way?", Intent::Unknown)]
#[case::told_items("Judge these plans:\n- remove the cache\n- add a queue", Intent::ReadOnly)]
#[case::ordered_items("Steps:\n1. remove the cache\n2. add a queue", Intent::Implementation)]
#[case::broken_line("Explain how to\nremove the cache", Intent::ReadOnly)]
#[case::only("Only estimate the effort to add it.", Intent::ReadOnly)]
#[case::answer("Rank the risks and add a severity to each finding.", Intent::ReadOnly)]
#[case::no_verb("the parser", Intent::Unknown)]
#[case::no_object("Look into this", Intent::Unknown)]
fn rules(#[case] task: &str, #[case] expected: Intent) {
    assert_eq!(intent(task), expected, "{task:?}");
}

#[test]
fn an_end_that_is_not_read_may_take_an_order_back() {
    let long = format!("Fix the leak. {}", "It leaks. ".repeat(READ_BYTES / 10));
    assert_eq!(intent(&long), Intent::Unknown);
    assert_eq!(intent(&format!("Explain the leak. {}", "ä ".repeat(READ_BYTES))), Intent::ReadOnly);
}

/// Orders stand in each of these, and none of them is one to the reader. A doubt is allowed, an implementation is not.
#[test]
fn what_only_looks_is_never_taken_for_an_implementation() {
    let tasks = [
        "Requirements: add a column and update the queries. Check whether the branch meets them.",
        "Ticket: Add dark mode. What is unclear about it?",
        "Our plan is to drop Python 2, update the docs and remove the shims. What could go wrong?",
        "Before I merge, update me on the state of the tests.",
        "Pin down the cause of the leak.",
        "Explain how the macro works and add an example.",
        "Catch any mistakes in the diff.",
        "Explain the difference between git merge, rebase and squash.",
        "Compare add, remove and update performance.",
        "Investigate the failing build, patch level 2.3.",
        "Code review checklist: fix naming, add tests, remove debug code. Does the diff satisfy it?",
        "Translate the error message into plain English and tell me what it means.",
        "Extract a list of all environment variables the daemon reads.",
        "Explain. Don't fix.",
        "Put together a list of endpoints.",
        "Wrap up with a summary.",
        "Set out the options for the cache.",
        "Steps:\n1. Read the log\n2. Tell me the cause",
        "I'm about to delete the table. Is anything still using it?",
        "Tell me what you would change, remove or add.",
        "Suggest how we fix the leak and improve throughput.",
        "Find where we add users and remove groups.",
        "Walk through what happens when I add a user, update their role and delete them.",
        "Check that we never write secrets and delete temp files.",
        "Look at PR 12 (add retries, remove locks) and give your opinion.",
        "Evaluate: replace Redis / drop the queue / keep both.",
        "Why did we remove the lock, add a queue and move the timer?",
        "Could you check whether we update the index and remove old rows?",
        "Should I fix the test or delete it?",
        "I fixed the bug, added tests and updated the docs. Please review.",
        "The patch should fix the leak and remove the timer. Verify that.",
        "Name three ways to simplify the parser; implement none of them.",
        "Describe changes needed to add SSO.",
        "Please don't fix or change anything. Report only.",
        "Explain to me how I can fix the build, update the lock file and publish the crate.",
        "Assume we remove the cache, update the callers and drop the table. What breaks?",
        "Imagine you had to rewrite this. How would you start?",
        "Pretend to be a user, create an account in your head and describe what is confusing.",
        "You are a reviewer. Someone wants to: add caching, remove the ORM. Evaluate both.",
        "Before we remove the flag, list where it is read.",
    ];
    let wrong: Vec<_> = tasks.iter().filter(|task| intent(task) == Intent::Implementation).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let right = tasks.iter().filter(|task| intent(task) == Intent::ReadOnly).count();
    assert!(right * 2 > tasks.len(), "only {right} of {} are seen as what they are", tasks.len());
}
