//! What the readers ask.

/// One row for each child of the runs whose positions `page` gives; `$1` is the length of a task's head in characters.
macro_rules! rows {
    ($order:literal, $page:expr) => {
        concat!(
            "WITH page (position) AS MATERIALIZED (",
            $page,
            ") SELECT runs.position, runs.id, runs.kind, runs.owner, runs.title, runs.state, runs.background, \
             runs.created_at_ms, runs.started_at_ms, runs.ended_at_ms, \
             children.child, children.agent, plans.plan, substr(tasks.text, 1, $1) AS task_head, \
             children.state AS child_state, children.reason, children.error, children.not_before_ms, \
             children.attempts, children.never_ran, \
             attempts.number, attempts.kind AS attempt_kind, attempts.boot, attempts.pid, attempts.pid_start, \
             attempts.begun_at_ms, attempts.running_at_ms, attempts.ended, \
             attempts.ended_at_ms AS attempt_ended_at_ms, attempts.why, attempts.outcome, \
             (SELECT json_group_array(json_array(i.number, i.kind, i.at_ms, i.confirmed_at_ms IS NOT NULL) ORDER BY i.number) FROM intents AS i \
              WHERE i.run = children.run AND i.child = children.child \
              AND NOT i.closed AND i.kind <> 'steer') AS intents, \
             (SELECT json_group_array(json_array(s.number, s.at_ms, s.delivery, s.receipt) ORDER BY s.number) \
              FROM (SELECT i.number, i.at_ms, i.delivery, i.receipt FROM intents AS i \
              WHERE i.run = children.run AND i.child = children.child AND i.kind = 'steer' \
              ORDER BY i.number DESC LIMIT ",
            most_steers!(),
            ") AS s) AS steers, \
             notices.seq, notices.acknowledged_at_ms IS NOT NULL AS acknowledged \
             FROM page CROSS JOIN runs ON runs.position = page.position \
             CROSS JOIN children ON children.run = page.position \
             CROSS JOIN plans ON plans.run = children.run AND plans.child = children.child \
             LEFT JOIN tasks ON tasks.run = children.run AND tasks.child = children.child \
             LEFT JOIN attempts ON attempts.run = children.run AND attempts.child = children.child \
             AND attempts.number = children.attempts \
             LEFT JOIN notices ON notices.seq = (SELECT max(n.seq) FROM notices AS n WHERE n.run = page.position) \
             ORDER BY page.position ",
            $order,
            ", children.child"
        )
    };
}

/// The newest runs before `$2`, `$3` at most, of eleven states `$4` to `$14` (NULL matches none): each state is its own
/// walk along an index, so that the rows between are never read.
macro_rules! of_states {
    ($also:literal) => {
        concat!(
            "SELECT position FROM (",
            of_states!(@arm $also, "$4"), " UNION ALL ", of_states!(@arm $also, "$5"), " UNION ALL ",
            of_states!(@arm $also, "$6"), " UNION ALL ", of_states!(@arm $also, "$7"), " UNION ALL ",
            of_states!(@arm $also, "$8"), " UNION ALL ", of_states!(@arm $also, "$9"), " UNION ALL ",
            of_states!(@arm $also, "$10"), " UNION ALL ", of_states!(@arm $also, "$11"), " UNION ALL ",
            of_states!(@arm $also, "$12"), " UNION ALL ", of_states!(@arm $also, "$13"), " UNION ALL ",
            of_states!(@arm $also, "$14"),
            ") ORDER BY position DESC LIMIT $3"
        )
    };
    (@arm $also:literal, $state:literal) => {
        concat!(
            "SELECT * FROM (SELECT position FROM runs WHERE state = ", $state, $also,
            " AND position < $2 ORDER BY position DESC LIMIT $3)"
        )
    };
}

/// One run by its tail `$2`.
pub(crate) const RUN: &str = rows!("DESC", "SELECT position FROM runs WHERE tail = $2");
/// The newest runs before `$2`, `$3` at most.
pub(crate) const LIST: &str =
    rows!("DESC", "SELECT position FROM runs WHERE position < $2 ORDER BY position DESC LIMIT $3");
