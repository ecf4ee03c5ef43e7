"""
The ledger's layout, as numbered migrations; `PRAGMA user_version` says how many were applied.

Each migration runs in one transaction with its number. Times are ISO 8601 in UTC; structures are JSON.

    provider       one row a registry entry ever seen
    dataset        the last committed harvest of each dataset of a provider
    described      each dataset that a provider's description names now, and how its dumps are watched
    announcement   a dataset that is to be harvested, or was: seen, fetched, held, done, superseded, skipped, failed
    run            one try at an announcement, with its outcome, figures and findings
    attempt        how the last tries at each dataset, and at each description, ended
    step           the steps of a run, each from when it began, with what it did so far
    version        one state of a provider's graph; `loading` from its filing until its generation is published
    statistics     the figures of a version, kept for the current one
    finding        what is wrong with a provider's description now
    damage         what is damaged of a provider's files, until it is mended
    notification   what is to be sent to whom a provider names, or was
    request        what a command asked of the process that holds the data directory
    seed           one URI that was registered, by the seed list or by a provider's description
    sitemap        one sitemap that fills the seed list, and when it is to be read again
    document       one download of a seed, one entry of an archive, or one clean document, and how far it came
    problem        what was wrong with a document
    download       one request that gave bytes or failed; those without a log come into the next one
    note           what else the next provenance log is to hold
    log            the provenance logs, in order
    checksum       the sum of each table's rows (`row_sums.py`)
"""

from __future__ import annotations

from typing import Final

from harvest.ledger.schema_first import FIRST

