"""
Blank nodes and what the statements around them say, read from N-Triples lines.

Nodes are numbered from 0 in the order in which the lines first name them. Labels of the input are forgotten: nothing
below this module can depend on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

BLANK = ord("_")
"""First byte of a blank node label; IRIs begin with `<`, literals with a quotation mark."""

CROWDED = ord("!")
"""First byte of a line whose ground subject has several blank objects for this predicate, in this file or another."""


def digest(data: bytes) -> bytes:
    """The first 128 bits of the SHA-256 of `data`, as 32 lower-case hex digits."""
    return sha256(data).hexdigest()[:32].encode()


def split(line: bytes) -> tuple[int, int]:
    """
    The end of the subject and the end of the predicate in a line.

    An IRI ends at its bracket, not at a space: lenient parsers let spaces into IRIs.
    """
    end = line.index(b" ") if line[0] == BLANK else line.index(b"> ") + 1
    return end, line.index(b"> ", end + 1) + 1


@dataclass(slots=True)
class Blanks:
    """
    A set of triples that touch blank nodes, by node.

    Attributes:
        index: Blank node label, with `_:`, to node.
        facts: For each node `predicate object` of its triples with a ground object; may repeat.
        links: For each node (predicate, node) of its triples with a blank object, without repeats; nodes without are
            absent.
        mentions: For each node `subject predicate` of the triples that refer to it from a ground subject, without
            repeats; nodes without are absent.
        crowded: Those `subject predicate` that have several blank objects.
    """

    index: dict[bytes, int] = field(default_factory=dict)
    facts: list[list[bytes]] = field(default_factory=list)
    links: dict[int, list[tuple[bytes, int]]] = field(default_factory=lambda: defaultdict(list))
    mentions: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    crowded: set[bytes] = field(default_factory=set)

    def node(self, label: bytes) -> int:
        """The node of a label, a new one if the label is new."""
        found = self.index.get(label)
        if found is None:
            found = self.index[label] = len(self.facts)
            self.facts.append([])
        return found


def read(lines: Iterable[bytes]) -> Blanks:
    """
    The blank nodes of N-Triples lines, each of which holds at least one and ends in ` .` and a newline.

    A line may begin with `!` where the reader of several parts of a file knows that its subject has more blank objects
    for its predicate in another part.
    """
    blanks = Blanks()
    predicates: dict[bytes, bytes] = {}
    for line in lines:
        if line[0] == BLANK:
            end, gap = split(line)
            node = blanks.node(line[:end])
            if line[gap + 1] == BLANK:
                predicate = line[end + 1 : gap]
                link = (predicates.setdefault(predicate, predicate), blanks.node(line[gap + 1 : -3]))
                blanks.links[node].append(link)
            else:
                blanks.facts[node].append(line[end + 1 : -3])
        else:
            _mention(blanks, line)
    _finish(blanks)
    return blanks


def _mention(blanks: Blanks, line: bytes) -> None:
    """Take in a line whose subject is ground."""
    crowded = line[0] == CROWDED
    if crowded:
        line = line[1:]
    gap = split(line)[1]
    key = line[:gap]
    blanks.mentions[blanks.node(line[gap + 1 : -3])].append(key)
    if crowded:
        blanks.crowded.add(key)


def _finish(blanks: Blanks) -> None:
    """Drop what was said twice, and find the subjects and predicates with several blank objects."""
    seen: set[bytes] = set()
    for node, keys in blanks.mentions.items():
        if len(keys) > 1:
            blanks.mentions[node] = keys = list(dict.fromkeys(keys))
        for key in keys:
            if key in seen:
                blanks.crowded.add(key)
            else:
                seen.add(key)
    for node, links in blanks.links.items():
        if len(links) > 1:
            blanks.links[node] = list(dict.fromkeys(links))
