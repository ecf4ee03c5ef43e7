"""What the catalog of the tests holds, in the form of `/providers/{name}.json`."""

from __future__ import annotations

from typing import Any

SHA256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

RUN: dict[str, Any] = {
    "started": "2026-03-01T10:00:00Z",
    "ended": "2026-03-01T10:00:09Z",
    "outcome": "committed",
    "version": 2,
    "added": 1500,
    "removed": 500,
    "vanished_subjects": 3,
    "dumps": [{"url": "http://data.example/a.ttl", "sha256": SHA256, "bytes": 123456, "media_type": "text/turtle"}],
}

FINDING: dict[str, Any] = {
    "kind": "wash",
    "message": "The dump does not parse: <b>, see `harvest check`.",
    "url": "http://data.example/b.ttl",
    "line": 17,
    "column": 4,
    "excerpt": "  <s> <p> 'x'",
    "fatal": True,
}


def provider(name: str, **different: Any) -> dict[str, Any]:
    """The object of a provider in good state, with what is different."""
    return {
        "name": name,
        "graph": f"http://example.org/graph/{name}",
        "state": "idle",
        "modified": "2026-02-28T00:00:00Z",
        "version": 2,
        "triples": 3000,
        "last_run": RUN,
        "findings": [],
        "next_check": "2026-03-01T10:01:00Z",
        **different,
    }


RECORDS: dict[str, Any] = {
    "providers": [
        provider("a"),
        provider("b", state="failing", findings=[FINDING], last_run={**RUN, "outcome": "failed", "added": None}),
        provider("new", version=0, triples=0, modified=None, last_run=None, next_check=None),
    ],
    "versions": {
        "a": [
            {
                "n": 1,
                "at": RUN["started"],
                "modified": None,
                "added": 2000,
                "removed": 0,
                "triples": 2000,
                "sha256": SHA256,
            },
            {"n": 2, "at": RUN["ended"], "modified": None, "added": 1500, "removed": 500, "triples": 3000},
        ]
    },
    "runs": {"a": [RUN]},
}
