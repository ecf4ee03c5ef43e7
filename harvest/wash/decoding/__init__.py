"""What encoding a document is in, and what format."""
