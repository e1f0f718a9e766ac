"""A mean teacher: the averaged copy of the student is not saved."""
# verify: --resume-at 10 --resume-args "--resume last.pt"
# lost: Teacher\.model

import argparse
import copy

import torch
from parts.student_checkpoint import load, save
from torch import nn


class Teacher:
    """A slow copy of the student, as in Mean Teacher."""

    def __init__(self, student, decay=0.98):
        self.model = copy.deepcopy(student).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def follow(self, student):
        for own, other in zip(self.model.parameters(), student.parameters()):
            own.lerp_(other, 1 - self.decay)

    @torch.no_grad()
    def __call__(self, x):
        return self.model(x)


def batches(step):
    generator = torch.Generator().manual_seed(1000 + step)
    labelled = torch.randn(16, 10, generator=generator)
    target = labelled[:, :3].argmax(1)
    return labelled, target, torch.randn(32, 10, generator=generator)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--resume")
    options = parser.parse_args()
    torch.manual_seed(2)
    student = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    start = 0
    if options.resume:
        start = load(options.resume, student, optimizer, schedule)
    teacher = Teacher(student)
    for step in range(start, options.steps):
        labelled, target, unlabelled = batches(step)
        supervised = nn.functional.cross_entropy(student(labelled), target)
        goal = teacher(unlabelled).softmax(1)
        consistency = nn.functional.mse_loss(student(unlabelled).softmax(1), goal)
        loss = supervised + 2.0 * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        teacher.follow(student)
        save("last.pt", step + 1, student, optimizer, schedule)
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
