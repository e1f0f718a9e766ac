"""What the calls of a part of a file do, for those who judge programs."""
