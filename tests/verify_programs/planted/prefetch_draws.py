"""A thread prepares the next batch with noise while the model draws its dropout."""

import threading

import torch
from torch import nn

IMAGES = torch.randn(12, 64, 64, generator=torch.Generator().manual_seed(5))


class Prefetcher:
    def __init__(self, source):
        self.source = iter(source)
        self.start()

    def start(self):
        self.ready = None
        self.thread = threading.Thread(target=self.prepare)
        self.thread.start()

    def prepare(self):
        for image in self.source:
            for _ in range(100):
                image = image + 0.01 * torch.randn(64, 64)  # planted: generator or batch_content
            self.ready = image
            return

    def next(self):
        self.thread.join()
        ready = self.ready
        self.start()
        return ready


torch.manual_seed(0)
model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2))])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images = Prefetcher(IMAGES)
while (image := images.next()) is not None:
    loss = nn.functional.mse_loss(model(image), image)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
