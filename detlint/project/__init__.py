"""What the files of a program say together: facts of each, linked over its imports."""
