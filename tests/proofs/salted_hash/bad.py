"""A data set split by the hashes of the names of its samples."""

names = [f"sample{number}" for number in range(12)]
print([name for name in names if hash(name) % 4 == 0])
