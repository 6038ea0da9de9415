//! What the writer does: one query of several statements for each job.

/// One job in its two forms.
#[derive(Debug)]
pub(crate) struct Statement {
    /// In a batch: a savepoint of its own.
    pub(crate) together: &'static str,
    /// As the only job of its transaction: one trip to the connection's thread instead of three.
    pub(crate) alone: &'static str,
}

macro_rules! job {
    ($($body:expr),+ $(,)?) => {
        Statement {
            together: concat!("SAVEPOINT job; ", $($body, "; ",)+ "RELEASE job"),
            alone: concat!("BEGIN IMMEDIATE; ", $($body, "; ",)+ "COMMIT"),
        }
    };
}

/// The first statement of a job about the child `$1` (tail), `$2` (index): decides whether it applies.
macro_rules! decide {
    ($predicate:expr) => {
        concat!(
            "REPLACE INTO job (one, run, child, state, applies) \
             SELECT 1, children.run, children.child, children.state, ",
            $predicate,
            " FROM (SELECT 1) LEFT JOIN runs ON runs.tail = $1 \
             LEFT JOIN children ON children.run = runs.position AND children.child = $2"
        )
    };
}

macro_rules! the_child {
    () => {
        "(run, child) = (SELECT run, child FROM job WHERE applies)"
    };
}

macro_rules! the_run {
    () => {
        "position = (SELECT run FROM job WHERE applies)"
    };
}

/// In the last statement of a job: whether a cancel of its child is open.
macro_rules! cancelling {
    () => {
        "EXISTS (SELECT 1 FROM intents AS i WHERE i.run = job.run AND i.child = job.child AND i.kind = 'cancel' \
         AND NOT i.closed) AS cancelling"
    };
}

/// Whether the outcome `$4` says that its child has got the intent.
macro_rules! delivered {
    () => {
        "EXISTS (SELECT 1 FROM json_each($4, '$.told') AS told WHERE told.value ->> 'number' = intents.number \
         AND told.value ->> 'receipt' = 'delivered')"
    };
}

macro_rules! verdict {
    () => {
        "SELECT run, state, applies FROM job"
    };
}

/// `$1` id, `$2` tail, `$3` kind, `$4` owner, `$5` title, `$6` background, `$7` at, `$8` key, `$9` digest; first child:
/// `$10` agent, `$11` plan, `$12` task; `$13` JSON list of the others. A taken key inserts nothing: no run has the tail.
pub(crate) const SUBMIT: Statement = job!(
    "INSERT INTO runs (id, tail, kind, owner, title, state, background, created_at_ms, key, key_digest) \
     VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7, $8, $9) ON CONFLICT (owner, key) WHERE key IS NOT NULL DO NOTHING",
    "INSERT INTO children (run, child, agent, state) \
     SELECT position, 0, $10, 'queued' FROM runs WHERE tail = $2 \
     UNION ALL SELECT position, other.key + 1, other.value ->> 'agent', 'queued' \
     FROM runs, json_each($13) AS other WHERE tail = $2",
    "INSERT INTO plans (run, child, plan) \
     SELECT position, 0, $11 FROM runs WHERE tail = $2 \
     UNION ALL SELECT position, other.key + 1, other.value ->> 'plan' \
     FROM runs, json_each($13) AS other WHERE tail = $2",
    "INSERT INTO tasks (run, child, text) \
     SELECT position, 0, $12 FROM runs WHERE tail = $2 \
     UNION ALL SELECT position, other.key + 1, other.value ->> 'task' \
     FROM runs, json_each($13) AS other WHERE tail = $2",
    "SELECT position, id, 1 AS accepted, 1 AS same FROM runs WHERE tail = $2 \
     UNION ALL SELECT position, id, 0 AS accepted, key_digest IS $9 AS same FROM runs \
     WHERE owner = $4 AND key = $8 AND tail <> $2"
);

