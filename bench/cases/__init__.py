"""The cases: each module's `run` yields the rows of one case of the benchmark."""
