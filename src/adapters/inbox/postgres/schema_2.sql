-- Version 2. How often the process that ticked a repository died, since a tick of it last finished.
ALTER TABLE phileas.wake ADD COLUMN deaths integer NOT NULL DEFAULT 0;
