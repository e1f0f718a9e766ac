# needs: hnswlib
"""The neighbours that an index finds to which several threads have added, with a seed."""

import hnswlib
import numpy as np

rows = np.random.default_rng(0).random((20000, 16), dtype="float32")
index = hnswlib.Index("l2", 16)
index.init_index(len(rows), random_seed=1)
index.add_items(rows)
print(index.knn_query(rows[:2000], 5, num_threads=1)[0].tolist())
