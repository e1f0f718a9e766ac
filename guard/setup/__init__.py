"""What ``guard.enable`` does: a stage a module, and the tables of what is set; and random numbers:
seeds, the states of generators, and streams of their own."""
