"""A data set split by the checksums of the names of its samples."""

import zlib

names = [f"sample{number}" for number in range(12)]
print([name for name in names if zlib.crc32(name.encode()) % 4 == 0])
