"""harvest.yaml and the environment become settings, or an error with its place."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from harvest.config.loader import READERS, RESERVED, load_settings, variable
from harvest.config.settings import Settings
from harvest.errors import SettingsError
from tests.config_files import CONFIG, as_json

GIB = 1 << 30


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the settings of a test stand."""
    return tmp_path / "etc" / "harvest.yaml"


def load(file: Path, text: str | bytes, **environ: str) -> Settings:
    """The settings of a file that holds `text`."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_settings(file, environ)


def refused(file: Path, text: str | bytes, **environ: str) -> SettingsError:
    """The error that such settings give."""
    with pytest.raises(SettingsError) as caught:
        load(file, text, **environ)
    return caught.value


def keys(group: Any, prefix: str = "") -> Iterator[str]:
    """The dotted keys that the dataclasses have."""
    for field in dataclasses.fields(group):
        value = getattr(group, field.name)
        if dataclasses.is_dataclass(value):
            yield from keys(value, f"{prefix}{field.name}.")
        elif field.name != "file":
            yield prefix + field.name


def test_every_setting_has_a_reader() -> None:
    """A field that no file can set, or a key that no field takes, is a mistake of ours."""
    assert set(keys(Settings())) == set(READERS)


def test_the_shipped_file_says_every_key_with_its_default(tmp_path: Path) -> None:
    """It is the reference that people edit, so it must be whole and true."""
    copy = tmp_path / "config" / "harvest.yaml"
    copy.parent.mkdir()
    copy.write_bytes((CONFIG / "harvest.yaml").read_bytes())
    empty = copy.with_name("empty.yaml")
    empty.write_text("")
    shipped = load_settings(copy, {})
    assert dataclasses.replace(shipped, file=None) == dataclasses.replace(load_settings(empty, {}), file=None)
    written = yaml.safe_load(copy.read_text("utf-8"))
    dotted = {f"{k}.{inner}" for k, v in written.items() if isinstance(v, dict) for inner in v}
    dotted |= {k for k, v in written.items() if not isinstance(v, dict) or k == "features"}
    assert dotted == set(READERS)


def test_the_defaults_of_the_classes_are_those_of_the_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings() in a test and an empty file must not be two different instances."""
    monkeypatch.chdir(tmp_path)
    loaded = load_settings(None, {})
    plain = Settings()
    for name in ("registry", "data_dir", "exports_dir"):
        assert getattr(loaded, name) == tmp_path / getattr(plain, name)
    relative = {name: getattr(plain, name) for name in ("registry", "data_dir", "exports_dir")}
    assert dataclasses.replace(loaded, **relative) == plain


