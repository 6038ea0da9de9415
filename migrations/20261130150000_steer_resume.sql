-- What a child is told after its launch: while it works (steers) and when it goes on (continuations).

-- A steer's. `text` comes last: it may lie on pages of its own, and lists read only what stands before it.
ALTER TABLE intents ADD COLUMN delivery TEXT;
-- NULL while the child has not got it; `delivered` and `undelivered` are final and close the steer. A steer that is open
-- when its child is paused goes to the next attempt.
ALTER TABLE intents ADD COLUMN receipt TEXT;
ALTER TABLE intents ADD COLUMN text TEXT;

-- `number` is the first attempt that it holds for, until the next one of the child. NULL in `text`: just go on.
CREATE TABLE continuations (
    run         INTEGER NOT NULL,
    child       INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    environment TEXT,
    umask       INTEGER,
    -- JSON object of resource limits by name.
    limits      TEXT NOT NULL DEFAULT '{}',
    -- NULL: as before.
    background  INTEGER,
    -- Who took the run over with it, and from whom.
    owner       TEXT,
    taken_from  TEXT,
    at_ms       INTEGER NOT NULL,
    text        TEXT,
    PRIMARY KEY (run, child, number),
    FOREIGN KEY (run, child) REFERENCES children (run, child)
) STRICT, WITHOUT ROWID;
