"""The SPARQL Protocol: requests, results, syntax, and what a query is asked over."""