def test_the_schema_accepts_the_shipped_file_and_knows_every_key() -> None:
    """Editors check with it while people type."""
    schema = json.loads((CONFIG / "harvest.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(as_json(CONFIG / "harvest.yaml"), schema)
    known = set()
    for key, value in schema["properties"].items():
        known |= {f"{key}.{inner}" for inner in value["properties"]} if "properties" in value else {key}
    assert known == set(READERS)


def test_the_defaults_of_the_schema_are_the_defaults() -> None:
    """Editors show them when the pointer rests on a key."""
    schema = json.loads((CONFIG / "harvest.schema.json").read_text("utf-8"))
    shipped = as_json(CONFIG / "harvest.yaml")
    for key, value in schema["properties"].items():
        for inner, definition in value.get("properties", {}).items():
            assert definition["default"] == shipped[key][inner], f"{key}.{inner}"
        if "properties" not in value:
            assert value["default"] == shipped[key], key


def test_paths_are_relative_to_the_settings_file(file: Path) -> None:
    """An instance can be started from anywhere."""
    settings = load(file, "registry: r/providers.yaml\ndata_dir: /srv/data\n", HARVEST_EXPORTS_DIR="out")
    assert settings.registry == file.parent / "r" / "providers.yaml"
    assert settings.data_dir == Path("/srv/data")
    assert settings.exports_dir == file.parent / "out"
    assert settings.file == file


def test_paths_left_out_are_those_of_the_design(file: Path) -> None:
    """`../var` and `../exports` beside the folder of the settings."""
    settings = load(file, "")
    top = file.parent.parent
    assert (settings.registry, settings.data_dir, settings.exports_dir) == (
        file.parent / "registry.yaml",
        top / "var",
        top / "exports",
    )


def test_a_cache_of_no_size_is_none(file: Path) -> None:
    """It can be switched off, in the file and from outside."""
    assert load(file, "query: {cache: 0}\n").query.cache == 0
    assert load(file, "query: {cache: 64MiB}\n").query.cache == 64 << 20
    assert load(file, "", HARVEST_QUERY__CACHE="0").query.cache == 0


def test_values_are_read_in_their_units(file: Path) -> None:
    """People write 2GiB and 5m, and the program counts bytes and seconds."""
    settings = load(
        file,
        """
        http: {max_bytes: 1.5GiB, total_s: 1h30m, retries: 0, read_s: 0.5}
        query: {memory: 500MB, max_rows: 2_000_000, union_default_graph: off}
        schedule: {update: 5m, export: P1D, status: PT90S}
        wash: {memory: 1048576}
        guard: {share: 1e-1, floor: 0}
        features: {"http://example.org/x#All": full, "urn:x:some": partial}
        """,
    )
    assert settings.http.max_bytes == GIB * 3 // 2
    assert (settings.http.total_s, settings.http.read_s, settings.http.retries) == (5400, 0.5, 0)
    assert (settings.query.memory, settings.query.max_rows) == (500_000_000, 2_000_000)
    assert settings.query.union_default_graph is False
    assert dataclasses.astuple(settings.schedule) == (300, 86400, 90)
    assert settings.wash.memory == 1 << 20
    assert (settings.guard.share, settings.guard.floor) == (0.1, 0)
    assert settings.features == {"http://example.org/x#All": "full", "urn:x:some": "partial"}


def test_a_variable_overrides_the_file(file: Path) -> None:
    """A container sets one value without a file of its own."""
    settings = load(
        file,
        "http: {allow_loopback: false, parallel: 3}\n",
        HARVEST_HTTP__ALLOW_LOOPBACK="true",
        HARVEST_HTTP__MAX_BYTES="2GiB",
        HARVEST_HTTP__CONTACT="12345",
        HARVEST_WRITE_BACK="0",
        HARVEST_BASE_URL="https://data.example.org/lod/",
        PATH="/bin",
    )
    assert settings.http.allow_loopback is True
    assert (settings.http.parallel, settings.http.max_bytes, settings.http.contact) == (3, 2 * GIB, "12345")
    assert settings.write_back is False
    assert settings.base_url == "https://data.example.org/lod"


def test_reserved_variables_are_no_settings(file: Path) -> None:
    """They say where to find the file and the test data."""
    assert load(file, "", **dict.fromkeys(RESERVED, "x")) == load(file, "")


def test_an_unknown_variable_is_named_with_the_nearest(file: Path) -> None:
    """A misspelt variable would otherwise do nothing, in silence."""
    error = refused(file, "", HARVEST_HTTP__ALOW_LOOPBACK="true", HARVEST_FEATURES="{}")
    assert "HARVEST_HTTP__ALOW_LOOPBACK is no setting" in error.message
    assert "HARVEST_HTTP__ALLOW_LOOPBACK" in error.message
    assert "HARVEST_FEATURES can only be set in the settings file" in error.message


@pytest.mark.parametrize("key", READERS)
def test_every_variable_is_checked_like_its_key(file: Path, key: str) -> None:
    """No value comes in unread by way of the environment."""
    if key in ("http.contact", "registry", "data_dir", "exports_dir", "scratch_dir"):
        assert load(file, "", **{variable(key): "x"}) != load(file, "")
    else:
        assert variable(key) in refused(file, "", **{variable(key): "nonsense"}).message


def test_an_unknown_key_is_named_with_the_nearest_and_its_place(file: Path) -> None:
    """The person who misspelt it sees at once what was meant."""
    error = refused(file, "bind: 127.0.0.1:1\nhttp:\n  paralel: 3\n")
    assert error.message == f"{file}:3:3: unknown key 'paralel'; the nearest known key is 'parallel' of http"
    assert (error.url, error.line, error.column) == (str(file), 3, 3)


def test_all_that_is_wrong_is_reported_at_once(file: Path) -> None:
    """Mending one mistake after the other takes a restart each."""
    error = refused(file, "basurl: x\nguard: {share: 2}\nbind: nowhere\n", HARVEST_STORE="virtuoso")
    assert [line.split(": ", 1)[0] for line in error.message.splitlines()] == [
        f"{file}:1:1",
        f"{file}:2:16",
        f"{file}:3:7",
        "environment",
    ]
    assert "'base_url'" in error.message


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("a:\n\tb: c\n", 2, 1, "is not YAML"),
        ("http: {parallel: 3\nguard: x\n", 2, 6, "is not YAML"),
        ("http:\n  parallel: 2\nhttp: {}\n", 3, 1, "'http' stands here again; it is on line 1 already"),
        ("guard:\n  floor: 1\n  floor: 2\n", 3, 3, "'floor' stands here again"),
        ("write_back: 'true'\n", 1, 13, "must be true or false, not 'true'"),
        ("write_back: 1\n", 1, 13, "must be true or false, not 1"),
        ("http: {parallel: true}\n", 1, 18, "must be a whole number from 1 to 256, not true"),
        ("http: {parallel: 0}\n", 1, 18, "must be a whole number from 1 to 256, not 0"),
        ("http: {parallel: 2.5}\n", 1, 18, "must be a whole number"),
        ("http: {parallel: 010}\n", 1, 18, "must be a whole number"),
        ("http: {parallel: '2'}\n", 1, 18, "must be a whole number"),
        ("http: {max_bytes: 64G}\n", 1, 19, "must be a size in bytes, such as 64GiB"),
        ("http: {max_bytes: 0}\n", 1, 19, "must be a size from 1 byte"),
        ("http: {max_bytes: [1]}\n", 1, 19, "not a list"),
        ("http: {contact: 5}\n", 1, 17, "must be text, not 5; put quotes around it"),
        ("http: {contact: }\n", 1, 17, "must be text, not nothing"),
        ("http: 5\n", 1, 7, "http must be a mapping of keys to values, not 5"),
        ("guard: {share: 1.5}\n", 1, 16, "must be a number from 0 to 1, not 1.5"),
        ("guard: {share: .nan}\n", 1, 16, "must be a number from 0 to 1"),
        ("schedule: {update: 0}\n", 1, 20, "must be a length of time from 1 to"),
        ("schedule: {update: P1M}\n", 1, 20, "must be a length of time"),
        ("base_url: localhost:8080\n", 1, 11, "must be an absolute http or https address"),
        ("base_url: http://h/?x\n", 1, 11, "must have no query"),
        ("base_url: 'http://h/a b'\n", 1, 11, "must be an absolute http or https address"),
        ("graph_base: ftp://h/\n", 1, 13, "must be an absolute http or https address"),
        ("graph_base: http://h/graph\n", 1, 13, "must end in / or #"),
        ("bind: :8080\n", 1, 7, "must be host:port"),
        ("bind: 127.0.0.1:99999\n", 1, 7, "must be host:port"),
        ("store: {query: http://h/q}\n", 1, 8, "needs update"),
        ("store: {query: ftp://h/q, update: http://h/u}\n", 1, 16, "not an address with http:// or https://"),
        ("store: {query: http://h/q, update: http://h/u, user: x}\n", 1, 8, "needs password"),
        ("store: {query: http://h/q, update: http://h/u, user: x, password: x}\n", 1, 67, "not a variable"),
        ("store: {url: http://h/q}\n", 1, 9, "there are query, update"),
        ("store: virtuoso\n", 1, 8, "must be embedded"),
        ("workers: 4\n", 1, 10, "must be text, not 4"),
        ("content: s3://key:secret@bucket\n", 1, 10, "must be s3://bucket/prefix without credentials, file:///folder"),
        ("content: file://host/folder\n", 1, 10, "must be s3://bucket/prefix without credentials, file:///folder"),
        ("content: file:///a/../b\n", 1, 10, "must be s3://bucket/prefix without credentials, file:///folder"),
        ("workers: dask://scheduler\n", 1, 10, "must be local, or the dask://host:port of a scheduler"),
        ("workers: tcp://scheduler:8786\n", 1, 10, "must be local, or the dask://host:port"),
        ("workers: dask://scheduler:99999\n", 1, 10, "must be local, or the dask://host:port"),
        ("features: {FullDump: full}\n", 1, 12, "no absolute IRI: FullDump"),
        ("features: {'http://h/#F': whole}\n", 1, 27, "to full or partial, not to whole"),
        ("features: [a]\n", 1, 11, "must map feature IRIs"),
        ("registry: ''\n", 1, 11, "must be a path"),
        ("- base_url\n", 1, 1, "must be a mapping of keys to values, not a list"),
        ("a: &x 1\nb: *x\n", 2, 4, "an alias (*x) is not read here"),
        ("a: 1\n---\nb: 2\n", 2, 1, "is not YAML"),
        ("[a]: 1\n", 1, 1, "a key must be a word"),
        ("base_url: \x07\n", 1, 11, "is not YAML"),
        (b"# ok\nbind: \xff\n", 2, 7, "is not UTF-8: byte 0xff"),
        ("base_url: !!python/object/apply:os.system ['true']\n", 1, 11, "must be an address, not a list"),
    ],
)
def test_what_is_wrong_has_its_place(file: Path, text: str | bytes, line: int, column: int, said: str) -> None:
    """Every mistake that people make in such a file is led to by line and column."""
    messages = refused(file, text).message.splitlines()
    assert any(m.startswith(f"{file}:{line}:{column}: ") and said in m for m in messages), messages


