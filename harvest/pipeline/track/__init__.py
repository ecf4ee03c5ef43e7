"""Content handlers: what they ask for is fetched and filed."""
