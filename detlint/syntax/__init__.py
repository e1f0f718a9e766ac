"""What the text of Python says without a tree, and whether it is Python at all."""
