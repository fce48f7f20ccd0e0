-- Version 1. Instants are microseconds since 1970 in UTC.

-- The facts of one delivery. GitHub's ids are texts in no order; rows are stored in the order of their coming, and an
-- id is found by the first eight bytes of its digest, which keeps the index small.
CREATE TABLE delivery (
    place        INTEGER PRIMARY KEY AUTOINCREMENT,
    id_key       INTEGER NOT NULL,
    id           TEXT NOT NULL,
    event        TEXT NOT NULL,
    action       TEXT,
    repo         INTEGER,
    repo_name    TEXT,
    installation INTEGER,
    subject      TEXT,
    sender       INTEGER,
    received_at  INTEGER NOT NULL,
    wakes        INTEGER NOT NULL,
    times        INTEGER NOT NULL,
    -- The generation of its repository's wake that this delivery is. Its outcome follows from it.
    generation   INTEGER
) STRICT;

CREATE INDEX delivery_by_id ON delivery (id_key);
CREATE INDEX delivery_by_age ON delivery (received_at);

-- One row a repository.
CREATE TABLE wake (
    repo              INTEGER PRIMARY KEY,
    name              TEXT,
    due_at            INTEGER,
    generation        INTEGER NOT NULL,
    done_generation   INTEGER NOT NULL,
    failed_generation INTEGER NOT NULL,
    not_before        INTEGER,
    attempts          INTEGER NOT NULL,
    outages           INTEGER NOT NULL,
    token             INTEGER NOT NULL,
    lease_owner       TEXT,
    lease_until       INTEGER,
    received_at          INTEGER,
    suspended_at         INTEGER,
    suspended_because    TEXT,
    probe_at          INTEGER,
    last_fault        TEXT,
    -- When it can next be claimed; follows from the other columns and is stored to be found by.
    next_at           INTEGER
) STRICT;

CREATE INDEX wake_by_next ON wake (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX wake_by_lease ON wake (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX wake_by_pause ON wake (not_before) WHERE not_before IS NOT NULL;
