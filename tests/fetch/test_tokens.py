"""Tokens of the environment: for one host, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.archive.warc.files import WarcFiles
from harvest.config.loader import load_settings
from harvest.errors import SettingsError, StatusError
from harvest.fetch.tokens import token_header
from harvest.fetch.wire import spell
from tests.fetch.conftest import NOW, Bench
from tests.fetch.server import moved, reply

BEARER = "Authorization: Bearer $REPOSITORY_TOKEN"
KEY = "X-Dataverse-key: $REPOSITORY_TOKEN"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("REPOSITORY_TOKEN", "s3cret")
    return "s3cret"


@pytest.mark.parametrize(
    ("url", "header", "sent"),
    [
        ("https://zenodo.org/records/7", BEARER, {"Authorization": "Bearer s3cret"}),
        ("https://ZENODO.org:443/", KEY, {"X-Dataverse-key": "s3cret"}),
        ("https://zenodo.org/", "Authorization: $REPOSITORY_TOKEN", {"Authorization": "s3cret"}),
        ("https://zenodo.org/", "Authorization: Bearer $NO_SUCH_VARIABLE", {}),
        ("http://zenodo.org/", BEARER, {}),
        ("https://zenodo.org:8443/", BEARER, {}),
        ("https://files.zenodo.org/", BEARER, {}),
        ("https://zenodo.org.example/", BEARER, {}),
    ],
)
def test_a_token_is_for_its_host_alone(url: str, header: str, sent: dict[str, str]) -> None:
    """A token never goes in clear over a network."""
    assert token_header({"zenodo.org": header}, spell(url)) == sent


@pytest.mark.parametrize("header", [BEARER, KEY])
def test_a_token_is_sent_and_kept_nowhere(bench: Bench, tmp_path: Path, header: str) -> None:
    """A redirect to another server, WARC files, errors and records of the exchange are without the token."""
    storage = bench.serve(reply(b"file"), reply(b"no", "403 Forbidden"))
    api = bench.serve(moved(storage.url("/file")), moved(storage.url("/gone")))
    files = WarcFiles(tmp_path / "warc", "tests/1", lambda: NOW)
    tokens = {api.url("").removeprefix("http://").strip("/"): header}
    client = bench.client(recorder=files.add, tokens=tokens)
    fetched = client.get(api.url("/a"), into=bench.into)
    with pytest.raises(StatusError) as caught:
        client.get(api.url("/b"), into=bench.into)
    files.close()
    name = header.split(":", maxsplit=1)[0].lower()
    assert [request.headers[name].removeprefix("Bearer ") for request in api.requests] == ["s3cret"] * 2
    assert [name in request.headers for request in storage.requests] == [False] * 2
    kept = [path.read_bytes() for path in (tmp_path / "warc").iterdir()]
    assert kept and not [one for one in kept if b"s3cret" in one]
    assert "s3cret" not in f"{fetched} {caught.value} {caught.value.http}"


@pytest.mark.parametrize("value", ["Bearer s3cret", "Authorization: Bearer s3cret", "Cookie: $NAME", "$NAME", "3"])
def test_a_secret_in_the_settings_is_refused(tmp_path: Path, value: str) -> None:
    """The file may be in a public repository; the message does not repeat it."""
    path = tmp_path / "harvest.yaml"
    path.write_text(f"http:\n  tokens:\n    zenodo.org: '{value}'\n")
    with pytest.raises(SettingsError, match=r"harvest\.yaml:3.*variable in place of the secret") as caught:
        load_settings(path, {})
    assert "s3cret" not in str(caught.value)
