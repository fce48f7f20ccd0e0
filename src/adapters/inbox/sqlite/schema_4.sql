-- Version 4. How often the process that ticked a repository died, since a tick of it last finished.
ALTER TABLE wake ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
