"""``python -m guard spread``: how far a metric varies from seed to seed, and what lies outside."""
