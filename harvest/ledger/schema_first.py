"""The first layouts of the ledger: providers and their harvests, then seeds, documents and logs. See `schema.py`."""

from __future__ import annotations

from typing import Final

FIRST: Final = (
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
    """
    CREATE TABLE seed (
        hash TEXT PRIMARY KEY,          -- MD5 of the normalised URI, 32 lower-case hex digits
        uri TEXT NOT NULL,              -- as given
        relative INTEGER NOT NULL,
        listed INTEGER NOT NULL,        -- stands in the seed list
        provider TEXT,                  -- whose description names it, or NULL
        added TEXT NOT NULL,
        interval REAL NOT NULL,         -- seconds
        status TEXT NOT NULL DEFAULT 'added', -- of its latest download
        download TEXT,                  -- hash of its latest download
        processed TEXT,                 -- when it was last downloaded
        stale_at TEXT NOT NULL DEFAULT '', -- processed + interval; it is stale once that is past
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        retry_at TEXT                   -- not to be tried before, after failures
    ) STRICT;
    CREATE INDEX seed_stale ON seed(stale_at) WHERE listed AND NOT relative;
    CREATE INDEX seed_retry ON seed(retry_at) WHERE retry_at IS NOT NULL;
    CREATE INDEX seed_status ON seed(status);
    CREATE TABLE document (
        hash TEXT PRIMARY KEY,          -- MD5; of a clean document its SHA-256
        seed TEXT NOT NULL REFERENCES seed(hash) ON DELETE CASCADE,
        download TEXT NOT NULL,         -- hash of the download that it is, or comes from
        parent TEXT NOT NULL,           -- hash of the seed, of the archive it is in, or of the dirty document
        name TEXT,                      -- of an archive entry, in its archive
        status TEXT NOT NULL,
        began TEXT NOT NULL,
        ended TEXT,
        http TEXT NOT NULL DEFAULT '[]', -- JSON list of HTTP_META
        media_type TEXT,                -- as its server says
        final_url TEXT,                 -- after redirects
        sha256 TEXT,                    -- of the bytes as filed; NULL for archive entries
        bytes INTEGER,
        chars INTEGER,
        lines INTEGER,
        newline TEXT,
        encoding TEXT,
        format TEXT,
        statements INTEGER,
        dropped INTEGER,
        whole INTEGER,
        counts TEXT NOT NULL DEFAULT '{}', -- JSON, problems by kind
        clean TEXT,                     -- hash of the clean document that it gave
        graph TEXT,                     -- IRI of the graph of a clean document
        loaded INTEGER NOT NULL DEFAULT 0 -- 1 from when the clean document is to be in that graph, 2 once it is
    ) STRICT;
    CREATE INDEX document_seed ON document(seed, began);
    CREATE INDEX document_download ON document(download);
    CREATE INDEX document_parent ON document(parent, name);
    CREATE INDEX document_filed ON document(began) WHERE hash = download AND status IN
        ('filed', 'unarchiving', 'unarchived', 'guessing', 'guessed', 'parsing');
    CREATE INDEX document_graph ON document(graph) WHERE graph IS NOT NULL;
    CREATE TABLE problem (
        document TEXT NOT NULL REFERENCES document(hash) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        message TEXT NOT NULL,
        line INTEGER,
        column INTEGER,
        excerpt TEXT
    ) STRICT;
    CREATE INDEX problem_document ON problem(document);
    CREATE TABLE download (
        id INTEGER PRIMARY KEY,
        activity TEXT NOT NULL UNIQUE,  -- urn:uuid:..., its name in the log
        url TEXT NOT NULL,              -- as asked for, without user and password
        digest TEXT,                    -- SHA-256 of the body; NULL when it failed
        began TEXT NOT NULL,
        ended TEXT NOT NULL,
        capture TEXT,                   -- JSON Capture; NULL when it failed
        status INTEGER,                 -- HTTP status; NULL where there was no answer
        reason TEXT,                    -- why it failed
        informed TEXT,                  -- IRI of the activity that led to it, or NULL
        log INTEGER                     -- the provenance log that tells of it; NULL until there is one
    ) STRICT;
    CREATE INDEX download_url ON download(url, id);
    CREATE INDEX download_digest ON download(digest);
    CREATE INDEX download_untold ON download(id) WHERE log IS NULL;
    ALTER TABLE version ADD COLUMN facts TEXT; -- N-Triples for the provenance log, told when it is committed
    CREATE TABLE statistics (
        provider TEXT NOT NULL REFERENCES provider(name) ON DELETE CASCADE,
        version INTEGER NOT NULL,
        triples INTEGER NOT NULL,
        subjects INTEGER NOT NULL,
        properties INTEGER NOT NULL,
        classes INTEGER NOT NULL,
        counts TEXT NOT NULL,           -- JSON: triples by property, instances by class
        PRIMARY KEY (provider, version)
    ) STRICT;
    CREATE TABLE note (
        id INTEGER PRIMARY KEY,
        activity TEXT NOT NULL,         -- urn:uuid:..., the graph of its facts in the log
        at TEXT NOT NULL,
        facts TEXT NOT NULL,            -- N-Triples
        log INTEGER                     -- as of a download
    ) STRICT;
    CREATE INDEX note_untold ON note(id) WHERE log IS NULL;
    CREATE TABLE log (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL,           -- SHA-256 of the log, filed as content
        activity TEXT NOT NULL,         -- urn:uuid:...
        began TEXT NOT NULL,
        ended TEXT NOT NULL
    ) STRICT;
    """,
)
