"""Four threads prepare batches and put them into one queue."""

import queue
import threading
import time

import torch
from torch import nn

READY = queue.Queue(maxsize=4)


def produce(first, count=6):
    for number in range(first, first + count):
        rows = torch.Generator().manual_seed(number)
        time.sleep(0.0005)
        images = torch.randn(4, 1, 10, 10, generator=rows)
        READY.put((images, images.mean((1, 2, 3)) > 0))  # planted: batch_order


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    producers = [threading.Thread(target=produce, args=(10 * at,)) for at in range(4)]
    for producer in producers:
        producer.start()
    for _ in range(24):
        images, labels = READY.get()  # planted: batch_order
        loss = nn.functional.binary_cross_entropy_with_logits(model(images)[:, 0], labels.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for producer in producers:
        producer.join()
    print(loss.item())


main()
