"""What the functions of libraries do to values, as data. ``model.py`` says how a row is read."""
