"""What decides in the front: which worker gets a query, and which query is ended at a limit."""
