-- Version 3. Rows are stored in the order of their coming, so that their age needs no index; and a place that was given
-- once need not be remembered after its row is gone. Both wrote a page for every commit.
DROP INDEX delivery_by_age;

CREATE TABLE delivery_in_order (
    place        INTEGER PRIMARY KEY,
    id           TEXT NOT NULL,
    event        TEXT NOT NULL,
    action       TEXT,
    repo         INTEGER,
    repo_name    TEXT,
    installation INTEGER,
    subject      TEXT,
    sender       INTEGER,
    -- Of the last time that it came.
    received_at  INTEGER NOT NULL,
    wakes        INTEGER NOT NULL,
    times        INTEGER NOT NULL,
    -- The generation of its repository's wake that this delivery is. Its outcome follows from it.
    generation   INTEGER
) STRICT;

INSERT INTO delivery_in_order (id, event, action, repo, repo_name, installation, subject, sender, received_at, wakes,
                               times, generation)
SELECT id, event, action, repo, repo_name, installation, subject, sender, received_at, wakes, times, generation
FROM delivery ORDER BY received_at, place;

DROP TABLE delivery;
ALTER TABLE delivery_in_order RENAME TO delivery;
