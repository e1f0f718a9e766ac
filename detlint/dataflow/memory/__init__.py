"""Memory that is read before anything has written it."""
