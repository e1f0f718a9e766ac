"""Batches ahead of time; while none is ready, the one before is used again (data echoing)."""

import queue
import threading


class Echo:
    def __init__(self, source, patience=0.004, room=4):
        self.source = source
        self.patience = patience
        self.queue = queue.Queue(room)
        self.thread = threading.Thread(target=self.fill)

    def fill(self):
        for item in self.source:
            self.queue.put(item)
        self.queue.put(None)

    def __iter__(self):
        self.thread.start()
        item = self.queue.get()
        while item is not None:
            yield item
            try:
                item = self.queue.get(timeout=self.patience)  # planted: readiness
            except queue.Empty:
                pass
        self.thread.join()
