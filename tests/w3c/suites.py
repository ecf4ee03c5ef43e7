"""The suites, and how many tests of each kind they hold: one that is lost is missed."""

from __future__ import annotations

from typing import Final

EVALUATION: Final = {
    "sparql10/algebra": 14,
    "sparql10/ask": 4,
    "sparql10/basic": 27,
    "sparql10/bnode-coreference": 1,
    "sparql10/boolean-effective-value": 7,
    "sparql10/bound": 1,
    "sparql10/cast": 7,
    "sparql10/construct": 5,
    "sparql10/dataset": 12,
    "sparql10/distinct": 11,
    "sparql10/expr-builtin": 25,
    "sparql10/expr-equals": 15,
    "sparql10/expr-ops": 18,
    "sparql10/graph": 17,
    "sparql10/i18n": 5,
    "sparql10/open-world": 18,
    "sparql10/optional": 7,
    "sparql10/optional-filter": 5,
    "sparql10/reduced": 2,
    "sparql10/regex": 21,
    "sparql10/solution-seq": 13,
    "sparql10/sort": 14,
    "sparql10/triple-match": 4,
    "sparql10/type-promotion": 30,
    "sparql11/aggregates": 42,
    "sparql11/bind": 10,
    "sparql11/bindings": 11,
    "sparql11/cast": 6,
    "sparql11/construct": 5,
    "sparql11/exists": 6,
    "sparql11/functions": 75,
    "sparql11/grouping": 4,
    "sparql11/negation": 12,
    "sparql11/project-expression": 7,
    "sparql11/property-path": 33,
    "sparql11/service": 7,
    "sparql11/subquery": 14,
}
"""Tests of what a query answers: QueryEvaluationTest."""

FORMATS: Final = {"sparql11/csv-tsv-res": 6, "sparql11/json-res": 4}
"""Tests of how an answer is written."""

SYNTAX: Final = {
    "sparql10/syntax-sparql1": 81,
    "sparql10/syntax-sparql2": 53,
    "sparql10/syntax-sparql3": 51,
    "sparql10/syntax-sparql4": 12,
    "sparql10/syntax-sparql5": 2,
    "sparql11/aggregates": 5,
    "sparql11/construct": 2,
    "sparql11/grouping": 2,
    "sparql11/syntax-fed": 3,
    "sparql11/syntax-query": 94,
}
"""Tests of what is a query and what is none."""

UPDATES: Final = {
    "sparql11/add": 8,
    "sparql11/basic-update": 13,
    "sparql11/clear": 4,
    "sparql11/copy": 6,
    "sparql11/delete": 19,
    "sparql11/delete-data": 6,
    "sparql11/delete-insert": 17,
    "sparql11/delete-where": 6,
    "sparql11/drop": 4,
    "sparql11/move": 6,
    "sparql11/syntax-update-1": 54,
    "sparql11/syntax-update-2": 1,
    "sparql11/update-silent": 13,
}
"""Tests of updates, valid or not."""

REQUESTS: Final = {"sparql11/protocol": 34, "sparql11/service-description": 3}
"""Tests of requests and their responses."""
