"""SPARQL updates of an operator, each a version."""
