"""
Ingesting datasets from repositories into a folder, without an instance.

    <folder>/content/ab/cd/<sha256>   bytes of landing pages, answers and files
    <folder>/warc/                    the same exchanges as WARC files with CDX lines
    <folder>/ingests.jsonl            one result a line, in the order in which they ended

Source: fileset ingest document, "Ingest Pseudocode" and "Ingest Result Schema".
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from harvest.archive.content import ContentStore
from harvest.archive.warc.files import WarcFiles
from harvest.config.registry import landing_address
from harvest.config.settings import Settings
from harvest.discover.platforms import contents
from harvest.discover.platforms.platform import Answer
from harvest.errors import FetchError, FilesetError, StatusError
from harvest.fetch.client import Client, now_utc, user_agent
from harvest.model import Layout, Manifest, ManifestFile
from harvest.pipeline.filesets import strategies
from harvest.pipeline.filesets.captured import (
    BAD_STATUS,
    EMPTY,
    EXISTS,
    FiledBody,
    captured,
    cdx_of,
    filed_before,
    filed_body,
)
from harvest.pipeline.filesets.mirror import KEYS, Mirror, item_of
from harvest.pipeline.filesets.reading import LIMITS, answer_of, gather, refused

RESULTS: Final = "ingests.jsonl"

_SHOWN: Final = 200
"""Characters of what is no request that its result shows."""

Result = dict[str, Any]
"""A result object, its keys as in the document; JSON."""


@dataclass(slots=True)
class _Seen:
    """
    What one request led to so far.

    Attributes:
        landing: Of the landing page, once it is there.
        manifest: Once the platform gave it.
        strategy: Once it is chosen.
        files: Bytes of its files, in their order.
    """

    landing: FiledBody | None = None
    manifest: Manifest | None = None
    strategy: str | None = None
    files: list[FiledBody | None] | None = None


class Ingests:
    """Ingests into a folder; `ingest` may be called by any number of threads."""

    def __init__(self, settings: Settings, folder: Path, client: Client, warc: WarcFiles, key: str | None) -> None:
        self._settings = settings
        self._folder = folder
        self._client = client
        self._warc = warc
        self._key = key
        self._content = ContentStore(Layout(folder).content)
        self._content.prepare()
        self._writing = threading.Lock()
        self._stop = threading.Event()

    def answer(self, line: str) -> list[Result]:
        """
        What comes of a line of requests; what is no request has a result that says so.

        Raises:
            StorageError: The folder cannot be written.
        """
        try:
            return self.ingest(read_request(line))
        except FilesetError as error:
            [result] = self._results({"base_url": line.strip()[:_SHOWN]}, error.status, _Seen(), now_utc())
            return [result | {"error_message": error.message}]

    def ingest(self, request: Mapping[str, Any]) -> list[Result]:
        """
        What comes of a request: its result, and for a single file the result `dataset-file` behind it.

        Raises:
            StorageError: The folder cannot be written.
        """
        began, seen = now_utc(), _Seen()
        try:
            status = self._ingested(str(request["base_url"]), seen)
            error = None
        except FilesetError as failed:
            status, error = failed.status, failed.message
        except FetchError as failed:
            status, error = (BAD_STATUS if seen.landing is None else "platform-http-error"), failed.message
        self._warc.close()
        results = list(self._results(request, status, seen, began))
        if error:
            results[0]["error_message"] = error
        with self._writing, (self._folder / RESULTS).open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(result) + "\n" for result in results)
        return results

    def stop(self) -> None:
        """Have all end now."""
        self._stop.set()

    def _ingested(self, url: str, seen: _Seen) -> str:
        """The status of a request that leads to a manifest within the limits."""
        ask = partial(self._ask, seen)
        seen.manifest = manifest = gather(self._settings.filesets, url, ask, self._stop, latest=False)
        limits = self._settings.filesets
        contents.check(manifest, limits.max_total_size, limits.max_file_count)
        seen.strategy = strategies.chosen(manifest, limits)
        strategies.check(seen.strategy, manifest.platform_base_url)
        known = self._existing(manifest)
        if seen.strategy in strategies.MIRRORED:
            return self._mirrored(manifest, known, seen)
        if known:
            seen.manifest = replace(manifest, files=known)
            return "success-existing"
        self._capture(manifest, seen)
        return _status_of(seen)

    def _mirrored(self, manifest: Manifest, known: tuple[ManifestFile, ...] | None, seen: _Seen) -> str:
        """The status of a fileset that is to be an item on archive.org; filed files are not downloaded again."""
        mirror = Mirror(self._settings.filesets, self._client, self._content, manifest)
        if mirror.has_all():
            seen.manifest = replace(manifest, files=tuple(replace(file, status=EXISTS) for file in manifest.files))
            return "success-existing"
        if self._key is None and not manifest.archiveorg_item_name:
            url, named = manifest.platform_base_url, " and ".join(KEYS)
            message = f"{url} is to be mirrored to the archive.org item {mirror.item}; set {named} in the environment"
            raise FilesetError("no-strategy-helper", message, url=url)
        if known:
            seen.manifest = replace(manifest, files=known)
            seen.files = [filed_before(self._content, file) for file in known]
        else:
            self._capture(manifest, seen)
        status = _status_of(seen)
        if status.startswith("success") and self._key and not manifest.archiveorg_item_name:
            assert seen.manifest is not None
            mirror.put(seen.manifest.files, self._key)
        return status

    def _capture(self, manifest: Manifest, seen: _Seen) -> None:
        """Download all files."""
        with ThreadPoolExecutor(self._client.parallel, "fileset") as threads:
            one = partial(captured, self._client, self._content, check_stopping=lambda: None)
            pairs = list(threads.map(one, manifest.files))
        seen.manifest = replace(manifest, files=tuple(file for file, _ in pairs))
        seen.files = [kept for _, kept in pairs]

    def _ask(self, seen: _Seen, url: str, accept: str) -> Answer:
        """A document, filed; the first one is the landing page."""
        try:
            fetched = self._client.get(url, limits=LIMITS, accept=accept, into=self._content.incoming)
        except StatusError as error:
            return refused(url, error)
        kept = filed_body(self._content, fetched)
        if seen.landing is None:
            seen.landing = kept
            if not kept.capture.length:
                raise FilesetError(EMPTY, f"the landing page {url} is empty", url=url)
        return answer_of(url, replace(fetched, path=kept.path))

    def _existing(self, manifest: Manifest) -> tuple[ManifestFile, ...] | None:
        """The files of an earlier result, where it had the very same, with checksums, and all are still there."""
        path = self._folder / RESULTS
        if not path.is_file() or not all(file.hashes for file in manifest.files):
            return None
        wanted = [(file.path, file.size, file.hashes[0]) for file in manifest.files]
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                result = json.loads(line)
                named = result.get("platform_name"), result.get("platform_domain"), result.get("platform_id")
                if named != (manifest.platform_name, manifest.platform_domain, manifest.platform_id):
                    continue
                files = tuple(ManifestFile(**item) for item in result["manifest"] or ())
                same = [(f.path, f.size, h) for f in files for h in f.hashes if (f.path, f.size, h) in wanted]
                there = all(f.status == EXISTS and f.sha256 and self._content.holds(f.sha256) for f in files)
                if there and len(files) == len(wanted) == len(same):
                    return files
        return None

    def _results(self, request: Mapping[str, Any], status: str, seen: _Seen, began: datetime) -> Iterator[Result]:
        manifest, folder = seen.manifest, Layout(self._folder).warc
        result: Result = {
            "hit": status.startswith("success"),
            "status": status,
            "request": dict(request),
            "terminal": seen.landing.terminal() if seen.landing else None,
            "file_meta": seen.landing.file_meta() if seen.landing else None,
            **cdx_of(folder, seen.landing, began),
            "html_biblio": _biblio(manifest) if manifest else None,
            "manifest": [asdict(file) for file in manifest.files] if manifest else None,
            "platform_name": manifest.platform_name if manifest else None,
            "platform_domain": manifest.platform_domain if manifest else None,
            "platform_id": manifest.platform_id if manifest else None,
            "platform_base_url": manifest.platform_base_url if manifest else None,
            "ingest_strategy": seen.strategy,
            "file_count": len(manifest.files) if manifest else None,
            "total_size": manifest.total_size if manifest else None,
        }
        if manifest and seen.strategy in strategies.MIRRORED:
            result["archiveorg_item_name"] = item_of(manifest)
        single = seen.files[0] if status == "success-file" and seen.files else None
        if single is None:
            yield result
            return
        file = {"file_meta": single.file_meta(), "terminal": single.terminal(), **cdx_of(folder, single, began)}
        yield result | {"fileset_file": file}
        yield {"hit": True, "status": "success", "request": {**request, "ingest_type": "dataset-file"}, **file}


@contextmanager
def opened(settings: Settings, folder: Path, key: str | None = None) -> Iterator[Ingests]:
    """
    Ingests into a folder, which is made where it is not there; `key` is `mirror.authorization` for archive.org.

    Raises:
        StorageError: It cannot be written.
    """
    warc = WarcFiles(Layout(folder).warc, user_agent(settings.http.contact or settings.base_url), now_utc)
    client = Client(settings.http, settings.base_url, recorder=warc.add)
    ingests = Ingests(settings, folder, client, warc, key)
    try:
        yield ingests
    finally:
        ingests.stop()
        client.close()
        warc.close()


def read_request(line: str) -> dict[str, Any]:
    """
    A request: a JSON object with `base_url`, or that address or a DOI alone.

    Raises:
        FilesetError: It is neither.
    """
    try:
        said = json.loads(line) if line.lstrip().startswith("{") else {"base_url": line.strip()}
    except ValueError as error:
        raise FilesetError("bad-request", f"the request is no JSON: {error}") from None
    url = said.get("base_url")
    url = landing_address(url) if isinstance(url, str) else url
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
        raise FilesetError("bad-request", f"a request needs a base_url of http or https: {line.strip()[:_SHOWN]}")
    return {"ingest_type": "dataset", **said, "base_url": url}


def _status_of(seen: _Seen) -> str:
    """What came of all files: the status of the first that is not as the manifest says, else success."""
    assert seen.manifest is not None
    bad = next((file.status for file in seen.manifest.files if file.status != EXISTS), None)
    if bad is not None:
        return bad
    if seen.strategy not in strategies.SINGLE:
        return "success"
    single = seen.files[0] if seen.files else None
    return "success-file" if single and single.capture.length else EMPTY


def _biblio(manifest: Manifest) -> dict[str, Any]:
    return {
        "title": manifest.title,
        "contrib_names": list(manifest.creators),
        "doi": manifest.doi,
        "license": manifest.licence,
        "release_date": manifest.released,
        "version": manifest.version,
    }
