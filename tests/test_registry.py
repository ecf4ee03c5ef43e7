"""The registry is read whole, and what is wrong with it is reported with its place."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import jsonschema
import pytest
import yaml

from harvest.config.places import located
from harvest.config.registry import KEYS, check_registry, load_registry
from harvest.errors import RegistryError
from harvest.model import Limits, Provider, Removals, Source
from tests.config_files import CONFIG, as_json

GEOLINK = """\
d1lod:
  modified: 2015-10-01
  void: http://lod.dataone.org/void.ttl
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the registry of a test stands."""
    return tmp_path / "registry.yaml"


def provider(file: Path, keys: str) -> Provider:
    """The one provider of a registry whose entry has these keys, in flow style."""
    file.write_text(f"a: {{void: 'http://h/v', {keys}}}\n")
    return load_registry(file).providers[0]


def findings_of(file: Path, text: str | bytes) -> list[str]:
    """The findings of a registry's check, each as `line:column: message`."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return [located(finding).removeprefix(f"{file}:") for finding in check_registry(file)[1]]


def test_the_example_of_the_geolink_document_is_read(file: Path) -> None:
    """The format of the registry is exactly the one of that document."""
    file.write_text(GEOLINK)
    registry = load_registry(file)
    expected = Provider(
        "d1lod", Source.VOID, "http://lod.dataone.org/void.ttl", modified=datetime(2015, 10, 1, tzinfo=UTC), line=1
    )
    assert registry.providers == (expected,)
    assert registry.digest == hashlib.sha256(GEOLINK.encode()).hexdigest()


def test_every_key_is_read(file: Path) -> None:
    """What a provider may say of itself reaches the platform."""
    file.write_text(
        """
# the first of two
one:
  sitemap: https://example.org/sitemap.xml
  modified: '2015-12-04 14:25:44.758604'
  interval: 5m
  removals: mirror
  limits: {max_bytes: 500MB, total_s: 1h}
  contact: "Jo, jo@example.org"
  notify: jo@example.org
  enabled: no
no: {dump: http://example.org/d.nt}
"""
    )
    one, no = load_registry(file).providers
    assert one == Provider(
        name="one",
        source=Source.SITEMAP,
        url="https://example.org/sitemap.xml",
        modified=datetime(2015, 12, 4, 14, 25, 44, 758604, tzinfo=UTC),
        interval=300,
        removals=Removals.MIRROR,
        limits=Limits(500_000_000, 3600),
        contact="Jo, jo@example.org",
        notify="jo@example.org",
        enabled=False,
        line=3,
    )
    assert no == Provider("no", Source.DUMP, "http://example.org/d.nt", line=12)


@pytest.mark.parametrize("source", sorted(set(Source) - {Source.UPDATES, Source.HANDLER}))
def test_every_kind_of_source_is_read(file: Path, source: Source) -> None:
    """The kinds of description share one form."""
    file.write_text(f"a:\n  {source}: http://h/x\n")
    read = load_registry(file).providers[0]
    assert (read.source, read.url) == (source, "http://h/x")