@pytest.mark.parametrize(
    "token", ["short", "fifteen-letters", "sixteen letters!", "sixteen-letters\u00e4", "12345678901"]
)
def test_an_operator_token_that_guards_nothing_is_refused_without_being_shown(file: Path, token: str) -> None:
    """What is reported of settings ends in logs; digits without quotes are no text in YAML."""
    quote = "" if token.isdigit() else '"'
    error = refused(file, f"query:\n  operator_token: {quote}{token}{quote}\n")
    assert ":2:19: query.operator_token must" in error.message
    assert token not in error.message
    error = refused(file, "", HARVEST_QUERY__OPERATOR_TOKEN=token)
    assert "HARVEST_QUERY__OPERATOR_TOKEN must have at least 16" in error.message
    assert token not in error.message


def test_an_operator_token_is_read_and_not_shown(file: Path) -> None:
    """Whoever prints settings prints no secret."""
    assert load(file, "query:\n  operator_token: 0123456789abcdef\n").query.operator_token == "0123456789abcdef"
    digits = load(file, "", HARVEST_QUERY__OPERATOR_TOKEN="1234567890123456")
    assert digits.query.operator_token == "1234567890123456"
    assert "1234567890123456" not in repr(digits)
    assert load(file, "query:\n  operator_token:\n").query.operator_token == ""


