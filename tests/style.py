"""
Rules of style that ruff has no check for; `python -m tests.style` prints every breach and exits with 1 if there is one.

`make lint` runs it. tests/test_style.py proves of each rule that it can fail.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MODULE_LINES = 300
FUNCTION_LINES = 40
ARGUMENTS = 5
NAMELESS = re.compile(r"(^|_)(utils?|helpers?|commons?|managers?)(_|$)|(Utils?|Helpers?|Manager)$")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
UNEXPLAINED = re.compile(r"#\s*(type:\s*ignore\b(?!\[[\w, -]+\]\s*\S)|noqa\b(?!:\s*[A-Z0-9, ]++\S))")
BROAD_HANDLERS = {"harvest/pipeline": 1, "sparql/web": 1}
"""Where `except Exception` may stand, and how often: one provider must not stop others, nor one request the server."""

Breach = tuple[int, str]
"""Line, and what is wrong there."""


@dataclass(frozen=True)
class Source:
    """
    A file that is checked.

    Attributes:
        path: Relative to the root of the repository.
        text: What it holds.
        tree: The same as Python reads it; an empty module where it is no Python.
    """

    path: Path
    text: str
    tree: ast.Module

    @classmethod
    def read(cls, path: Path, text: str) -> Source:
        """A file by its path and its text."""
        return cls(path, text, ast.parse(text) if path.suffix == ".py" else ast.Module([], []))

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method, nested ones included."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def long_module(source: Source) -> Iterator[Breach]:
    """What does not fit on a few screens is two modules."""
    count = source.text.count("\n")
    if count > MODULE_LINES:
        yield count, f"{count} lines; a module has {MODULE_LINES} at most"


def long_function(source: Source) -> Iterator[Breach]:
    """What does not fit on one screen is two functions."""
    for function in source.functions:
        count = (function.end_lineno or function.lineno) - function.lineno + 1
        if count > FUNCTION_LINES:
            yield function.lineno, f"{function.name} has {count} lines; a function has {FUNCTION_LINES} at most"


def many_arguments(source: Source) -> Iterator[Breach]:
    """Beyond five, the values belong together and have a name; ruff counts otherwise for keyword-only ones."""
    for function in source.functions:
        given = function.args
        names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg not in ("self", "cls")]
        if len(names) > ARGUMENTS:
            yield function.lineno, f"{function.name} takes {len(names)} arguments; a function takes {ARGUMENTS} at most"


def nameless(source: Source) -> Iterator[Breach]:
    """A module of helpers has no subject, and grows without end."""
    for part in source.path.with_suffix("").parts:
        if NAMELESS.search(part):
            yield 1, f"{part} does not say what it names"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and NAMELESS.search(node.name):
            yield node.lineno, f"{node.name} does not say what it names"


def unfinished(source: Source) -> Iterator[Breach]:
    """What is not built does not stand in the code; a check that is switched off says which and why."""
    for number, line in enumerate(source.text.splitlines(), start=1):
        if UNFINISHED.search(line) or UNEXPLAINED.search(line):
            yield number, f"unfinished, or switched off without a rule and a reason: {line.strip()}"


def unexplained_test(source: Source) -> Iterator[Breach]:
    """A test's name states the behaviour, and one sentence the reason."""
    for function in source.functions:
        if function.name.startswith("test_") and not (ast.get_docstring(function) or "").endswith((".", "?", "!")):
            yield function.lineno, f"{function.name} has no sentence that says why it is there"


def broad_handlers(sources: Sequence[Source]) -> Iterator[tuple[Source, Breach]]:
    """Everything is caught in the pipeline and in the web error handler, once each; elsewhere it hides a mistake."""
    seen = dict.fromkeys(BROAD_HANDLERS, 0)
    for source in sources:
        home = next((place for place in seen if source.path.as_posix().startswith(place)), None)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node):
                if home is not None:
                    seen[home] += 1
                if home is None or seen[home] > BROAD_HANDLERS[home]:
                    yield source, (node.lineno, "catches everything; name the errors that are expected")


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether it catches everything and does not raise it again."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds)
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


PRODUCT: tuple[Callable[[Source], Iterator[Breach]], ...] = (
    long_module,
    long_function,
    many_arguments,
    nameless,
    unfinished,
)
SCRIPT = (long_module,)
TEST = (unfinished, unexplained_test)
EXEMPT = ("tests/style.py", "tests/test_style.py")
"""They name what they look for."""


def breaches(root: Path) -> Iterator[str]:
    """Every breach below a folder, as `file:line: what is wrong`."""
    product = list(_sources(root, ("harvest/**/*.py", "sparql/**/*.py")))
    scripts = _sources(root, ("sparql/web/static/*.js",))
    tests = (source for source in _sources(root, ("tests/**/*.py",)) if source.path.as_posix() not in EXEMPT)
    for sources, rules in ((product, PRODUCT), (scripts, SCRIPT), (tests, TEST)):
        for source in sources:
            for rule in rules:
                for line, what in rule(source):
                    yield f"{source.path}:{line}: {what}"
    for source, (line, what) in broad_handlers(product):
        yield f"{source.path}:{line}: {what}"


def _sources(root: Path, patterns: Sequence[str]) -> Iterator[Source]:
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if "node_modules" not in path.parts:
                yield Source.read(path.relative_to(root), path.read_text("utf-8"))


if __name__ == "__main__":
    found = list(breaches(ROOT))
    print("\n".join(found) or "No breach of the rules in tests/style.py.")
    sys.exit(bool(found))
