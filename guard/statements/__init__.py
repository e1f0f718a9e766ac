"""A program's statements, recorded while it runs; two such recordings, compared."""
