"""What each file defines, imports, names and starts: made once a file, kept by content."""
