"""How deep queries nest, and what of them takes stack."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.errors import RequestError
from sparql.protocol.extent import DEPTH, STACK_BYTES, TOKENS, deep, deep_stack, refuse_length, refuse_nesting

NESTED = {
    "groups": ("SELECT * {", "{", "}", "}"),
    "expressions": ("SELECT * { FILTER(", "(", "1", ")", ")}"),
    "calls": ("SELECT * { FILTER(", "IF(1,1,", "1", ")", ")}"),
    "paths": ("SELECT * { ?s ", "(", "<a:p>", ")*", " ?o }"),
    "lists": ("SELECT * { ?s ?p ", "(", "1", ")", "}"),
    "nodes": ("SELECT * { ?s ?p ", "[<a:p> ", "1", "]", "}"),
    "subqueries": ("SELECT * ", "{SELECT * ", "{}", "}", ""),
    "exists": ("SELECT * {", "FILTER EXISTS {", "", "}", "}"),
    "optional": ("SELECT * {", "OPTIONAL {?s ?p ?o ", "", "}", "}"),
    "graphs": ("SELECT * {", "GRAPH ?g {", "", "}", "}"),
    "IN": ("SELECT * { FILTER(", "1 IN (", "1", ")", ")}"),
}
"""Begin, opening, innermost, closing, end."""
CHAINS = {
    ("SELECT * {{}", "UNION{}", "}"): 3,
    ("SELECT * {", "MINUS{?s ?p ?o}", "}"): 6,
    ("SELECT * {", "FILTER(1)", "}"): 4,
    ("SELECT * {", "BIND(1 AS ?x%)", "}"): 6,
    ("SELECT * { FILTER(", "!", "1)}"): 1,
    ("SELECT * { FILTER(1", "||?a", ")}"): 3,
    ("SELECT * { FILTER(1", "+1", ")}"): 2,
    ("SELECT * { ?s <a:p>", "|<a:p>", " ?o }"): 2,
    ("SELECT ", "(COUNT(*) AS ?x%) ", "{}"): 8,
}
"""Begin, link and end of what recurs, and the tokens of a link; `%` stands for its number."""
PARSED = f"""
import json, sys, threading
from pyoxigraph import Store
def parsed():
    for number, text in enumerate(json.load(sys.stdin)):
        Store().query(text)
        print(number, flush=True)
threading.stack_size({STACK_BYTES // 250})
threading.Thread(target=parsed).start()
"""


def nested(kind: str, levels: int) -> str:
    begin, opening, *inner, closing, end = NESTED[kind]
    return begin + opening * levels + "".join(inner) + closing * levels + end


def chain(kind: tuple[str, str, str], links: int) -> str:
    begin, link, end = kind
    return begin + "".join(link.replace("%", str(n)) for n in range(links)) + end


@pytest.mark.parametrize("kind", NESTED)
def test_what_is_nested_too_deep_is_refused_where_it_is(kind: str) -> None:
    """The parser would end the process."""
    text = nested(kind, 10_000)
    with pytest.raises(RequestError, match=r"^The query is nested more than 1,000 deep at line 1, column "):
        refuse_nesting(text)
    refuse_nesting(nested(kind, DEPTH // 2))


def test_what_is_let_through_finds_its_stack() -> None:
    """The bounds and the stack belong together: a part of the stack holds the same part of each bound."""
    texts = [nested(kind, 60) for kind in NESTED if kind != "lists"] + [nested("lists", 20)]
    texts += [chain(kind, TOKENS // 250 // tokens) for kind, tokens in CHAINS.items()]
    done = subprocess.run(
        [sys.executable, "-c", PARSED],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.split() == [str(n) for n in range(len(texts))], done.stderr


@given(st.integers(1, 4), st.sampled_from(["<a:(((>", "'((('", '"""{{{"""', "# ((({\n", "<a:b>", "ex:a\\(\\("]))
def test_brackets_in_names_texts_and_comments_nest_nothing(times: int, opaque: str) -> None:
    """Data are full of them."""
    refuse_nesting("SELECT * {" + opaque * 1_000 * times)
    with pytest.raises(RequestError):
        refuse_nesting("SELECT * {" + f"({opaque}" * 1_000 * times)


def test_brackets_side_by_side_nest_nothing() -> None:
    """A query may have many."""
    refuse_nesting("SELECT * { VALUES (?a ?b) {" + "(1 [])" * 50_000 + "}}")


def test_a_query_of_too_many_tokens_is_refused_and_values_are_no_tokens() -> None:
    """What a program lists belongs into VALUES, which takes no stack."""
    text = chain(("SELECT * { FILTER(1", "+1", ")}"), TOKENS)
    with pytest.raises(RequestError, match=r"is made of 500,\d+ tokens"):
        refuse_length(text)
    many = "'}' <a:b> 1.5 # }\n" * 100_000
    refuse_length(f"SELECT * {{ VALUES ?x {{ {many} }} VALUES (?y) {{ {many} }} }}")
    with pytest.raises(RequestError):
        refuse_length(f"SELECT * {{ ?s <a:p>/ex:VALUES ?x {{ {many} }} }}")
    refuse_length(f"INSERT DATA {{ GRAPH <a:b> {{ {'<a:s> <a:p> 1 . ' * 100_000} }} }}")


def test_a_stack_that_is_refused_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system that grants no more than it has, queries are answered nevertheless."""
    asked = []
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        size = threading.stack_size()
        asked.append(size)
        if size == STACK_BYTES:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    usual = threading.stack_size()
    assert deep(lambda: 42) == 42
    assert len(asked) == 2 and asked[1] < STACK_BYTES
    with deep_stack():
        pass
    assert threading.stack_size() == usual
