"""Documents that belong to no provider, and the records of dumps."""
