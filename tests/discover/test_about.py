"""What a description says of a dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.discover.about import EXAMPLES, LONGEST
from harvest.model import About
from tests.discover.describe import URL, described

PREFIX = "@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n"
DUMP = "void:dataDump <d.ttl> ; dcterms:modified '2020-01-01'"


def about_of(folder: Path, said: str, rest: str = "") -> About:
    """What is read of a dataset whose description says `said`, and `rest` elsewhere."""
    [about] = described(folder, f"{PREFIX}<#d> a void:Dataset ; {DUMP} {'; ' + said if said else ''} . {rest}").about
    assert about.iri == URL + "#d"
    return about


def test_nothing_is_read_of_a_dataset_that_says_nothing(tmp_path: Path) -> None:
    """Nothing is guessed."""
    assert about_of(tmp_path, "") == About(URL + "#d")


def test_all_that_people_are_shown_is_read(tmp_path: Path) -> None:
    """A publisher by its name, wherever in the document that stands."""
    said = (
        "dcterms:title 'Schiffe'@de, 'Ships'@en ; dcterms:description ' All of them. ' ; "
        "dcterms:license <http://l.example/cc0> ; dcterms:publisher <#p> ; foaf:homepage <http://h.example/> ; "
        "void:exampleResource <http://x.example/1>, <http://x.example/2>"
    )
    assert about_of(tmp_path, said, "<#p> foaf:name 'The Institute' .") == About(
        URL + "#d",
        "Ships",
        "All of them.",
        "http://l.example/cc0",
        "The Institute",
        "http://h.example/",
        ("http://x.example/1", "http://x.example/2"),
    )


@pytest.mark.parametrize(
    ("said", "publisher"),
    [
        ("dcterms:publisher <http://p.example/>", "http://p.example/"),
        ("dcterms:publisher [ rdfs:label 'P' ]", "P"),
        ("dcterms:publisher [ ]", None),
        ("dcterms:publisher 'In words'", "In words"),
        ("dcterms:creator 'Somebody'", "Somebody"),
    ],
)
def test_a_publisher_is_read_in_whatever_way_it_is_said(tmp_path: Path, said: str, publisher: str | None) -> None:
    """A blank node without a name says nothing to anybody."""
    assert about_of(tmp_path, said).publisher == publisher


def test_what_a_subset_does_not_say_is_taken_from_around_it(tmp_path: Path) -> None:
    """But not the title, which is of the whole."""
    body = "<#all> a void:Dataset ; dcterms:title 'All' ; dcterms:license <http://l.example/> ; void:subset <#d> ."
    [about] = described(tmp_path, f"{body} <#d> {DUMP} .").about
    assert (about.title, about.licence) == (None, "http://l.example/")


def test_long_texts_and_many_examples_are_cut(tmp_path: Path) -> None:
    """They stand on a page, not in a book."""
    examples = ", ".join(f"<http://x.example/{n}>" for n in range(50))
    about = about_of(tmp_path, f"dcterms:description '{'x' * 5000}' ; void:exampleResource {examples}")
    assert len(about.description or "") == LONGEST
    assert len(about.examples) == EXAMPLES