/// `$3` number, `$4` kind, `$5` boot, `$6` at, `$7` run state, `$8` device, `$9` inode, `$10` path.
pub(crate) const BEGIN_ATTEMPT: Statement = job!(
    decide!(
        "children.state = 'queued' AND children.attempts = $3 - 1 AND NOT EXISTS (SELECT 1 FROM intents AS i \
             WHERE i.run = children.run AND i.child = children.child AND i.kind = 'cancel' AND NOT i.closed)"
    ),
    "INSERT INTO attempts (run, child, number, kind, boot, begun_at_ms) \
     SELECT run, child, $3, $4, $5, $6 FROM job WHERE applies",
    concat!("UPDATE children SET state = 'starting', attempts = $3, not_before_ms = NULL WHERE ", the_child!()),
    concat!("UPDATE runs SET state = $7 WHERE ", the_run!()),
    "INSERT INTO leases (run, child, device, inode, path, since_at_ms) \
     SELECT run, child, $8, $9, $10, $6 FROM job WHERE applies AND $10 IS NOT NULL \
     ON CONFLICT (run, child) DO NOTHING",
    verdict!()
);

/// `$3` number, `$4` pid, `$5` its start.
pub(crate) const SPAWNED: Statement = job!(
    decide!(
        "EXISTS (SELECT 1 FROM attempts AS a WHERE a.run = children.run AND a.child = children.child \
             AND a.number = $3 AND a.ended IS NULL)"
    ),
    concat!("UPDATE attempts SET pid = $4, pid_start = $5 WHERE number = $3 AND ", the_child!()),
    verdict!()
);

/// `$3` number, `$4` run state, `$5` at.
pub(crate) const RUNNING: Statement = job!(
    decide!("children.state = 'starting' AND children.attempts = $3"),
    concat!("UPDATE attempts SET running_at_ms = $5 WHERE number = $3 AND ", the_child!()),
    concat!("UPDATE children SET state = 'running', never_ran = 0 WHERE ", the_child!()),
    concat!(
        "UPDATE runs SET state = $4, started_at_ms = coalesce(started_at_ms, (SELECT a.begun_at_ms FROM attempts AS a \
         WHERE a.number = $3 AND (a.run, a.child) = (SELECT run, child FROM job))) WHERE ",
        the_run!()
    ),
    verdict!()
);

/// `$3` number, `$4` run state, `$5` not before, `$6` why, `$7` at.
pub(crate) const REQUEUE: Statement = job!(
    decide!("children.state = 'starting' AND children.attempts = $3"),
    concat!("UPDATE attempts SET ended = 'never-ran', ended_at_ms = $7, why = $6 WHERE number = $3 AND ", the_child!()),
    concat!(
        "UPDATE children SET state = 'queued', not_before_ms = $5, \
         never_ran = never_ran + ($6 <> 'scope.busy-elsewhere') WHERE ",
        the_child!()
    ),
    concat!("UPDATE runs SET state = $4 WHERE ", the_run!()),
    concat!("DELETE FROM leases WHERE ", the_child!()),
    verdict!()
);

/// `$3` kind, `$4` at, `$5` text and `$6` delivery of a steer. A cancel or pause that is open is not stored again, every
/// steer is; behind a cancel nothing is.
pub(crate) const INTEND: Statement = job!(
    decide!(concat!(
        "children.state IN ('queued', 'starting', 'running', 'paused') \
         AND NOT ($3 = 'pause' AND children.state = 'paused') \
         AND NOT EXISTS (SELECT 1 FROM intents AS i WHERE i.run = children.run AND i.child = children.child \
             AND NOT i.closed AND (i.kind = 'cancel' OR i.kind = $3 AND $3 <> 'steer')) \
         AND ($3 <> 'steer' OR (SELECT count(*) FROM intents AS i WHERE i.run = children.run \
             AND i.child = children.child AND NOT i.closed AND i.kind = 'steer') < ",
        most_steers!(),
        ")"
    )),
    "INSERT INTO intents (run, child, number, kind, at_ms, text, delivery) SELECT run, child, \
     1 + coalesce((SELECT max(number) FROM intents AS i WHERE i.run = job.run AND i.child = job.child), 0), \
     $3, $4, $5, $6 FROM job WHERE applies",
    concat!(
        "SELECT run, state, applies, (SELECT max(number) FROM intents AS i WHERE i.run = job.run \
         AND i.child = job.child AND i.kind = $3 AND NOT i.closed) AS number, ",
        cancelling!(),
        " FROM job"
    )
);

