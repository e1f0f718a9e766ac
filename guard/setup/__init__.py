"""What ``guard.enable`` does: a stage a module, and the tables of what is set."""
