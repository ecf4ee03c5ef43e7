"""
Write-back: the registry's `modified` of one provider, replaced in place.

The file belongs to people. So the scalar alone is replaced: comments, layout, quotes, line ends and every other byte
stay; the result is read again and compared before it takes the file's place.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import yaml

from harvest.config.places import BOM, Places, Unusable
from harvest.config.values import moment
from harvest.errors import RegistryError, StorageError

KEY = "modified"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class _Edit:
    """The characters from `start` to `end` give way to `text`."""

    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def write_modified(path: Path, name: str, modified: datetime, expected: datetime | None) -> bool:
    """
    Whether `modified` now stands in the registry as that of the provider `name`.

    It is written only if the file still says `expected` (None: nothing); else nothing is changed and the answer is
    False, as it is when the file has no such provider any more or is, just now, not readable YAML. The file is
    replaced atomically and keeps its mode; a symbolic link stays one.

    Args:
        path: The registry file.
        name: The provider's name.
        modified: Aware.
        expected: Aware, or None.

    Raises:
        RegistryError: The entry is laid out so that its date cannot be replaced alone. Nothing was written.
        StorageError: The file cannot be read or replaced.
    """
    target = path.resolve()
    try:
        data = target.read_bytes()
        written = _rewritten(data, name, modified.astimezone(UTC), expected, path)
        return written is not None and _replace(target, data, written)
    except OSError as error:
        message = f"{path}: the registry cannot be rewritten: {error.strerror or error}; `modified` of {name!r} stays"
        raise StorageError(message, url=str(path)) from error


def _rewritten(data: bytes, name: str, modified: datetime, expected: datetime | None, path: Path) -> bytes | None:
    """The file's bytes with the new date; None when it does not say what is expected."""
    places = Places(str(path))
    source = places.decoded(data)
    root = places.document(source) if source is not None else None
    if source is None or places.findings:
        return None
    entry = _entry(root, name)
    if entry is None or not _says(entry, expected):
        return None
    mark = BOM if source.startswith(BOM) else ""
    body = source.removeprefix(BOM)  # nodes count from behind the byte order mark
    text = _edit(body, entry, modified).applied(body)
    again = Places(str(path)).document(text)
    changed = _entry(again, name)
    if changed is None or not _says(changed, modified) or _plain(root, entry) != _plain(again, changed):
        line = entry.start_mark.line + 1
        message = f"{path}:{line}: the date of {name!r} cannot be replaced alone; give `{KEY}: ...` a line of its own"
        raise RegistryError(message, url=str(path), line=line)
    return (mark + text).encode()


def _entry(root: yaml.Node | None, name: str) -> yaml.MappingNode | None:
    """The mapping of a provider; None when there is none, or more than one, or it is no mapping."""
    if not isinstance(root, yaml.MappingNode):
        return None
    found = [value for key, value in root.value if isinstance(key, yaml.ScalarNode) and key.value == name]
    return found[0] if len(found) == 1 and isinstance(found[0], yaml.MappingNode) else None


def _dates(entry: yaml.MappingNode) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """The keys and values that give the entry's date."""
    return [(key, value) for key, value in entry.value if isinstance(key, yaml.ScalarNode) and key.value == KEY]


def _says(entry: yaml.MappingNode, expected: datetime | None) -> bool:
    """Whether the entry's date is `expected`."""
    dates = _dates(entry)
    if len(dates) > 1:
        return False
    try:
        return (moment(dates[0][1]) if dates else None) == expected
    except Unusable:
        return False


def _edit(source: str, entry: yaml.MappingNode, modified: datetime) -> _Edit:
    dates = _dates(entry)
    if not dates:
        return _insertion(source, entry, modified)
    key, value = dates[0]
    assert isinstance(value, yaml.ScalarNode)  # a collection says no date, so the edit is not come to
    start, end = value.start_mark.index, value.end_mark.index
    if start == end:
        return _filling(source, key.end_mark.index, start, modified)
    end = start + len(source[start:end].rstrip())  # a block scalar's node reaches to the next line with content
    quote = value.style if value.style in ("'", '"') else ""
    return _Edit(start, end, quote + _written(modified, value.value) + quote)


def _filling(source: str, key_end: int, at: int, modified: datetime) -> _Edit:
    """The edit that gives a key without a value, as in `modified:` and `{modified, void: ...}`, the date."""
    lead = "" if ":" in source[key_end:at] else ":"
    if not lead and source[at : at + 1] == " " and source[at : at + 2] != " #":
        at += 1  # the blank that is there goes before the date
    space = "" if not lead and source[at - 1] == " " else " "
    return _Edit(at, at, lead + space + _written(modified, ""))


def _insertion(source: str, entry: yaml.MappingNode, modified: datetime) -> _Edit:
    """The edit that puts the date before the first key of an entry without one."""
    first = entry.value[0][0].start_mark if entry.value else None
    if first is None:
        at = entry.start_mark.index + 1  # behind the brace of `{}`
        return _Edit(at, at, f"{KEY}: {_written(modified, '')}")
    if entry.flow_style:
        return _Edit(first.index, first.index, f"{KEY}: {_written(modified, '')}, ")
    ends = re.search(r"\r\n|\n|\r", source)
    line = f"{KEY}: {_written(modified, '')}{ends[0] if ends else os.linesep}"
    return _Edit(first.index, first.index, line + " " * first.column)


def _written(modified: datetime, old: str) -> str:
    """The date as ISO 8601 in UTC: without a time when it is midnight and the old text had none."""
    if modified.time() == time() and (not old.strip() or _DATE.fullmatch(old.strip())):
        return modified.date().isoformat()
    return modified.replace(tzinfo=None).isoformat() + "Z"


def _plain(node: yaml.Node | None, entry: yaml.MappingNode) -> Any:
    """What a document says, as comparable values, without the date of one entry."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(k, v) for k, v in node.value if node is not entry or k.value != KEY]
        return [(_plain(k, entry), _plain(v, entry)) for k, v in pairs]
    if isinstance(node, yaml.SequenceNode):
        return [node.tag, *(_plain(item, entry) for item in node.value)]
    return (node.tag, node.value) if isinstance(node, yaml.ScalarNode) else None


def _replace(target: Path, before: bytes, after: bytes) -> bool:
    """Whether `after` took the place of `before`; not when somebody else changed the file meanwhile."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            status = target.stat()
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
            with suppress(PermissionError):  # only root may keep another owner's file that owner's
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        if target.read_bytes() != before:
            return False
        os.replace(temporary, target)
        _sync_directory(target.parent)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    return True


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
