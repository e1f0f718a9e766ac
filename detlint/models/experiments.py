"""Experiments of sacred, whose main function runs after all generators are seeded (sacred 0.8.7;
torch's since 0.7.5). The seed is that of the configuration, or another one in each run."""

from __future__ import annotations

from detlint.models.model import words

CLASSES = words("sacred.Experiment sacred.experiment.Experiment")
# Decorators of what an experiment runs, of which one runs it where its file is the program.
AUTOMAIN = "automain"
RUNS = words("automain command main")
# What gives it a configuration: a method, a decorator of a function whose variables are the
# settings, and an argument of what runs it.
ADDS, ADDED, SCOPE, UPDATES = "add_config", "cfg_or_file", "config", "config_updates"
GIVEN, GIVEN_SEED = "_config", "_seed"  # parameters of what an experiment runs
SEED = "seed"
