"""Guard within other tools: trainers, pytest and notebooks."""
