"""What lives in a worker process, and its channel to the front."""
