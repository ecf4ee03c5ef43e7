"""Repositories of datasets that a local server plays, in the shapes that their APIs have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tests.provider import ProviderServer

PAGE = "<!doctype html><title>A dataset</title>"


def md5(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def put_json(server: ProviderServer, path: str, said: object, status: int = 200) -> str:
    return server.put(path, json.dumps(said), "application/json", status)


def zenodo(server: ProviderServer, number: int, files: Mapping[str, str], *, last: bool = True, **metadata: Any) -> str:
    """A record as Zenodo gives it today, and its files; returns its landing page."""
    listed = []
    for name, body in files.items():
        content = f"/api/records/{number}/files/{name}/content"
        server.put(content, body, "application/octet-stream")
        one = {"id": name, "key": name, "size": len(body.encode()), "checksum": f"md5:{md5(body)}"}
        listed.append(one | {"links": {"self": server.url + content}})
    said = {
        "id": number,
        "conceptrecid": "1",
        "doi": f"10.5281/zenodo.{number}",
        "metadata": {
            "title": "Letters",
            "access_right": "open",
            "creators": [{"name": "Doe, Jo"}],
            "license": {"id": "cc-by-4.0"},
            "relations": {"version": [{"index": 0, "is_last": last}]},
        }
        | metadata,
        "links": {
            "self_html": f"{server.url}/records/{number}",
            "latest": f"{server.url}/api/records/{number}/versions/latest",
            "files": f"{server.url}/api/records/{number}/files",
        },
        "files": listed,
    }
    put_json(server, f"/api/records/{number}", said)
    return server.put(f"/records/{number}", PAGE, "text/html")
