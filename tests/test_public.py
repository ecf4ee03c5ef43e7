"""The names that other packages may import are those that the documents list."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = (ROOT / "docs" / "handlers.md").read_text("utf-8").split("## What may be imported")[1]
ROW = re.compile(r"^\| `([\w.]+)` \| (.+) \|$", re.MULTILINE)
LISTED = {row[1]: set(re.findall(r"`(\w+)`", row[2])) for row in ROW.finditer(TABLE)}


def test_each_public_module_exports_the_names_that_are_documented() -> None:
    """Neither more, which nobody could ever change again, nor less."""
    assert LISTED.keys() == {"harvest.archive", "sparql.rdf"}
    for module, names in LISTED.items():
        exported = importlib.import_module(module)
        assert sorted(names) == sorted(exported.__all__)
        assert all(hasattr(exported, name) for name in names)


def test_the_public_modules_are_named_where_the_packages_begin() -> None:
    """Whoever opens a package reads first what of it is private."""
    for module in LISTED:
        top = importlib.import_module(module.split(".")[0])
        assert top.__doc__ is not None and module in top.__doc__ and "private" in top.__doc__
        assert top.__file__ is not None and Path(top.__file__).with_name("py.typed").is_file()


def test_public_names_are_imported_without_an_instance() -> None:
    """A handler's own tests run without settings, ledger and web front."""
    imports = "; ".join(f"from {module} import {', '.join(sorted(names))}" for module, names in LISTED.items())
    heavy = "{'flask', 'requests', 'rdflib', 'sqlite3'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {imports}; assert not {heavy}, {heavy}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
