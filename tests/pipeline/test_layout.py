"""Every path below the data directory comes from one owner."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from harvest.model import Layout
from sparql.store.layout import StoreLayout
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer

ROOT: Final = Path(__file__).resolve().parents[2]
OWNERS: Final = {"harvest/model/layout.py", "sparql/store/layout.py"}
NAMES: Final = frozenset(
    [
        "ledger.sqlite",
        "content",
        "providers",
        "store",
        "cache",
        "scratch",
        "changes",
        "snapshot.nq",
        "current",
        "working",
        "generations",
        "writer.lock",
        "changing",
    ]
)
"""Names of files and folders below a data directory."""
BEGINNINGS: Final = ("snapshot-", "since-", "working-")
"""What the names of numbered files and folders begin with."""
JOINING: Final = ("joinpath", "with_name")


def _text(node: ast.expr) -> str | None:
    """A constant text, or how a formatted one begins."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_of_layout(node: ast.expr) -> bool:
    """Whether an expression is a path of a layout, or the data directory itself."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    of = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return node.attr == "data_dir" or of in ("layout", "_layout")


def built_by_hand(source: str) -> Iterator[str]:
    """The expressions of a module that put a path of the data directory together."""
    for node in ast.walk(ast.parse(source)):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts = [node.right]
            if _is_of_layout(node.left):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in JOINING:
            parts = node.args
        for text in filter(None, map(_text, parts)):
            if text.split("/")[0] in NAMES or text.startswith(BEGINNINGS):
                yield ast.unparse(node)


def test_no_module_but_the_owners_puts_a_path_of_the_data_directory_together() -> None:
    """Whoever moves a file changes one line, and whoever looks for it finds that line."""
    found = {}
    for folder in ("harvest", "sparql"):
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if name not in OWNERS and (paths := list(built_by_hand(path.read_text("utf-8")))):
                found[name] = paths
    allowed = {"sparql/cache/edition.py": ["layout.current / 'CURRENT'"]}  # the first file of RocksDB
    assert found == allowed


@pytest.mark.parametrize(
    "source",
    [
        "settings.data_dir / 'tmp'",
        "settings.layout.store / name",
        "root / 'working'",
        "folder / f'snapshot-{n:06d}.nq'",
        "folder.joinpath('changes', '1')",
        "link.with_name('current')",
    ],
)
def test_a_path_that_is_put_together_is_found(source: str) -> None:
    """A check that finds nothing would prove nothing."""
    assert len(list(built_by_hand(source))) == 1


def test_the_owners_name_all_that_an_instance_leaves_on_disk(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """What no owner names would be kept for ever, as nobody knows what it is for."""
    url = provider.put("/a.nt", "<http://x/a> <http://p> <http://o> .\n")
    instance.register(f"p: {{dump: {url}}}")
    assert [result.outcome for result in instance.tick("p")] == ["committed"]
    data = Layout(instance.settings.data_dir)
    named = {data.content, data.providers, data.store, data.scratch, data.ledger, data.resourcesync}
    beside = {path for path in data.data.iterdir() if path.name.startswith(data.ledger.name)}
    assert set(data.data.iterdir()) == named | beside
    of_provider, store = data.provider("p"), StoreLayout(data.store)
    assert set(of_provider.folder.iterdir()) == {of_provider.snapshot, of_provider.snapshot_of(1), of_provider.changes}
    leading = {data.resourcesync / name for name in ("sourceDescription.xml", "sitemap.xml", "robots.txt")}
    digests = {path.with_name(f"{path.name}.sha256") for path in leading}
    assert set(data.resourcesync.iterdir()) == {data.feed("p"), *leading, *digests}
    assert list(of_provider.changes.iterdir()) == [of_provider.change(1)]
    expected = {store.lock, store.working, store.working_folder(1), store.current, store.generations}
    assert set(store.root.iterdir()) == expected
    assert store.current.resolve() in {store.generation(n).resolve() for n in (1, 2, 3)}
