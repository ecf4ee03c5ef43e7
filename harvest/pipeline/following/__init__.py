"""A replica is kept at the versions of the instance that it follows."""
