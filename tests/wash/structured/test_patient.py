"""RDF/XML that only the patient parser reads: no statement comes out that the document does not make."""

from __future__ import annotations

import re

import pytest

from harvest.wash.structured import rdfxml
from tests.wash.texts import Outcome, outcome

URL = "http://doc.example/f.rdf"
START = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>\n"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
THING = f"<http://doc.example/s> {TYPE} <http://e/T> ."
MORE = '<http://doc.example/s> <http://e/z> "1" .'

INVENTED = {
    "a property without a namespace": "<dcterms>X</dcterms>",
    "a property whose default namespace is taken away": "<p xmlns=''>1</p>",
    "a property in a relative namespace": "<x:p xmlns:x='foo'>1</x:p>",
    "an attribute of a property without a namespace": "<e:p foo='bar'/>",
    "a language without a namespace": "<e:p lang='en'>x</e:p>",
    "a datatype without a namespace": "<e:p datatype='http://e/d'>1</e:p>",
    "a node without a namespace": "<e:p><T/></e:p>",
    "a node with a bad ID": "<e:p><e:U rdf:ID='a b'/></e:p>",
    "a blank node without a namespace": "<e:p><e:U nodeID='b'/></e:p>",
    "a text beside a resource": "<e:p rdf:resource='o'>text</e:p>",
    "a text beside attributes": "<e:p e:q='1'>text</e:p>",
    "a member of a list without a namespace": "<e:p rdf:parseType='Collection'><U/></e:p>",
    "a node that is about each": "<e:p><e:U rdf:aboutEach='x'/></e:p>",
}
"""Properties of which the second parser made statements, or others than were meant."""

ELSEWHERE = {
    "a text before a node": "<e:p>text<e:U rdf:about='u'/></e:p>",
    "a text behind a node": "<e:p><e:U rdf:about='u'/>text</e:p>",
    "two nodes": "<e:p><e:U rdf:about='u'/><e:U rdf:about='u'/></e:p>",
    "a list with a bad end": "<e:p rdf:parseType='Collection'><e:U rdf:about='u'/><e:U rdf:ID='1'/></e:p>",
    "a list with a bad beginning": "<e:p rdf:parseType='Collection'><U/><e:U rdf:about='u'/></e:p>",
}
"""Properties that are none, with nodes in them that are described all the same."""


def read(inner: str) -> Outcome:
    """What comes of some elements within a node and before another property."""
    return outcome(rdfxml.transcribe, f"{START}<e:T rdf:about='s'>{inner}\n<e:z>1</e:z></e:T></rdf:RDF>".encode(), URL)


def said(found: Outcome) -> set[str]:
    """The lines, without the cells of a list, which lead nowhere if half of it was left out."""
    return {line.decode().strip() for line in found.lines if not re.match(rb"_:\S+ <\S+#(first|rest)>", line)}


@pytest.mark.parametrize("what", INVENTED)
def test_what_is_no_property_gives_no_statement(what: str) -> None:
    """`<dcterms>X</dcterms>` became a property under the address of the document."""
    found = read(INVENTED[what])
    assert said(found) == {THING, MORE}
    problem = found.the("syntax")
    assert (problem.line, found.kinds["fallback"]) == (2, 1)
    assert problem.column is not None


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_bad_object_gives_no_other_object(what: str) -> None:
    """What is described within it stays described."""
    found = read(ELSEWHERE[what])
    assert said(found) == {THING, MORE, f"<http://doc.example/u> {TYPE} <http://e/U> ."}
    assert found.kinds["syntax"] == 1


@pytest.mark.parametrize(
    ("node", "kept"),
    [
        ("<T rdf:about='s'><e:z>1</e:z></T>", set()),
        ("<e:T rdf:about='s' foo='bar'><e:z>1</e:z></e:T>", {THING, MORE}),
        ("<e:T rdf:about='s' xmlns:x='foo' x:y='bar'><e:z>1</e:z></e:T>", {THING, MORE}),
        ("<e:T rdf:about='s'>text<e:z>1</e:z></e:T>", {THING, MORE}),
        ("text<e:T rdf:about='s'><e:z>1</e:z></e:T>", {THING, MORE}),
        ("<e:T rdf:aboutEach='s'><e:z>1</e:z></e:T>", set()),
    ],
)
def test_what_is_wrong_with_a_node_is_reported(node: str, kept: set[str]) -> None:
    """A node without a namespace is left out; an attribute or a text that means nothing costs nothing else."""
    found = outcome(rdfxml.transcribe, f"{START}{node}</rdf:RDF>".encode(), URL)
    assert said(found) == kept
    assert found.kinds["syntax"] == 1
    assert found.the("syntax").line == 2


def test_the_old_names_without_a_namespace_are_read() -> None:
    """`about`, `ID`, `resource`, `parseType` and `type` were once written so; processors have to know them."""
    body = "<e:T about='s' type='http://e/U'><e:p resource='o'/><e:q parseType='Resource'><e:r>1</e:r></e:q></e:T>"
    found = outcome(rdfxml.transcribe, f"{START}{body}<e:T ID='i'/></rdf:RDF>".encode(), URL)
    assert found.kinds == {"fallback": 1}
    assert len(found.lines) == 6


def test_members_behind_a_bad_one_keep_their_numbers() -> None:
    """The third of a sequence stays the third."""
    body = "<rdf:Seq rdf:about='s'><rdf:li>a</rdf:li><rdf:li x='y'>b</rdf:li><rdf:li>c</rdf:li></rdf:Seq>"
    found = outcome(rdfxml.transcribe, f"{START}{body}</rdf:RDF>".encode(), URL)
    assert {line.rpartition(b"#")[2] for line in found.lines if TYPE.encode() not in line} == {
        b'_1> "a" .\n',
        b'_3> "c" .\n',
    }


def test_what_is_left_out_counts_with_all_that_is_in_it() -> None:
    """A node with a bad address costs all of its properties."""
    properties = "<e:p>1</e:p>" * 50
    found = outcome(rdfxml.transcribe, f"{START}<T rdf:about='s'>{properties}</T></rdf:RDF>".encode(), URL)
    assert found.problems.lost == 51
