"""Files out of archives and compressions."""
