# needs: gensim
"""Vectors of words that one thread trains, with a seed."""

import random

from gensim.models import Word2Vec

words = random.Random(0)
lines = [[str(words.randrange(300)) for _ in range(20)] for _ in range(3000)]
model = Word2Vec(lines, vector_size=16, min_count=1, seed=1, workers=1, epochs=1)
print(model.wv.vectors.tolist())
