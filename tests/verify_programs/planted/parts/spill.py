"""An external sort: runs are spilled to disk and merged again."""

import heapq
import json
import os
import tempfile


class Spill:
    def __init__(self, room=40):
        self.room = room
        self.buffer = []
        self.folder = tempfile.mkdtemp(prefix="spill-")

    def add(self, length, text):
        self.buffer.append((length, text))
        if len(self.buffer) >= self.room:
            self.flush()

    def flush(self):
        handle, path = tempfile.mkstemp(suffix=".jsonl", dir=self.folder)  # planted: drawn_name
        with os.fdopen(handle, "w") as file:
            for item in sorted(self.buffer, key=lambda item: item[0]):
                file.write(json.dumps(item) + "\n")
        self.buffer = []

    def merged(self):
        if self.buffer:
            self.flush()
        runs = [self.read(os.path.join(self.folder, name)) for name in sorted(os.listdir(self.folder))]
        return list(heapq.merge(*runs, key=lambda item: item[0]))

    @staticmethod
    def read(path):
        with open(path) as file:
            for line in file:
                yield json.loads(line)
