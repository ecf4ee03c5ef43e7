"""
The ledger's layout, as numbered migrations; `PRAGMA user_version` says how many were applied.

Each migration runs in one transaction with its number, so that a crash leaves the layout before or after it. Times
are ISO 8601 in UTC; structures are JSON.

    provider       one row a registry entry ever seen
    dataset        the last committed harvest of each dataset of a provider
    announcement   a dataset that is to be harvested, or was: seen, fetched, held, done, superseded, failed
    run            one try at an announcement, with its outcome, figures and findings
    version        one state of a provider's graph; `loading` from its filing until its generation is published
    finding        what is wrong with a provider's description now
    request        what a command asked of the process that holds the data directory
"""

from __future__ import annotations

from typing import Final

MIGRATIONS: Final = (
    """
    CREATE TABLE provider (
        name TEXT PRIMARY KEY,
        graph TEXT NOT NULL,
        url TEXT,
        etag TEXT,
        last_modified TEXT,
        description TEXT,               -- SHA-256 of the last description read
        written TEXT,                   -- `modified` as last written to the registry, or as it would have been
        modified TEXT,                  -- latest dcterms:modified committed
        version INTEGER NOT NULL DEFAULT 0,
        triples INTEGER NOT NULL DEFAULT 0,
        retry_at TEXT,                  -- not to be looked at before, after failures of the description
        failures INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE dataset (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        iri TEXT NOT NULL,
        modified TEXT,
        coverage TEXT NOT NULL,
        committed TEXT NOT NULL,        -- when
        captures TEXT NOT NULL,         -- JSON list of Capture
        PRIMARY KEY (provider, iri)
    ) STRICT;
    CREATE TABLE announcement (
        id INTEGER PRIMARY KEY,
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        iri TEXT NOT NULL,
        dataset TEXT NOT NULL,          -- JSON Dataset
        seen TEXT NOT NULL,
        state TEXT NOT NULL,
        approved INTEGER NOT NULL DEFAULT 0,
        captures TEXT NOT NULL DEFAULT '[]',
        failures INTEGER NOT NULL DEFAULT 0,
        retry_at TEXT
    ) STRICT;
    CREATE INDEX announcement_open ON announcement(provider, state);
    CREATE INDEX announcement_waiting ON announcement(id) WHERE state IN ('seen', 'fetched');
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        announcement INTEGER,
        started TEXT NOT NULL,
        ended TEXT,
        outcome TEXT,
        dataset TEXT,
        modified TEXT,
        coverage TEXT,
        version INTEGER,
        added INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0,
        vanished INTEGER NOT NULL DEFAULT 0,
        dumps TEXT NOT NULL DEFAULT '[]',
        findings TEXT NOT NULL DEFAULT '[]',
        steps TEXT NOT NULL DEFAULT '[]'
    ) STRICT;
    CREATE INDEX run_provider ON run(provider, id);
    CREATE TABLE version (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        n INTEGER NOT NULL,
        run INTEGER NOT NULL,
        state TEXT NOT NULL,
        at TEXT NOT NULL,
        coverage TEXT NOT NULL,
        dataset TEXT,
        modified TEXT,
        added INTEGER NOT NULL,
        removed INTEGER NOT NULL,
        triples INTEGER NOT NULL,
        digest TEXT,                    -- SHA-256 of the snapshot; NULL until one was written
        PRIMARY KEY (provider, n)
    ) STRICT;
    CREATE INDEX version_loading ON version(run) WHERE state = 'loading';
    CREATE TABLE finding (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        finding TEXT NOT NULL           -- JSON Finding
    ) STRICT;
    CREATE TABLE request (
        id INTEGER PRIMARY KEY,
        command TEXT NOT NULL,
        names TEXT NOT NULL,            -- JSON list of provider names
        asked TEXT NOT NULL,
        taken TEXT,
        done TEXT,
        answer TEXT                     -- JSON
    ) STRICT;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    """,
)