def test_sections_may_be_commented_out(file: Path) -> None:
    """A section whose keys are all comments is an empty one, not a mistake."""
    assert load(file, "http:\n  # parallel: 8\nguard: ~\n") == load(file, "# nothing\n")


def test_an_address_of_copies_that_are_nowhere_is_refused(file: Path) -> None:
    """Nobody would be led there."""
    with pytest.raises(SettingsError, match="exports_storage names none"):
        load(file, "exports_url: https://cdn.example/harvest/\n")
    both = load(file, "exports_url: https://cdn.example/harvest/\nexports_storage: s3://bucket/x/\n")
    assert (both.exports_url, both.exports_storage) == ("https://cdn.example/harvest", "s3://bucket/x")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """Defaults in its place would start another instance than was meant."""
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        load_settings(tmp_path / "none.yaml", {})


@pytest.mark.parametrize("bind", ["0.0.0.0:80", "[::1]:0", "data.example.org:8443"])
def test_the_forms_of_an_address_to_listen_on(file: Path, bind: str) -> None:
    """Port 0 lets the system choose one, which the demo and the tests do."""
    assert load(file, f"bind: '{bind}'").bind == bind


def test_deep_nesting_is_an_error_and_no_crash(file: Path) -> None:
    """A file that is not ours must not end the program with a traceback."""
    assert "is nested more than 20 levels deep" in refused(file, "a: " + "[" * 100_000 + "]" * 100_000).message
