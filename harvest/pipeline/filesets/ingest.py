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
from dataclasses import replace
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
from harvest.model import EXISTS, Layout, Manifest, ManifestFile
from harvest.pipeline.filesets import bundles, strategies
from harvest.pipeline.filesets.captured import (
    BAD_STATUS,
    EMPTY,
    FiledBody,
    as_captured,
    captured,
    filed_before,
    filed_body,
)
from harvest.pipeline.filesets.known import KnownFiles
from harvest.pipeline.filesets.mirror import KEYS, Mirror
from harvest.pipeline.filesets.reading import LIMITS, answer_of, gather, refused
from harvest.pipeline.filesets.results import Ended, Result, Seen, results_of, status_of

RESULTS: Final = "ingests.jsonl"

_SHOWN: Final = 200
"""Characters of what is no request that its result shows."""


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
        self._known = KnownFiles(folder / RESULTS, self._content)
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
            [result] = self._results({"base_url": line.strip()[:_SHOWN]}, error.status, Seen(), now_utc())
            return [result | {"error_message": error.message}]

    def ingest(self, request: Mapping[str, Any]) -> list[Result]:
        """
        What comes of a request: its result, and for a single file the result `dataset-file` behind it.

        Raises:
            StorageError: The folder cannot be written.
        """
        began, seen = now_utc(), Seen()
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
        self._known.add(results)
        return results

    def stop(self) -> None:
        """Have all end now."""
        self._stop.set()

    def _ingested(self, url: str, seen: Seen) -> str:
        """The status of a request that leads to a manifest within the limits."""
        ask = partial(self._ask, seen)
        seen.manifest = manifest = gather(self._settings.filesets, url, ask, self._stop, latest=False)
        limits = self._settings.filesets
        contents.check(manifest, limits.max_total_size, limits.max_file_count)
        seen.strategy = strategies.chosen(manifest, limits)
        known = self._known.fileset(manifest)
        if seen.strategy in strategies.MIRRORED:
            return self._mirrored(manifest, known, seen)
        if known:
            seen.manifest = replace(manifest, files=known)
            return "success-existing"
        self._capture(manifest, seen)
        return status_of(seen)

    def _mirrored(self, manifest: Manifest, known: tuple[ManifestFile, ...] | None, seen: Seen) -> str:
        """The status of a fileset that is to be an item on archive.org; filed files are not downloaded again."""
        mirror = Mirror(self._settings.filesets, self._client, self._content, manifest)
        if mirror.has_all():
            seen.manifest = replace(manifest, files=tuple(replace(file, status=EXISTS) for file in manifest.files))
            return "success-existing"
        if self._key is None and not manifest.archiveorg_item_name:
            url, named = manifest.platform_base_url, " and ".join(KEYS)
            message = f"{url} is to be mirrored to the archive.org item {mirror.item}; set {named} in the environment"
            raise FilesetError("no-strategy-helper", message, url=url)
        meta = self._known.bundle(manifest)
        if known and (meta or seen.strategy not in strategies.BUNDLED):
            seen.manifest = replace(manifest, files=known)
            seen.files = [filed_before(self._content, file) for file in known]
        else:
            self._capture(manifest, seen)
        status = status_of(seen)
        if status.startswith("success") and self._key and not manifest.archiveorg_item_name:
            assert seen.manifest is not None
            meta = seen.bundle.body.file_meta() if seen.bundle else meta
            as_one = (mirror.bundle_file(meta),) if meta and seen.strategy in strategies.BUNDLED else None
            mirror.put(as_one or seen.manifest.files, self._key)
        return status

    def _capture(self, manifest: Manifest, seen: Seen) -> None:
        """Download all files, or the bundle that they are in; those whose checksum is known are filed already."""
        if seen.strategy in strategies.BUNDLED:
            bundle = bundles.opened(self._client, self._content, manifest, self._settings.wash, self._stop)
            seen.bundle, seen.files = bundle, bundle.bodies
            seen.manifest = replace(manifest, files=bundle.files)
            return
        with ThreadPoolExecutor(self._client.parallel, "fileset") as threads:
            pairs = list(threads.map(self._captured, manifest.files))
        seen.manifest = replace(manifest, files=tuple(file for file, _ in pairs))
        seen.files = [kept for _, kept in pairs]

    def _captured(self, file: ManifestFile) -> tuple[ManifestFile, FiledBody | None]:
        """A file; its bytes are not downloaded again where an earlier result has them by SHA-1 or SHA-256."""
        known = self._known.find(file)
        if known is not None:
            kept = filed_before(self._content, known)
            return as_captured(file, kept), kept
        return captured(self._client, self._content, file, check_stopping=lambda: None)

    def _ask(self, seen: Seen, url: str, accept: str) -> Answer:
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

    def _results(self, request: Mapping[str, Any], status: str, seen: Seen, began: datetime) -> Iterator[Result]:
        return results_of(request, Ended(status, seen, Layout(self._folder).warc, began))


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