def test_a_handler_is_read(file: Path) -> None:
    """It has a name beside its address."""
    file.write_text("a:\n  handler: {name: json-list, url: http://h/x}\n")
    assert load_registry(file).providers == (Provider("a", Source.HANDLER, "http://h/x", line=1, handler="json-list"),)
    for wrong in ("http://h/x", "{name: void}", "{name: a b, url: http://h/x}", "{name: void, url: x}"):
        file.write_text(f"a:\n  handler: {wrong}\n")
        with pytest.raises(RegistryError, match=r":2:\d+: a\.handler must"):
            load_registry(file)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2015-10-01", datetime(2015, 10, 1, tzinfo=UTC)),
        ("'2015-10-01'", datetime(2015, 10, 1, tzinfo=UTC)),
        ("2015-12-04 14:25:44.758604", datetime(2015, 12, 4, 14, 25, 44, 758604, tzinfo=UTC)),
        ("2015-12-04T14:25:44Z", datetime(2015, 12, 4, 14, 25, 44, tzinfo=UTC)),
        ("2015-12-04t14:25:44z", datetime(2015, 12, 4, 14, 25, 44, tzinfo=UTC)),
        ("2015-12-04T14:25:44+02:00", datetime(2015, 12, 4, 14, 25, 44, tzinfo=timezone(timedelta(hours=2)))),
        ("", None),
        ("~", None),
        ("''", None),
    ],
)
def test_every_form_of_modified_is_read(file: Path, written: str, expected: datetime | None) -> None:
    """People and earlier harvesters wrote it in several ways; without a zone it is UTC."""
    read = provider(file, f"modified: {written}").modified
    assert read == expected
    assert read is None or read.tzinfo is UTC


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        *[("90", 90), ("1.5", 1.5), ("5m", 300), ("1h", 3600), ("1d", 86400), ("2w", 1209600), ("1h 30m", 5400)],
        *[("P1D", 86400), ("PT1H30M", 5400), ("P1DT12H", 129600), ("P2W", 1209600), ("PT0.5S", None), ("P1Y", None)],
    ],
)
def test_every_form_of_interval_is_read(file: Path, written: str, seconds: float | None) -> None:
    """Seconds, short forms and ISO 8601; below a second and lengths without a fixed size are refused."""
    if seconds is None:
        with pytest.raises(RegistryError, match="interval must be a length of time"):
            provider(file, f"interval: {written}")
    else:
        assert provider(file, f"interval: {written}").interval == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n  viod: http://h/\n", "2:3: unknown key 'viod'; the nearest known key is 'void'"),
        ("a:\n  viod: http://h/\n", "1:1: 'a' must have one of the keys void, resourcesync, sitemap, dcat"),
        (
            "a:\n  void: http://h/\n  intervall: 5\n",
            "3:3: unknown key 'intervall'; the nearest known key is",
        ),
        ("a:\n  void: http://h/\n  dump: http://h/\n", "3:3: 'a' must have only one of the keys"),
        ("a:\n  void: http://h/\n  void: http://h/\n", "3:3: 'void' stands here again; it is on line 2 already"),
        ("a: {void: h/void.ttl}\n", "1:11: a.void must be an absolute http or https address, not h/void.ttl"),
        ("a: {void: 'http://h:x/'}\n", "1:11: a.void must be an absolute http or https address"),
        ("a: {void: 'http:///x'}\n", "1:11: a.void must be an absolute http or https address"),
        ("a: {void: }\n", "must be an absolute http or https address, not nothing"),
        ("a: {void: [http://h/]}\n", "1:11: a.void must be an address, not a list"),
        (GEOLINK + GEOLINK, "4:1: 'd1lod' stands here again; it is on line 1 already"),
        (GEOLINK + GEOLINK.replace("d1", "D1"), "4:1: 'D1lod' differs from 'd1lod' in capitals only"),
        ("a_b: {void: http://h/}\n", "1:1: a provider's name has 1 to 100 letters a-z, A-Z and digits; 'a_b' has not"),
        ("'': {void: http://h/}\n", "1:1: a provider's name has"),
        ("ä: {void: http://h/}\n", "1:1: a provider's name has"),
        ("All: {void: http://h/}\n", "1:1: no provider may be named 'All'"),
        ("a: {void: http://h/, modified: soon}\n", "1:32: a.modified must be a date or a date and time"),
        ("a: {void: http://h/, modified: 2015-02-30}\n", "1:32: a.modified must be a date"),
        ("a: {void: http://h/, modified: [2015-02-03]}\n", "1:32: a.modified must be a date"),
        ("a: {void: http://h/, removals: drop}\n", "1:32: a.removals must be keep or mirror, not drop"),
        ("a: {void: http://h/, enabled: 1}\n", "1:31: a.enabled must be true or false, not 1"),
        (
            "a: {void: http://h/, notify: somebody}\n",
            "1:30: a.notify must be an http or https address or a mail",
        ),
        ("a: {void: http://h/, contact: 5}\n", "1:31: a.contact must be text, not 5"),
        ("a: {void: http://h/, limits: {max_byte: 5}}\n", "1:31: unknown key 'max_byte'; the nearest known key is"),
        ("a: {void: http://h/, limits: {max_bytes: many}}\n", "1:42: a.limits.max_bytes must be a size in bytes"),
        ("a: {void: http://h/, limits: 5}\n", "1:30: a.limits must be a mapping"),
        ("a: http://h/\n", "1:4: the entry of 'a' must be a mapping of keys to values, not http://h/"),
        ("a:\n", "the entry of 'a' must be a mapping of keys to values, not nothing"),
        ("- a\n", "1:1: the registry must be a mapping of keys to values, not a list"),
        ("a:\n  void: http://h/\n <<: x\n", "is not YAML"),
        ("a: &x {void: http://h/}\nb: *x\n", "2:4: an alias (*x) is not read here; write the value out"),
        ("a:\n\tvoid: http://h/\n", "2:1: is not YAML"),
        (b"# caf\xe9\n", "1:6: is not UTF-8: byte 0xe9; save it as UTF-8"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(file: Path, text: str | bytes, message: str) -> None:
    """A pull request is mended from the message alone."""
    assert any(message in each for each in findings_of(file, text))
    assert check_registry(file)[0] is None


def test_all_that_is_wrong_is_reported_at_once_in_the_order_of_the_file(file: Path) -> None:
    """One look at the check of a pull request shows all there is to mend."""
    text = "b: {void: x}\na:\n  modified: soon\n  voit: x\na_: {dump: http://h/}\n"
    assert [each.split(": ")[0] for each in findings_of(file, text)] == ["1:11", "2:1", "3:13", "4:3", "5:1"]
    with pytest.raises(RegistryError) as caught:
        load_registry(file)
    assert caught.value.message.count("\n") == 4
    assert (caught.value.url, caught.value.line, caught.value.column) == (str(file), 1, 11)


def test_two_providers_at_one_address_are_odd_but_not_wrong(file: Path) -> None:
    """They may be a slip, or one description harvested in two ways."""
    text = "a: {void: http://h/}\nb: {void: http://h/}\n"
    assert findings_of(file, text) == ["2:1: 'b' has the same address as 'a' on line 1"]
    assert len(load_registry(file).providers) == 2


@pytest.mark.parametrize("text", ["", "# nobody yet\n", "---\n", "{}\n", "\ufeff"])
def test_an_empty_registry_is_one_without_providers(file: Path, text: str) -> None:
    """A new instance starts so."""
    assert findings_of(file, text) == []
    assert load_registry(file).providers == ()


def test_a_byte_order_mark_and_windows_line_ends_are_read(file: Path) -> None:
    """Editors on Windows write both."""
    file.write_bytes(b"\xef\xbb\xbf" + GEOLINK.replace("\n", "\r\n").encode())
    assert load_registry(file).providers[0].modified == datetime(2015, 10, 1, tzinfo=UTC)


def test_a_missing_registry_is_reported(tmp_path: Path) -> None:
    """An instance without its registry must say so, not harvest nothing."""
    with pytest.raises(RegistryError, match="cannot be read: No such file"):
        load_registry(tmp_path / "registry.yaml")


def test_the_slow_loader_gives_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML may have been built without libyaml."""
    file.write_text(GEOLINK + "b: {void: x, modified: }\nc:\n  modified:\n  dump: http://h/\n")
    fast = check_registry(file)
    monkeypatch.setattr("harvest.config.places.LOADER", yaml.SafeLoader)
    assert check_registry(file) == fast


def test_a_thousand_providers_are_read_quickly(file: Path) -> None:
    """The registry is read again whenever it changes, between two ticks."""
    file.write_text("".join(GEOLINK.replace("d1lod:", f"p{n}:").replace("org/", f"org/{n}/") for n in range(1000)))
    started = time.thread_time()
    assert len(load_registry(file).providers) == 1000
    assert time.thread_time() - started < 1  # 0.05 s where nothing else runs


def test_the_shipped_registry_is_right() -> None:
    """It is what a new instance harvests, and the example for those who add an entry."""
    registry, findings = check_registry(CONFIG / "registry.yaml")
    assert registry is not None
    assert findings == []
    assert len(registry.providers) >= 4
    assert all(p.modified is None and p.source is Source.VOID and p.interval for p in registry.providers)


def test_the_entry_that_the_shipped_registry_shows_is_right(file: Path) -> None:
    """People copy it out of the comment."""
    lines = (CONFIG / "registry.yaml").read_text("utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if "exampleMuseum:" in line)
    shown = [line.removeprefix("#   ") for line in lines[first:] if line.startswith("#   ")]
    file.write_text("\n".join(shown))
    read = load_registry(file).providers[0]
    assert (read.name, read.enabled, read.interval) == ("exampleMuseum", False, 86400)
    assert read.limits == Limits(2 << 30, 3600)


def test_a_graph_that_updates_write_has_no_address(file: Path) -> None:
    """It becomes exactly what they make of it, and two of them have no address in common."""
    file.write_text("a:\n  updates: true\nb:\n  updates: yes\n  contact: jo@example.org\n")
    registry, findings = check_registry(file)
    assert registry is not None and findings == []
    assert [(p.source, p.url, p.removals) for p in registry.providers] == [(Source.UPDATES, "", Removals.MIRROR)] * 2
    assert [p.is_looked_at for p in registry.providers] == [False, False]


@pytest.mark.parametrize("written", ["false", "no", "http://h/", "[true]", "1"])
def test_updates_are_true_or_not_there(file: Path, written: str) -> None:
    """`updates: false` would be an entry without a source."""
    file.write_text(f"a:\n  updates: {written}\n")
    with pytest.raises(RegistryError, match=r"yaml:2:12: a\.updates must be true, not .*`enabled: false`"):
        load_registry(file)


def test_keys_that_say_nothing_of_a_graph_of_updates_are_reported(file: Path) -> None:
    """Somebody who writes `interval` expects something to happen."""
    file.write_text("a:\n  updates: true\n  modified: 2015-01-01\n  interval: 1d\n  removals: keep\n  limits:\n")
    registry, findings = check_registry(file)
    assert registry is not None
    assert [(f.kind, f.line, f.fatal) for f in findings] == [("unused-key", line, False) for line in (3, 4, 5, 6)]
    assert "a.interval says nothing here" in findings[1].message


def _schema() -> jsonschema.Draft7Validator:
    schema = json.loads((CONFIG / "registry.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_schema_accepts_the_shipped_registry_and_knows_every_key() -> None:
    """Editors check with it while people type."""
    schema = _schema()
    schema.validate(as_json(CONFIG / "registry.yaml"))
    entry = schema.schema["definitions"]["provider"]["properties"]
    assert set(entry) == {*KEYS, *Source, "limits"}


@pytest.mark.parametrize(
    "text",
    [
        GEOLINK,
        "a: {void: http://h/, modified: '2015-12-04 14:25:44.758604', interval: PT5M, limits: {max_bytes: 1GiB}}",
        "a: {void: http://h/, modified: , notify: mailto:a@b, enabled: false}",
        "",
        "a: {resourcesync: http://h/}",
        "a: {resourcesync: {source: 'http://h/', prefix: h}}",
        "a: {resourcesync: {source: 'http://h/'}}",
        "a: {resourcesync: {source: h, prefix: h}}",
        "a: {resourcesync: {source: 'http://h/', prefix: h-}}",
        "a: {resourcesync: {source: 'http://h/', prefix: h, more: h}}",
        "a: {updates: true}",
        "a: {updates: yes, contact: jo@example.org, enabled: false}",
        "a: {updates: false}",
        "a: {updates: }",
        "a: {updates: http://h/}",
        "a: {updates: true, dump: http://h/}",
        "a: {viod: http://h/}",
        "a: {void: http://h/, dump: http://h/}",
        "a: {void: h}",
        "a_: {void: http://h/}",
        "all: {void: http://h/}",
        "a: {void: http://h/, modified: soon}",
        "a: {void: http://h/, interval: P1M}",
        "a: {void: http://h/, limits: {max_bytes: 64G}}",
        "a: {void: http://h/, enabled: 1}",
        "a: x",
    ],
)
def test_the_schema_and_the_check_agree(file: Path, text: str) -> None:
    """What an editor accepts must not fail in the pull request, nor the other way round."""
    findings_of(file, text)
    assert _schema().is_valid(as_json(text)) == (check_registry(file)[0] is not None)


def test_the_workflow_checks_pull_requests_on_the_registry() -> None:
    """A provider that adds itself gets an answer without waiting for a person."""
    workflow = yaml.load((CONFIG.parent / ".github/workflows/registry.yml").read_text("utf-8"), yaml.BaseLoader)
    assert "config/registry.yaml" in workflow["on"]["pull_request"]["paths"]
    assert workflow["permissions"] == {"contents": "read"}
    commands = [step.get("run", "") for step in workflow["jobs"]["check"]["steps"]]
    assert any('harvest" check config/registry.yaml' in command for command in commands)


def test_a_repository_is_looked_at_once_a_day(file: Path) -> None:
    """Unless the registry says otherwise: its answers count their visitors, and each is filed."""
    file.write_text("a:\n  dataset: https://zenodo.org/records/1\nb:\n  dataset: 10.5281/zenodo.1\n  interval: 1h\n")
    assert [provider.interval for provider in load_registry(file).providers] == [86400, 3600]