MIGRATIONS: Final = (
    *FIRST,
    """
    CREATE TABLE step (
        run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        place INTEGER NOT NULL,         -- from 1
        name TEXT NOT NULL,
        started TEXT NOT NULL,          -- where the one before ended
        ended TEXT,
        broken INTEGER NOT NULL DEFAULT 0, -- 1 where the process ended in it; `ended` is when that was noticed
        figures TEXT NOT NULL DEFAULT '{}', -- JSON: what it did so far
        PRIMARY KEY (run, place)
    ) STRICT;
    INSERT INTO step (run, place, name, started, ended)
        SELECT run.id, said.key + 1, said.value ->> 'name',
            strftime('%Y-%m-%dT%H:%M:%f+00:00', run.started, '+' || (sum(said.value ->> 'seconds') OVER past
                - (said.value ->> 'seconds')) || ' seconds'),
            strftime('%Y-%m-%dT%H:%M:%f+00:00', run.started, '+' || sum(said.value ->> 'seconds') OVER past
                || ' seconds')
        FROM run, json_each(run.steps) AS said
        WINDOW past AS (PARTITION BY run.id ORDER BY said.key);
    ALTER TABLE run DROP COLUMN steps;
    CREATE INDEX run_announcement ON run(announcement);
    CREATE INDEX run_outcome ON run(provider, outcome, id);
    ALTER TABLE provider ADD COLUMN about TEXT NOT NULL DEFAULT '[]'; -- JSON list of About, one a dataset
    UPDATE provider SET description = NULL, etag = NULL, last_modified = NULL; -- to be read once more, for `about`
    """,
    """
    CREATE TABLE described (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        iri TEXT NOT NULL,
        place INTEGER NOT NULL,         -- from 1, in the order of the description
        dataset TEXT NOT NULL,          -- JSON Dataset
        since TEXT NOT NULL,            -- since when the description names it
        baseline TEXT,                  -- what the registry says is harvested of it, where it never was here
        watch TEXT NOT NULL,            -- how its dumps are asked for while nothing of it is announced
        ask_at TEXT,                    -- not before; NULL for at each look
        asked TEXT,                     -- when they were last asked for so
        tries INTEGER NOT NULL DEFAULT 0, -- of these in a row that failed, or gave whole dumps and nothing new
        findings TEXT NOT NULL DEFAULT '[]', -- JSON: why it is not harvested, what is odd with it
        PRIMARY KEY (provider, iri)
    ) STRICT;
    CREATE INDEX run_dataset ON run(provider, dataset, id);
    ALTER TABLE announcement ADD COLUMN tried TEXT; -- when the last try failed or was held
    ALTER TABLE announcement ADD COLUMN since TEXT; -- since when it fails or is held
    ALTER TABLE announcement ADD COLUMN finding TEXT; -- JSON Finding: why
    ALTER TABLE provider ADD COLUMN base TEXT; -- where the description was in the end, after redirects
    UPDATE provider SET description = NULL, etag = NULL, last_modified = NULL; -- to be read once more, for `described`
    """,
    """
    CREATE TABLE attempt (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        iri TEXT NOT NULL,              -- of the dataset; empty for the description
        outcome TEXT NOT NULL,          -- of the last run that ended
        run INTEGER,                    -- that run
        since TEXT,                     -- when the first of the tries that went wrong began; NULL where it went well
        tries INTEGER NOT NULL,         -- how many these are, those that no run of their own tells of included
        tried TEXT NOT NULL,            -- when the last try ended
        PRIMARY KEY (provider, iri)
    ) STRICT;
    CREATE INDEX attempt_bad ON attempt(provider) WHERE outcome IN ('failed', 'held');
    CREATE INDEX announcement_queue ON announcement(provider) WHERE state IN ('seen', 'fetched', 'held');
    CREATE INDEX run_open ON run(provider) WHERE ended IS NULL;
    INSERT INTO attempt (provider, iri, outcome, run, since, tries, tried)
        SELECT last.provider, coalesce(last.dataset, ''), last.outcome, last.id, min(bad.started), count(bad.id),
            last.ended
        FROM (SELECT *, max(id) FROM run WHERE ended IS NOT NULL GROUP BY provider, coalesce(dataset, '')) AS last
        LEFT JOIN run AS bad ON bad.provider = last.provider AND coalesce(bad.dataset, '') = coalesce(last.dataset, '')
            AND bad.outcome IN ('failed', 'held') AND bad.id > coalesce((SELECT max(id) FROM run AS good
                WHERE good.provider = last.provider AND coalesce(good.dataset, '') = coalesce(last.dataset, '')
                    AND good.outcome IN ('committed', 'unchanged')), 0)
        WHERE last.dataset IS NOT NULL OR (SELECT failures FROM provider WHERE name = last.provider) > 0
        GROUP BY last.id;
    """,
    """
    CREATE TABLE damage (provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE, file TEXT NOT NULL,
        finding TEXT NOT NULL /* JSON Finding */, PRIMARY KEY (provider, file)) STRICT;
    """,
    "ALTER TABLE dataset ADD COLUMN rules INTEGER NOT NULL DEFAULT 1;",  # its blank nodes were named by these
    """
    ALTER TABLE described ADD COLUMN found TEXT; -- JSON Finding: what the last try to ask for its dumps found, or NULL
    ALTER TABLE dataset ADD COLUMN version INTEGER; -- of the graph after its harvest; NULL where that is not known
    ALTER TABLE dataset ADD COLUMN mirrored INTEGER NOT NULL DEFAULT 0; -- whether the graph became exactly the input
    ALTER TABLE announcement ADD COLUMN input TEXT; -- what is held or was approved: SHA-256 of the digests of its bytes
    """,
    "ALTER TABLE dataset ADD COLUMN sync_token TEXT;",  # the state of it at its source, where that names it
    """
    CREATE TABLE notification (
        id INTEGER PRIMARY KEY,
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        dataset TEXT NOT NULL,          -- IRI; empty for the description
        run INTEGER REFERENCES run(id) ON DELETE CASCADE,
        event TEXT NOT NULL,
        at TEXT NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        next_try TEXT,                  -- NULL once it was accepted or given up
        sent TEXT,                      -- when it was accepted
        error TEXT                      -- why the last try failed
    ) STRICT;
    CREATE INDEX notification_due ON notification(next_try) WHERE next_try IS NOT NULL;
    CREATE INDEX notification_dataset ON notification(provider, dataset, id);
    CREATE INDEX notification_run ON notification(run);
    """,
    "ALTER TABLE provider ADD COLUMN baseline INTEGER NOT NULL DEFAULT 0;",  # the first version that is kept, or 0
    """
    CREATE TABLE checksum (
        name TEXT PRIMARY KEY,          -- of a table; its triggers are made where the ledger is opened
        layout INTEGER NOT NULL,
        sum INTEGER NOT NULL            -- of the hashes of its rows, modulo 2^62
    ) STRICT;
    """,
    """
    ALTER TABLE seed ADD COLUMN sitemap TEXT; -- address of the sitemap that listed it last, or NULL
    CREATE INDEX document_entry ON document(seed, download, status) WHERE name IS NOT NULL;
    """,
    """
    CREATE TABLE sitemap (
        url TEXT NOT NULL PRIMARY KEY,  -- as given
        interval REAL,                  -- of its seeds, where that was given; NULL: by their `changefreq`
        added TEXT NOT NULL,
        read TEXT,                      -- when it was last read whole
        state TEXT,                     -- SHA-256 that names what it and all below it were then
        every REAL NOT NULL,            -- seconds between two readings
        next_read TEXT NOT NULL,
        entries INTEGER NOT NULL DEFAULT 0, -- URIs that it listed then
        failures INTEGER NOT NULL DEFAULT 0, -- readings in a row that failed
        trouble TEXT                    -- why the last one failed
    ) STRICT;
    ALTER TABLE seed ADD COLUMN lastmod TEXT; -- what its sitemap says, or NULL
    ALTER TABLE seed ADD COLUMN vanished TEXT; -- since when its sitemap lists it no more, or NULL
    CREATE INDEX seed_sitemap ON seed(sitemap) WHERE sitemap IS NOT NULL;
    """,
    """
    CREATE TABLE ingest_fileset_platform (
        ingest_type TEXT NOT NULL CHECK (length(ingest_type) >= 1),
        base_url TEXT NOT NULL CHECK (length(base_url) >= 1),
        updated TEXT NOT NULL,
        hit INTEGER NOT NULL,
        status TEXT CHECK (length(status) >= 1),
        platform_name TEXT NOT NULL CHECK (length(platform_name) >= 1),
        platform_domain TEXT NOT NULL CHECK (length(platform_domain) >= 1),
        platform_id TEXT NOT NULL CHECK (length(platform_id) >= 1),
        ingest_strategy TEXT CHECK (length(ingest_strategy) >= 1),
        total_size INTEGER,
        file_count INTEGER,
        archiveorg_item_name TEXT CHECK (length(archiveorg_item_name) >= 1),
        archiveorg_item_bundle_path TEXT CHECK (length(archiveorg_item_bundle_path) >= 1),
        web_bundle_url TEXT CHECK (length(web_bundle_url) >= 1),
        web_bundle_dt TEXT CHECK (length(web_bundle_dt) = 14),
        manifest TEXT,                  -- JSON list of ManifestFile
        PRIMARY KEY (ingest_type, base_url)
    ) STRICT;
    CREATE INDEX ingest_fileset_platform_name_domain_id_idx
        ON ingest_fileset_platform(platform_name, platform_domain, platform_id);
    """,
)
