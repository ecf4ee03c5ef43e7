"""`harvest archive`, as people call it: over an instance, and over any folder that Preston could read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harvest.cli.main import main
from tests.archive.preston import made_by_preston, unpacked
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import ProviderServer, serving
from tests.test_cli import Command

ROOT = "2a5de79372318317a382ea9a2cef069780b852b01210ef59e06b640a3539cb5a"


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def harvest(tmp_path: Path, provider: ProviderServer) -> Command:
    """Two harvests of one provider."""
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true, retries: 0}\n"
    )
    (tmp_path / "registry.yaml").write_text(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    command = Command(tmp_path)
    for n, triples in enumerate(((A1,), (A1, A2)), 1):
        release(provider, n, *triples)
        assert command("run").exit_code == 0
    return command


def run(*words: str | Path) -> Result:
    """A command without an instance."""
    return CliRunner().invoke(main, ["archive", *map(str, words)])


def test_a_url_has_a_history(harvest: Command, provider: ProviderServer) -> None:
    """Every different description, newest first, from the ledger; the logs say the same without it."""
    url = f"{provider.url}/void.ttl"
    rows = [line.split("\t") for line in harvest("archive", "history", url).stdout.splitlines()]
    assert len(rows) == 2
    assert rows[0][0] > rows[1][0]
    assert rows[0][1].startswith("hash://sha256/") and rows[0][2] == "text/turtle"
    found = harvest.json("archive", "history", url)
    bare = json.loads(run("history", url, "--dir", harvest.folder / "var" / "content", "--json").stdout)
    assert isinstance(found, list)
    keys = ("url", "at", "hash", "media_type", "final_url", "reason", "activity", "log")
    assert [{key: item[key] for key in keys} for item in found] == [{key: item[key] for key in keys} for item in bare]


def test_a_url_gives_what_it_gave(harvest: Command, provider: ProviderServer) -> None:
    """Now, at a time, and by the hash."""
    url = f"{provider.url}/void.ttl"
    new, old = harvest.json("archive", "history", url)  # type: ignore[misc]  # a list with two objects
    assert harvest("archive", "get", url).stdout_bytes == provider.pages["/void.ttl"].body
    earlier = harvest("archive", "get", url, "--at", old["at"]).stdout_bytes
    assert f"hash://sha256/{hashlib.sha256(earlier).hexdigest()}" == old["hash"]
    assert harvest("archive", "cat", old["hash"]).stdout_bytes == earlier
    assert harvest("archive", "get", old["hash"]).stdout_bytes == earlier
    assert new["hash"] != old["hash"]
    none = harvest("archive", "get", url, "--at", "2001-01-01")
    assert none.exit_code == 1 and f"nothing that {url} gave up to 2001-01-01T00:00:00+00:00" in none.stderr
    assert harvest("archive", "get", url, "--at", "yesterday").exit_code == 1


def test_the_history_of_the_logs_ends_at_the_root(harvest: Command) -> None:
    """As Preston prints it."""
    lines = harvest("archive", "history").stdout.splitlines()
    assert len(lines) >= 2
    assert lines[-1].startswith("<urn:uuid:0659a54f-b713-4f86-a917-5be166a14110> <http://purl.org/pav/hasVersion> ")
    assert all("wasDerivedFrom" in line for line in lines[:-1])
    first = lines[-1].split()[2].strip("<>")
    assert harvest("archive", "cat", ROOT).stdout == first
    assert len(harvest.json("archive", "history")) == len(lines)  # type: ignore[arg-type]  # a list


def test_the_statements_are_n_quads(harvest: Command) -> None:
    """All logs, newest first."""
    lines = harvest("archive", "ls").stdout.splitlines()
    assert sum("prov#Generation" in line for line in lines) == 4
    assert all(line.endswith(" .") for line in lines)
    assert len(harvest.json("archive", "ls")) == len(lines)  # type: ignore[arg-type]  # a list


def test_a_sound_archive_verifies_and_a_damaged_one_does_not(harvest: Command, provider: ProviderServer) -> None:
    """Six columns a line; the exit code says whether any failed."""
    sound = harvest("archive", "verify")
    assert sound.exit_code == 0
    rows = [line.split("\t") for line in sound.stdout.splitlines()]
    assert {len(row) for row in rows} == {6} and {row[2] for row in rows} == {"OK"}
    digest = hashlib.sha256(provider.pages["/void.ttl"].body).hexdigest()
    path = harvest.folder / "var" / "content" / digest[:2] / digest[2:4] / digest
    path.write_bytes(b"other")
    damaged = harvest("archive", "verify")
    assert damaged.exit_code == 1
    [row] = [line.split("\t") for line in damaged.stdout.splitlines() if "FAIL" in line]
    assert row[:1] + row[3:5] == [f"hash://sha256/{digest}", "CONTENT_PRESENT_INVALID_HASH", "5"]
    [item] = [i for i in harvest_json(harvest, 1) if i["verdict"] == "FAIL"]
    assert item["state"] == "CONTENT_PRESENT_INVALID_HASH" and item["path"] == str(path)
    assert harvest("archive", "verify", "--skip-hash-verification").exit_code == 0
    assert harvest("archive", "cat", digest).stdout == "other"
    refused = harvest("archive", "cat", digest, "--verify")
    assert refused.exit_code == 1 and refused.stdout == "" and "damaged" in refused.stderr


def harvest_json(harvest: Command, code: int) -> list[dict[str, object]]:
    result = harvest("archive", "verify", "--json")
    assert result.exit_code == code
    found: list[dict[str, object]] = json.loads(result.stdout)
    return found


def test_a_copy_is_an_archive(harvest: Command) -> None:
    """Without the instance, and without the folder of what is coming in."""
    target = harvest.folder / "copy"
    assert "files copied" in harvest("archive", "copy", str(target)).stdout
    assert run("verify", "--dir", target).exit_code == 0
    assert run("history", "--dir", target).stdout == harvest("archive", "history").stdout
    assert {path.name for path in target.iterdir() if len(path.name) != 2} == set()
    again = harvest("archive", "copy", str(target), "--json")
    assert json.loads(again.stdout)["copied"] == 0


def test_prune_wants_to_know_what_is_kept(harvest: Command, provider: ProviderServer) -> None:
    """Without a rule `archive prune` would remove all that is old; with one it prints what goes."""
    assert harvest("archive", "prune").exit_code == 2
    would = harvest("archive", "prune", "--keep-versions", "1", "--dry-run")
    assert "1 capture would be removed" in would.stdout
    assert "1 capture removed" in harvest("archive", "prune", "--keep-versions", "1").stdout
    assert harvest("archive", "verify").exit_code == 0
    assert harvest.json("archive", "prune", "--keep-days", "0") == []


def test_what_is_no_hash_or_no_url_of_the_archive_is_reported(harvest: Command) -> None:
    """The message says what to do."""
    for words, message in (
        (("cat", "abc"), "'abc' is no hash"),
        (("cat", "0" * 64), "holds nothing named hash://sha256/000"),
        (("history", "http://never"), "the archive knows nothing of http://never"),
    ):
        result = harvest("archive", *words)
        assert result.exit_code == 1 and message in result.stderr


def test_an_archive_of_preston_is_read_without_an_instance(tmp_path: Path) -> None:
    """Its directories are ours."""
    folder = unpacked("data-two-versions", tmp_path)
    versions = json.loads(run("history", "https://example.org", "--dir", folder, "--json").stdout)
    assert [version["at"] for version in versions] == ["2024-01-24T23:16:05.802Z", "2024-01-24T23:16:03.497Z"]
    assert b"Example Domain" in run("get", "https://example.org", "--dir", folder).stdout_bytes
    assert run("verify", "--dir", folder).exit_code == 0
    content = made_by_preston() / "cmd" / "history" / "datacontent"
    named = run("history", "--dir", content, "--log", "hash://md5/b1a9328ef8106189402f566a6100e39d")
    assert len(named.stdout.splitlines()) == 3
    assert run("history", "--log", "0" * 64).exit_code == 2


def test_a_registry_may_name_the_archive(harvest: Command, provider: ProviderServer) -> None:
    """Checked and harvested without the provider; what is not filed is reported as a document that is not there."""
    digest = hashlib.sha256(provider.pages["/void.ttl"].body).hexdigest()
    provider.pages.pop("/void.ttl")
    registry = harvest.folder / "registry.yaml"
    registry.write_text(f"p:\n  void: hash://sha256/{digest}\n")
    checked = harvest("check", "--online")
    assert checked.exit_code == 0, checked.stdout
    assert harvest("run", "p").exit_code == 0
    registry.write_text(f"p:\n  void: hash://sha256/{'0' * 64}\n")
    assert "is not filed in this archive" in harvest("check", "--online").stdout
    registry.write_text(f"p:\n  void: hash://md5/{'0' * 32}\n")
    assert harvest("check").exit_code == 1
