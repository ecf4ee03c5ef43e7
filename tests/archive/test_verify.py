"""Verifying says of everything that the logs name whether it is there and still the same."""

from __future__ import annotations

from pathlib import Path

from harvest.archive.content import ContentStore
from harvest.archive.history import Archive
from harvest.archive.index import PREVIOUS_VERSION, Index
from harvest.archive.layout import HashName, named, walk
from harvest.archive.provenance import INVALIDATED
from harvest.archive.verify import FileState, verify
from tests.archive.preston import made_by_preston, unpacked

CONTENT = "hash://sha256/ea8fac7c65fb589b0d53560f5251f74f9e9b243478dcb6b3ea79b5e36449c8d9"


def states(archive: Archive, *, hashing: bool = True) -> dict[str, FileState]:
    checks = list(verify(archive, hashing=hashing))
    assert len({check.iri for check in checks}) == len(checks)
    return {check.iri: check.state for check in checks}


def test_a_sound_archive_is_ok(tmp_path: Path) -> None:
    """Two logs and the bytes that both name, once each, in the six columns that Preston prints."""
    source = unpacked("data-two-versions", tmp_path)
    checks = list(verify(Archive(source)))
    assert [check.verdict for check in checks] == ["OK"] * 3
    check = next(check for check in checks if check.iri == CONTENT)
    path = source / "ea" / "8f" / CONTENT.removeprefix("hash://sha256/")
    assert check.columns() == (CONTENT, path.as_uri(), "OK", "CONTENT_PRESENT_VALID_HASH", "1256", CONTENT)


def test_damage_and_loss_fail(tmp_path: Path) -> None:
    """The report has the size and hash that the damaged bytes have now."""
    source = unpacked("data-two-versions", tmp_path)
    path = Archive(source).path(HashName(CONTENT.removeprefix("hash://sha256/")))
    path.write_bytes(path.read_bytes()[:-1])
    check = next(check for check in verify(Archive(source)) if check.iri == CONTENT)
    assert (check.verdict, check.state, check.bytes) == ("FAIL", FileState.INVALID, 1255)
    assert check.computed not in (None, CONTENT)
    assert states(Archive(source), hashing=False)[CONTENT] is FileState.PRESENT
    path.unlink()
    assert states(Archive(source))[CONTENT] is FileState.MISSING


def test_what_preston_finds_missing_is_missing() -> None:
    """Its own test expects this line; the skolemised blank of a failed download is not checked."""
    lines = ["\t".join(check.columns()) for check in verify(Archive(made_by_preston() / "cmd" / "verify-data"))]
    text = "\n".join(lines)
    assert "f0c131ebf6ad2dce71ab9a10aa116dcedb219ae4539f9e5bf0e57b84f51f22ca\tFAIL\tMISSING\t" in text
    assert "genid" not in text
    assert "line:hash" not in text


def test_bytes_kept_by_md5_are_checked_by_md5() -> None:
    """An archive of Preston may hold both kinds."""
    newest = named("hash://md5/b1a9328ef8106189402f566a6100e39d")
    archive = Archive(made_by_preston() / "cmd" / "history" / "datacontent", newest)
    assert newest is not None
    assert states(archive)[newest.uri] is FileState.VALID


def test_what_is_named_otherwise_is_skipped(tmp_path: Path) -> None:
    """A line or an entry of an archive has a name of its own, and no bytes of its own."""
    log = f"<http://x> <http://purl.org/pav/hasVersion> <zip:{CONTENT}!/a.csv> .\n"
    (tmp_path / ("5" * 64)).write_text(log)
    checks = {check.iri: check for check in verify(Archive(tmp_path, HashName("5" * 64)), hashing=False)}
    assert checks[f"zip:{CONTENT}!/a.csv"].verdict == "SKIP"


def test_pruned_bytes_are_skipped_until_they_are_captured_again(tmp_path: Path) -> None:
    """The log says that they went on purpose; a later download says that they should be there."""
    pruned = f'<{CONTENT}> <{INVALIDATED}> "2026-01-01T00:00:00Z" .\n'
    given = f"<http://x> <http://purl.org/pav/hasVersion> <{CONTENT}> .\n"
    log = tmp_path / ("5" * 64)
    for text, state in ((given + pruned, FileState.PRUNED), (given + pruned + given, FileState.MISSING)):
        log.write_text(text)
        assert states(Archive(tmp_path, HashName(log.name)), hashing=False)[CONTENT] is state


def test_a_log_that_hides_the_one_before_fails(tmp_path: Path) -> None:
    """The index can be changed by anybody who can write; the chain of hashes cannot."""
    source = unpacked("data-two-versions", tmp_path)
    ContentStore(source).prepare()
    newest = Archive(source).logs()[0]
    forged = ContentStore(source).incoming / "forged"
    forged.write_text(f"<http://x> <http://purl.org/pav/hasVersion> <{CONTENT}> .\n")
    import hashlib

    digest = hashlib.sha256(forged.read_bytes()).hexdigest()
    ContentStore(source).file(forged, digest)
    Index(source).put(PREVIOUS_VERSION, newest.uri, HashName(digest))
    failed = [check for check in verify(Archive(source)) if check.verdict == "FAIL"]
    assert [(check.iri, check.state) for check in failed] == [(HashName(digest).uri, FileState.UNCHAINED)]
    assert len(list(walk(source))) == 7
