"""What a program trains, and with what; what only answers."""
