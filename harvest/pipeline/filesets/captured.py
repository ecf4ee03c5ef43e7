"""Files of a fileset as they were captured, compared with what the manifest says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.archive.warc.cdx import REVISIT, CdxLine, read_lines
from harvest.discover.platforms.paths import UNSAFE
from harvest.errors import BodyTooLargeError, FetchError, StatusError
from harvest.fetch.client import Client, Fetched
from harvest.model import EXISTS, Capture, ManifestFile

BAD_STATUS: Final = "terminal-bad-status"
TOO_LARGE: Final = "body-too-large"
EMPTY: Final = "empty-blob"

_ALGORITHMS: Final = ("md5", "sha1", "sha256")


@dataclass(frozen=True, slots=True)
class FiledBody:
    """
    Bytes that are filed.

    Attributes:
        capture: Of the answer.
        path: Where they are.
        digests: md5, sha1 and sha256, by name.
    """

    capture: Capture
    path: Path
    digests: dict[str, str]

    def file_meta(self) -> dict[str, Any]:
        """Size, checksums and media type."""
        sums = {f"{name}hex": digits for name, digits in self.digests.items()}
        media_type = (self.capture.media_type or "").partition(";")[0].strip() or None
        return {"size_bytes": self.capture.length, **sums, "mimetype": media_type}

    def terminal(self) -> dict[str, Any]:
        """Where they were in the end."""
        return {
            "terminal_url": self.capture.final_url,
            "terminal_dt": digits_of(self.capture.at),
            "terminal_status_code": self.capture.status,
            "terminal_sha1hex": self.digests["sha1"],
        }


def digits_of(moment: datetime) -> str:
    """A moment in 14 digits."""
    return f"{moment:%Y%m%d%H%M%S}"


def filed_body(content: ContentStore, fetched: Fetched) -> FiledBody:
    """File the body of an answer."""
    assert fetched.path is not None and fetched.capture.digest is not None
    digests = {name: digest_of(fetched.path, name)[0] for name in _ALGORITHMS}
    return FiledBody(fetched.capture, content.file(fetched.path, digests["sha256"]), digests)


def filed_before(content: ContentStore, file: ManifestFile) -> FiledBody:
    """The bytes of a file of an earlier result, which are filed; as the answer they came with was noted there."""
    assert file.sha256 and file.terminal_url and file.terminal_dt
    at = datetime.strptime(file.terminal_dt, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    path = content.path(file.sha256)
    capture = Capture(
        url=file.platform_url or file.terminal_url,
        final_url=file.terminal_url,
        at=at,
        status=200,
        digest=file.sha256,
        length=path.stat().st_size,
        media_type=file.mimetype,
    )
    return FiledBody(capture, path, dict(file.hashes))


def captured(
    client: Client, content: ContentStore, file: ManifestFile, check_stopping: Callable[[], None]
) -> tuple[ManifestFile, FiledBody | None]:
    """A file of a manifest with what came of it, and its bytes where they could be had."""
    check_stopping()
    if file.status == UNSAFE or file.platform_url is None:
        return replace(file, status=file.status or BAD_STATUS), None
    try:
        kept = filed_body(content, client.get(file.platform_url, accept="*/*", into=content.incoming))
    except FetchError as error:
        extra = {**file.extra, "error": error.message}
        if isinstance(error, StatusError):
            extra["status_code"] = error.status
        too_large = isinstance(error, BodyTooLargeError)
        return replace(file, status=TOO_LARGE if too_large else BAD_STATUS, extra=extra), None
    return as_captured(file, kept), kept


def as_captured(file: ManifestFile, kept: FiledBody) -> ManifestFile:
    """A file of a manifest with what its bytes are, and whether they are as the manifest says."""
    return replace(
        file,
        status=status_of(file, kept),
        size=kept.capture.length if file.size is None else file.size,
        md5=file.md5 or kept.digests["md5"],
        sha1=file.sha1 or kept.digests["sha1"],
        sha256=file.sha256 or kept.digests["sha256"],
        mimetype=file.mimetype or kept.file_meta()["mimetype"],
        terminal_url=kept.capture.final_url,
        terminal_dt=digits_of(kept.capture.at),
    )


def status_of(file: ManifestFile, kept: FiledBody) -> str:
    """Whether filed bytes are those of the manifest: exists, or what is different."""
    if file.size is not None and file.size != kept.capture.length:
        return "mismatch-size"
    for name, digest in file.hashes:
        if kept.digests[name] != digest:
            return f"mismatch-{name}"
    return EXISTS


def cdx_of(folder: Path, kept: FiledBody | None, since: datetime) -> dict[str, Any]:
    """`cdx`, or for bytes that were there already `revisit_cdx`, of an answer in the WARC files of a folder."""
    found: dict[str, Any] = {"cdx": None, "revisit_cdx": None}
    if kept is None:
        return found
    for path in sorted(folder.glob("*.cdx")):
        if path.name[:8] < digits_of(since)[:8]:
            continue
        for line in read_lines(path):
            if line.url == kept.capture.final_url and line.timestamp >= digits_of(since):
                if line.mimetype == REVISIT:
                    found["revisit_cdx"] = _as_json(line)
                elif line.status == "200":
                    found["cdx"] = _as_json(line)
    return found


def _as_json(line: CdxLine) -> dict[str, Any]:
    return {
        "surt": line.key,
        "datetime": line.timestamp,
        "url": line.url,
        "mimetype": line.mimetype,
        "status_code": int(line.status) if line.status.isdecimal() else None,
        "sha1b32": line.digest,
        "warc_csize": line.length,
        "warc_offset": line.offset,
        "warc_path": line.file,
    }