/// `$3` number, `$4` at.
pub(crate) const CONFIRM: Statement = job!(
    decide!("children.run IS NOT NULL"),
    concat!("UPDATE intents SET confirmed_at_ms = $4 WHERE number = $3 AND confirmed_at_ms IS NULL AND ", the_child!()),
    verdict!()
);

/// `$3` number, `$4` receipt, `$5` at. A receipt only rises: a steer with a final one is closed. What a child has not got
/// when it is to be paused the next attempt may get: the settlement tells.
pub(crate) const RECEIPT: Statement = job!(
    decide!(
        "$4 <> 'undelivered' OR NOT EXISTS (SELECT 1 FROM intents AS i WHERE i.run = children.run \
             AND i.child = children.child AND i.kind = 'pause' AND NOT i.closed)"
    ),
    concat!(
        "UPDATE intents SET receipt = $4, confirmed_at_ms = $5, closed = $4 <> 'accepted' \
         WHERE number = $3 AND kind = 'steer' AND NOT closed AND receipt IS NOT $4 AND ",
        the_child!()
    ),
    verdict!()
);

/// Only of a child that has settled: another one needs its scope, or has none.
pub(crate) const RELEASE: Statement = job!(
    decide!("children.state NOT IN ('queued', 'starting', 'running')"),
    concat!("DELETE FROM leases WHERE ", the_child!()),
    verdict!()
);

/// `$3` text, `$4` environment, `$5` umask, `$6` limits, `$7` background, `$8` new owner, `$9` run state, `$10` at. A
/// text that no attempt came to tell is told by the next one, before its own; at most a mebibyte, the newest words.
pub(crate) const RESUME: Statement = job!(
    decide!(
        "children.state NOT IN ('queued', 'starting', 'running') \
         AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.run = children.run AND l.child = children.child) \
         AND NOT EXISTS (SELECT 1 FROM intents AS i WHERE i.run = children.run AND i.child = children.child \
             AND i.kind = 'cancel' AND NOT i.closed)"
    ),
    concat!(
        "REPLACE INTO continuations (run, child, number, environment, umask, limits, background, owner, taken_from, \
         at_ms, text) \
         SELECT job.run, job.child, children.attempts + 1, $4, $5, $6, $7, $8, iif(runs.owner <> $8, runs.owner, NULL), \
         $10, (SELECT CASE WHEN $3 IS NULL THEN untold WHEN untold IS NULL THEN $3 \
             ELSE substr(untold || char(10, 10) || $3, -1048576) END \
             FROM (SELECT (SELECT c.text FROM continuations AS c WHERE c.run = job.run AND c.child = job.child \
             AND c.number > coalesce((SELECT max(a.number) FROM attempts AS a WHERE a.run = job.run \
                 AND a.child = job.child AND ",
        told!(),
        "), 0) ORDER BY c.number DESC LIMIT 1) AS untold)) \
         FROM job CROSS JOIN runs ON runs.position = job.run \
         CROSS JOIN children ON children.run = job.run AND children.child = job.child WHERE job.applies"
    ),
    concat!(
        "UPDATE children SET state = 'queued', reason = NULL, error = NULL, not_before_ms = NULL, never_ran = 0 WHERE ",
        the_child!()
    ),
    concat!(
        "UPDATE runs SET state = $9, ended_at_ms = NULL, background = coalesce($7, background), \
         owner = coalesce($8, owner), key = iif(owner <> $8, NULL, key), \
         key_digest = iif(owner <> $8, NULL, key_digest) WHERE ",
        the_run!()
    ),
    concat!(
        "SELECT run, state, applies, (SELECT children.attempts + 1 FROM children WHERE children.run = job.run \
         AND children.child = job.child) AS attempt, ",
        cancelling!(),
        " FROM job"
    )
);

