"""ResourceSync documents: read, found from any page, and decided about."""