/// The same, of the states `$4` to `$14`.
pub(crate) const LIST_STATES: &str = rows!("DESC", of_states!(""));
/// The same, of the owner `$15`.
pub(crate) const LIST_OWNER: &str = rows!("DESC", of_states!(" AND owner = $15"));
/// Every run with a child that is not at an end, oldest first.
pub(crate) const OPEN: &str = rows!(
    "ASC",
    "SELECT DISTINCT run FROM children INDEXED BY children_open \
     WHERE state IN ('queued', 'starting', 'running', 'paused')"
);
/// Runs whose tail begins with `$1`; `$2` is the first text after all such tails, `$3` the most.
pub(crate) const FIND: &str = "SELECT id FROM runs WHERE tail >= $1 AND tail < $2 ORDER BY tail LIMIT $3";
/// The task of the child `$2` of the run `$1`.
pub(crate) const TASK: &str = "SELECT tasks.text FROM runs CROSS JOIN tasks ON tasks.run = runs.position WHERE runs.tail = $1 AND tasks.child = $2";
/// Steers that the child `$2` of the run `$1` has not got, in order.
pub(crate) const OPEN_STEERS: &str = concat!(
    "SELECT runs.id, i.number, i.at_ms, i.delivery, i.receipt, i.text FROM runs CROSS JOIN intents AS i \
     ON i.run = runs.position WHERE runs.tail = $1 AND i.child = $2 AND i.kind = 'steer' AND NOT i.closed \
     ORDER BY i.number LIMIT ",
    most_steers!()
);
/// What the attempt `$3` of the child `$2` of the run `$1` goes on from.
pub(crate) const PAST: &str = concat!(
    "SELECT runs.id, c.number, c.text, c.environment, c.umask, c.limits, \
     (SELECT max(a.number) FROM attempts AS a WHERE a.run = children.run AND a.child = children.child \
      AND a.number < $3 AND a.answer_path IS NOT NULL) AS answered, \
     EXISTS (SELECT 1 FROM attempts AS a WHERE a.run = children.run AND a.child = children.child \
      AND a.number < $3 AND ",
    told!(),
    ") AS conversation \
     FROM runs CROSS JOIN children ON children.run = runs.position \
     LEFT JOIN continuations AS c ON c.run = children.run AND c.child = children.child AND c.number = \
      (SELECT max(n.number) FROM continuations AS n WHERE n.run = children.run AND n.child = children.child \
       AND n.number <= $3) \
     WHERE runs.tail = $1 AND children.child = $2"
);
/// Digests of the environments that open children begin, or go on, with.
pub(crate) const ENVIRONMENTS: &str = "SELECT plans.plan ->> '$.environment' AS environment \
    FROM children INDEXED BY children_open CROSS JOIN plans ON plans.run = children.run AND plans.child = children.child \
    WHERE children.state IN ('queued', 'starting', 'running', 'paused') AND plans.plan ->> '$.environment' IS NOT NULL \
    UNION SELECT c.environment FROM children INDEXED BY children_open \
    CROSS JOIN continuations AS c ON c.run = children.run AND c.child = children.child \
    WHERE children.state IN ('queued', 'starting', 'running', 'paused') AND c.environment IS NOT NULL";
/// The run of the owner `$1` with the key `$2`.
pub(crate) const BY_KEY: &str = "SELECT id, key_digest FROM runs WHERE owner = $1 AND key = $2";
/// Unacknowledged notices of the owner `$1` after `$2`, `$3` at most.
pub(crate) const NOTICES: &str = "SELECT notices.seq, notices.owner, runs.id, notices.body, 0 AS acknowledged \
    FROM notices INDEXED BY notices_unacknowledged CROSS JOIN runs ON runs.position = notices.run \
    WHERE notices.owner = $1 AND notices.seq > $2 AND notices.acknowledged_at_ms IS NULL \
    ORDER BY notices.seq LIMIT $3";
/// All notices of the owner `$1` after `$2`, `$3` at most.
pub(crate) const ALL_NOTICES: &str = "SELECT notices.seq, notices.owner, runs.id, notices.body, \
    notices.acknowledged_at_ms IS NOT NULL AS acknowledged \
    FROM notices INDEXED BY notices_by_owner CROSS JOIN runs ON runs.position = notices.run \
    WHERE notices.owner = $1 AND notices.seq > $2 ORDER BY notices.seq LIMIT $3";
/// Every lease, oldest first.
pub(crate) const LEASES: &str = "SELECT runs.id, leases.child, leases.device, leases.inode, leases.path, leases.paths, \
    leases.since_at_ms FROM leases CROSS JOIN runs ON runs.position = leases.run \
    ORDER BY leases.since_at_ms, leases.run, leases.child";

/// Every question, for the test that prepares them.
#[cfg(test)]
pub(crate) const ALL: [&str; 14] = [
    RUN,
    LIST,
    LIST_STATES,
    LIST_OWNER,
    OPEN,
    FIND,
    TASK,
    OPEN_STEERS,
    PAST,
    ENVIRONMENTS,
    BY_KEY,
    NOTICES,
    ALL_NOTICES,
    LEASES,
];