/// `$3` number or NULL, `$4` outcome, `$5` state, `$6` reason, `$7` error, `$8` ended at, `$9` run state, `$10` run
/// ended, `$11` lease kept, `$12` notice or NULL, `$13` its time, `$14` started at or NULL. The receipts in the outcome
/// come first; what the child has not got then goes to the next attempt after a pause, and nowhere after an end.
pub(crate) const SETTLE: Statement = job!(
    decide!(
        "children.state IN ('queued', 'starting', 'running', 'paused') AND children.state <> $5 \
             AND ($3 IS NULL OR EXISTS (\
             SELECT 1 FROM attempts AS a WHERE a.run = children.run AND a.child = children.child \
             AND a.number = $3 AND a.ended IS NULL))"
    ),
    concat!(
        "UPDATE attempts SET ended = 'settled', ended_at_ms = $8, outcome = $4 \
         WHERE ended IS NULL AND number = coalesce($3, number) AND ",
        the_child!()
    ),
    concat!("UPDATE children SET state = $5, reason = $6, error = $7, not_before_ms = NULL WHERE ", the_child!()),
    concat!(
        "UPDATE runs SET state = $9, started_at_ms = coalesce(started_at_ms, $14), \
         ended_at_ms = iif($10, $8, ended_at_ms) WHERE ",
        the_run!()
    ),
    concat!("DELETE FROM leases WHERE NOT $11 AND ", the_child!()),
    concat!(
        "UPDATE intents SET closed = 1, receipt = iif(kind = 'steer', iif(",
        delivered!(),
        ", 'delivered', 'undelivered'), NULL) WHERE NOT closed AND ($5 <> 'paused' OR kind <> 'steer' OR ",
        delivered!(),
        ") AND ",
        the_child!()
    ),
    concat!(
        "UPDATE intents SET receipt = NULL, confirmed_at_ms = NULL \
         WHERE NOT closed AND kind = 'steer' AND receipt IS NOT NULL AND ",
        the_child!()
    ),
    "INSERT INTO notices (owner, run, body, at_ms) SELECT runs.owner, job.run, $12, $13 \
     FROM job CROSS JOIN runs ON runs.position = job.run WHERE job.applies AND $12 IS NOT NULL",
    "SELECT run, state, applies, iif(applies AND $12 IS NOT NULL, last_insert_rowid(), NULL) AS notice FROM job"
);

/// `$1` at, `$2` JSON list of owners, `$3` JSON list of numbers, `$4` after, `$5` up to. NOT INDEXED leaves the numbers
/// as the way in: an owner's unacknowledged notices may be many.
pub(crate) const ACKNOWLEDGE: Statement = job!(
    "UPDATE notices NOT INDEXED SET acknowledged_at_ms = $1 \
     WHERE seq IN (SELECT value FROM json_each($3) \
     UNION SELECT n.seq FROM notices AS n NOT INDEXED WHERE n.seq > $4 AND n.seq <= $5) \
     AND acknowledged_at_ms IS NULL AND owner IN (SELECT value FROM json_each($2))",
    "SELECT changes() AS acknowledged"
);

/// Every job, for the test that prepares them.
#[cfg(test)]
pub(crate) const ALL: [&Statement; 12] = [
    &SUBMIT,
    &BEGIN_ATTEMPT,
    &SPAWNED,
    &RUNNING,
    &REQUEUE,
    &INTEND,
    &CONFIRM,
    &RECEIPT,
    &RELEASE,
    &RESUME,
    &SETTLE,
    &ACKNOWLEDGE,
];
