"""Reading N-Triples, N-Quads, Turtle, TriG and N3."""
