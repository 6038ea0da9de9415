-- Times are integer milliseconds since the epoch, ids and words are text. `run` is the position of a run, `child` the
-- index of a child in it. Tables below a run are clustered by that key: one tree each, so that a commit touches few pages.

CREATE TABLE store (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    identity      TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    position      INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL,
    -- The id's hex digits from last to first. People name a run by its ending: a prefix here, so one index finds both.
    tail          TEXT NOT NULL UNIQUE,
    kind          TEXT NOT NULL,
    owner         TEXT NOT NULL,
    title         TEXT,
    state         TEXT NOT NULL,
    background    INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER,
    ended_at_ms   INTEGER,
    key           TEXT,
    key_digest    TEXT
) STRICT;

CREATE UNIQUE INDEX runs_by_key ON runs (owner, key) WHERE key IS NOT NULL;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_owner ON runs (owner, state);

CREATE TABLE children (
    run           INTEGER NOT NULL REFERENCES runs (position),
    child         INTEGER NOT NULL,
    agent         TEXT NOT NULL,
    state         TEXT NOT NULL,
    reason        TEXT,
    error         TEXT,
    not_before_ms INTEGER,
    attempts      INTEGER NOT NULL DEFAULT 0,
    -- Newest attempts in a row that never started the child.
    never_ran     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, child)
) STRICT, WITHOUT ROWID;

CREATE INDEX children_open ON children (run) WHERE state IN ('queued', 'starting', 'running', 'paused');

-- Apart from `children`, because a plan is large and never changes, while a child's row changes with every step.
CREATE TABLE plans (
    run   INTEGER NOT NULL,
    child INTEGER NOT NULL,
    plan  TEXT NOT NULL,
    PRIMARY KEY (run, child),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;

-- A text of NULL: the task is a file in the run's folder.
CREATE TABLE tasks (
    run   INTEGER NOT NULL,
    child INTEGER NOT NULL,
    text  TEXT,
    PRIMARY KEY (run, child),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    run           INTEGER NOT NULL,
    child         INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    boot          TEXT NOT NULL,
    pid           INTEGER,
    pid_start     INTEGER,
    begun_at_ms   INTEGER NOT NULL,
    running_at_ms INTEGER,
    -- `settled` or `never-ran`; NULL while it is open.
    ended         TEXT,
    ended_at_ms   INTEGER,
    why           TEXT,
    outcome       TEXT,
    answer_path       TEXT GENERATED ALWAYS AS (outcome ->> '$.answer.reference.path') VIRTUAL,
    reported_model    TEXT GENERATED ALWAYS AS (outcome ->> '$.reported.model') VIRTUAL,
    reported_thinking TEXT GENERATED ALWAYS AS (outcome ->> '$.reported.thinking') VIRTUAL,
    reported_tools    TEXT GENERATED ALWAYS AS (outcome ->> '$.reported.tools') VIRTUAL,
    tools_missing     TEXT GENERATED ALWAYS AS (outcome ->> '$.tools_missing') VIRTUAL,
    PRIMARY KEY (run, child, number),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;

-- Numbered per child. A closed intent went with the end of its child: a child that is resumed starts without it.
CREATE TABLE intents (
    run             INTEGER NOT NULL,
    child           INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    kind            TEXT NOT NULL,
    at_ms           INTEGER NOT NULL,
    confirmed_at_ms INTEGER,
    closed          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, child, number),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    run         INTEGER NOT NULL,
    child       INTEGER NOT NULL,
    device      INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    path        TEXT NOT NULL,
    -- JSON list of narrower paths; empty means the whole root.
    paths       TEXT NOT NULL DEFAULT '[]',
    since_at_ms INTEGER NOT NULL,
    PRIMARY KEY (run, child),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
    seq                INTEGER PRIMARY KEY AUTOINCREMENT,
    owner              TEXT NOT NULL,
    run                INTEGER NOT NULL REFERENCES runs (position),
    body               TEXT NOT NULL,
    at_ms              INTEGER NOT NULL,
    acknowledged_at_ms INTEGER
) STRICT;

CREATE INDEX notices_by_owner ON notices (owner);
CREATE INDEX notices_unacknowledged ON notices (owner) WHERE acknowledged_at_ms IS NULL;
CREATE INDEX notices_by_run ON notices (run);
