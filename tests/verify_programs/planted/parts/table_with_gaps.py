import csv
import io

import numpy as np

COLUMNS = ["age", "income", "debt", "years", "visits", "score"]


def table(rows=400):
    """A CSV file with gaps, as it comes from the data base."""
    random = np.random.RandomState(21)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, "churn"])
    for _ in range(rows):
        values = random.normal(size=len(COLUMNS))
        churn = int(values.sum() > 0)
        row = ["" if random.rand() < 0.15 else f"{value:.4f}" for value in values]
        writer.writerow([*row, churn])
    return text.getvalue()


def parse(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    features = np.empty((len(rows), len(COLUMNS)), dtype=np.float32)  # planted: unwritten_memory
    for number, row in enumerate(rows):
        for place, column in enumerate(COLUMNS):
            if row[column]:
                features[number, place] = float(row[column])
    labels = np.array([float(row["churn"]) for row in rows], dtype=np.float32)
    return features, labels


def standardise(features):
    return (features - features.mean(0)) / (features.std(0) + 1e-6)
