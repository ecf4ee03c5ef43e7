"""The documents of ResourceSync by which others keep a copy of the providers' graphs."""
