"""
Files of a fileset as an item on archive.org, over its S3-like API.

What the item has is read first, and only what is missing or different is uploaded; afterwards it is read again.

Source: archive.org, "Internet Archive's S3 like server API" (IAS3) and "Item metadata API"; fileset ingest document,
"Ingest Strategies".
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote, urlsplit

from harvest.archive.content import ContentStore
from harvest.config.settings import FilesetSettings
from harvest.errors import FetchError, FilesetError, StatusError
from harvest.fetch.client import Client
from harvest.fetch.pacing import back_off_s
from harvest.fetch.upload import upload
from harvest.model import Manifest, ManifestFile
from harvest.pipeline.filesets.reading import LIMITS

KEYS: Final = ("IAS3_ACCESS_KEY", "IAS3_SECRET_KEY")
"""Variables of the environment with the two parts of a key for the S3-like API."""

ERROR: Final = "archiveorg-error"

_NAME: Final = 100
"""Characters of the name of an item. Source: IAS3, "Identifiers"."""

_ENDINGS: Final = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".7z")
"""Endings of bundles that are no ZIP files."""

_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")

Listed = Mapping[str, Mapping[str, Any]]
"""Files of an item by name, with `size`, `md5` and `sha1`."""


def authorization(environment: Mapping[str, str]) -> str | None:
    """The Authorization header for the S3-like API; None where a part of the key is not there, or cannot be one."""
    access, secret = (environment.get(name, "").strip() for name in KEYS)
    both = f"{access}:{secret}"
    return f"LOW {both}" if access and secret and re.fullmatch(r"[!-~]+", both) else None


def item_of(manifest: Manifest) -> str:
    """
    The name of the item: domain, id and version of the fileset, or the item that it is.

    Where characters had to go, a digest tells such names apart.
    """
    if manifest.archiveorg_item_name:
        return manifest.archiveorg_item_name
    said = "-".join(filter(None, (manifest.platform_domain, manifest.platform_id, manifest.version)))
    name = _NOT_IN_NAME.sub("-", said).lstrip("._-")
    if name == said and len(name) <= _NAME:
        return name
    digest = sha256(said.encode()).hexdigest()[:12]
    return f"{name[: _NAME - 13]}-{digest}".lstrip("-")


def bundle_path(manifest: Manifest) -> str:
    """The name of a bundle in the item."""
    url = manifest.web_bundle_url or ""
    ending = next((end for end in _ENDINGS if urlsplit(url).path.endswith(end)), ".zip")
    return _NOT_IN_NAME.sub("-", manifest.platform_id or manifest.platform_name) + ending


class Mirror:
    """One item, and what is to be in it."""

    def __init__(self, settings: FilesetSettings, client: Client, content: ContentStore, manifest: Manifest) -> None:
        self.item = item_of(manifest)
        self._settings = settings
        self._client = client
        self._content = content
        self._manifest = manifest

    def has_all(self) -> bool:
        """Whether the item has every file, by size and a checksum that the platform gives."""
        listed = self._listed()
        return all(_is_there(file, listed) for file in self._manifest.files)

    def bundle_file(self, meta: Mapping[str, Any]) -> ManifestFile:
        """The bundle as the file of the item that it becomes, by its size and checksums."""
        sums = (meta[f"{name}hex"] for name in ("md5", "sha1", "sha256"))
        return ManifestFile(bundle_path(self._manifest), meta["size_bytes"], *sums)

    def put(self, files: tuple[ManifestFile, ...], key: str) -> None:
        """
        Upload files that are filed, and compare what the item then has.

        Args:
            files: All of the fileset, with size and checksums of their bytes.
            key: The Authorization header.

        Raises:
            FilesetError: An upload was refused or broke off, or the item does not show a file (ERROR), or shows it with
                other bytes (mismatch-size, mismatch-md5 or mismatch-sha1).
        """
        listed, stop = self._listed(), self._client.new_stop()
        for file in files:
            if _is_there(file, listed):
                continue
            assert file.sha256 is not None and file.md5 is not None
            path = self._content.path(file.sha256)
            try:
                upload(self._client.means, self._address(file), path, self._headers(file.md5, key), stop)
            except FetchError as error:
                raise self._failed(error, file) from error
        self._compare(files)

    def _compare(self, files: tuple[ManifestFile, ...]) -> None:
        means, stop = self._client.means, self._client.new_stop()
        most = means.settings.retries + 1
        for tries in range(1, most + 1):
            listed = self._listed()
            wrong = [file for file in files if not _is_there(file, listed)]
            if not wrong:
                return
            if tries < most:
                means.around.pause(stop, back_off_s(tries, means.around.chance))
        url, path = f"{self._settings.archiveorg}metadata/{quote(self.item)}", wrong[0].path
        status = _difference(wrong[0], listed.get(path))
        if status is None:
            message = f"{url} does not show {path}, which was uploaded: it may take time; ingest it again later"
            raise FilesetError(ERROR, message, url=url)
        raise FilesetError(status, f"{url} shows {path} with other bytes than those that were uploaded", url=url)

    def _failed(self, error: FetchError, file: ManifestFile) -> FilesetError:
        refused = isinstance(error, StatusError) and error.status in (401, 403)
        hint = f"check {' and '.join(KEYS)}, and whose item it is" if refused else "ingest it again to go on"
        message = f"{file.path} was not uploaded to the item {self.item}: {error.message}; {hint}"
        return FilesetError(ERROR, message, url=error.url)

    def _listed(self) -> Listed:
        url = f"{self._settings.archiveorg}metadata/{quote(self.item)}"
        try:
            fetched = self._client.get(url, limits=LIMITS, accept="application/json", into=self._content.incoming)
        except FetchError as error:
            raise FilesetError(ERROR, f"the item cannot be looked up: {error.message}", url=url) from error
        assert fetched.path is not None
        try:
            said = json.loads(fetched.path.read_bytes()) or {}
            return {str(file["name"]): file for file in said.get("files", ())}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FilesetError(ERROR, f"{url} is no metadata of an item: {error!r}", url=url) from error
        finally:
            fetched.path.unlink()

    def _address(self, file: ManifestFile) -> str:
        return f"{self._settings.archiveorg_s3}{quote(self.item)}/{quote(file.path)}"

    def _headers(self, md5: str, key: str) -> dict[str, str]:
        manifest = self._manifest
        about = {"title": manifest.title or self.item, "mediatype": "data", "source": manifest.platform_base_url}
        about |= {f"{number:02}-creator": name for number, name in enumerate(manifest.creators[:20], 1)}
        if manifest.licence and manifest.licence.startswith("http"):
            about["licenseurl"] = manifest.licence
        named = {_meta(name): f"uri({quote(said[:500])})" for name, said in about.items()}
        return named | {
            "authorization": key,
            "Content-MD5": b64encode(bytes.fromhex(md5)).decode("ascii"),
            "x-archive-auto-make-bucket": "1",
            "x-archive-queue-derive": "0",
            "x-archive-size-hint": str(manifest.total_size),
        }


def _meta(name: str) -> str:
    return f"x-archive-meta{name}" if name[0].isdigit() else f"x-archive-meta-{name}"


def _is_there(file: ManifestFile, listed: Listed) -> bool:
    found = listed.get(file.path)
    comparable = found is not None and any(found.get(name) for name, _ in file.hashes)
    return comparable and _difference(file, found) is None


def _difference(file: ManifestFile, found: Mapping[str, Any] | None) -> str | None:
    """The status of a file that an item has otherwise; None where it has it so, or does not have it."""
    if found is None:
        return None
    if file.size is not None and found.get("size") not in (None, str(file.size), file.size):
        return "mismatch-size"
    return next((f"mismatch-{name}" for name, digits in file.hashes if found.get(name) not in (None, digits)), None)
