"""
YAML files read as nodes, so that whatever is wrong with them is reported with its place.

PyYAML's `load` forgets where a value stood, takes the last of two equal keys in silence, and reads the provider name
`no` as a boolean. Nodes keep the place and the text of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol, TypeVar

import yaml

from harvest.model import Finding

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where PyYAML was built with it: 1,000 registry entries take 0.01 s with it and 0.12 s without."""

BOM: Final = "\ufeff"

DEPTH: Final = 20
"""Levels of nesting read. The files here have three; libyaml crashes the process at some ten thousand."""

T = TypeVar("T")


class Mark(Protocol):
    """A place in a file as PyYAML and libyaml mark it; both numbers count from 0."""

    line: int
    column: int


class Unusable(Exception):
    """
    A value that cannot be used.

    Attributes:
        message: What is wrong with it, to be put behind its place.
        node: Where, when that is not the value's own beginning.
    """

    def __init__(self, message: str, node: yaml.Node | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.node = node


class Places:
    """
    What is wrong with one YAML file, collected while its nodes are read.

    Attributes:
        file: The file as findings name it.
        findings: In the order they were made.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []

    @property
    def fatal(self) -> list[Finding]:
        """The findings that keep the file from being used, in the order of the file."""
        return sorted((f for f in self.findings if f.fatal), key=lambda f: (f.line or 0, f.column or 0))

    def report(self, kind: str, message: str, mark: Mark | None = None, *, fatal: bool = True) -> None:
        """Add a finding; `mark` is where."""
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        self.findings.append(Finding(kind, message, url=self.file, line=line, column=column, fatal=fatal))

    def data(self, path: Path) -> bytes | None:
        """The file's bytes; None, with a finding, when it cannot be read."""
        try:
            return path.read_bytes()
        except OSError as error:
            self.report("unreadable", f"cannot be read: {error.strerror or error}")
            return None

    def decoded(self, data: bytes) -> str | None:
        """`data` as text, its line ends and byte order mark as they are; None, with a finding, when it is not UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            before = data[: error.start].decode()
            self.report("encoding", f"is not UTF-8: byte 0x{data[error.start]:02x}; save it as UTF-8", _mark(before))
            return None

    def document(self, text: str) -> yaml.Node | None:
        """The file's one document as nodes; None when it is empty or, with a finding, when it is not YAML."""
        text = text.removeprefix(BOM)
        try:
            node = yaml.compose(text, Loader=LOADER) if self._composable(text) else None
            return None if node is None or is_null(node) else node
        except yaml.MarkedYAMLError as error:
            self.report("syntax", _sentence(error), error.problem_mark or error.context_mark)
        except yaml.reader.ReaderError as error:
            self.report("syntax", f"is not YAML: {error.reason}", _mark(text[: error.position]))
        return None

    def _composable(self, text: str) -> bool:
        """Whether nodes can be made of a text; reports aliases, and nesting that would end the process."""
        depth = 0
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.AliasEvent):
                message = f"an alias (*{event.anchor}) is not read here; write the value out"
                self.report("alias", message, event.start_mark)
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEPTH:
                    self.report("syntax", f"is nested more than {DEPTH} levels deep", event.start_mark)
                    return False
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        return True

    def entries(self, node: yaml.Node, what: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """The key and value nodes of a mapping by key; `what` names the mapping in a finding when it is none."""
        if not isinstance(node, yaml.MappingNode):
            self.report("wrong-type", f"{what} must be a mapping of keys to values, not {shape(node)}", node.start_mark)
            return {}
        entries: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.report("wrong-type", f"a key must be a word, not {shape(key)}", key.start_mark)
            elif key.value in entries:
                first = entries[key.value][0].start_mark.line + 1
                message = f"{key.value!r} stands here again; it is on line {first} already"
                self.report("duplicate-key", message, key.start_mark)
            else:
                entries[key.value] = (key, value)
        return entries

    def value(self, node: yaml.Node, name: str, read: Callable[[yaml.Node], T]) -> T | None:
        """What `read` makes of a node; None, with a finding that begins with `name`, when that is nothing."""
        try:
            return read(node)
        except Unusable as error:
            self.report("wrong-value", f"{name} {error.message}", (error.node or node).start_mark)
            return None


def located(finding: Finding) -> str:
    """The finding as one line: `file:line:column: message`."""
    place = ":".join(str(part) for part in (finding.url, finding.line, finding.column) if part is not None)
    return f"{place}: {finding.message}" if place else finding.message


def joined(findings: Iterable[Finding]) -> str:
    """The findings, one a line."""
    return "\n".join(located(f) for f in findings)


def is_plain(node: yaml.Node) -> bool:
    """Whether a node is a scalar without quotes; its style is None from PyYAML and empty from libyaml."""
    return isinstance(node, yaml.ScalarNode) and not node.style


def is_null(node: yaml.Node) -> bool:
    """Whether a node says nothing: it is empty, `~` or `null`."""
    return is_plain(node) and node.value.lower() in ("", "~", "null")


def shape(node: yaml.Node) -> str:
    """What a node is, for people: a scalar as written, or the kind of a collection."""
    if is_null(node):
        return "nothing"
    if isinstance(node, yaml.ScalarNode):
        return str(node.value) if is_plain(node) else repr(node.value)
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"


def _sentence(error: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (error.context, error.problem) if part]
    if error.problem and "cannot start any token" in error.problem:
        parts.append("(a tab may not indent, and a value that begins with one of @ ` % needs quotes)")
    return "is not YAML: " + " ".join(parts)


def _mark(before: str) -> yaml.Mark:
    """The place that comes after the text `before`."""
    line = before.count("\n")
    return yaml.Mark("", len(before), line, len(before) - (before.rfind("\n") + 1), None, 0)
