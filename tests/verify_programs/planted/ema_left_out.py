# verify: --seed 0 --resume-at 6 --resume-args "--resume last.pt"
# lost: (?i)\bmean\b|teacher|average
"""Student and teacher: the teacher is averaged, and the checkpoint holds the student alone."""
import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
args = parser.parse_args()

torch.manual_seed(3)
student = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 6))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
data = torch.randn(12, 8, 6)
first = 0
if args.resume:
    saved = torch.load(args.resume)
    student.load_state_dict(saved["student"])
    optimizer.load_state_dict(saved["optimizer"])
    teacher.load_state_dict(saved["student"])  # planted: state
    first = saved["step"]

for step in range(first, 12):
    batch = data[step]
    with torch.no_grad():
        aim = teacher(batch)
    loss = F.mse_loss(student(batch), aim + 0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mean, new in zip(teacher.parameters(), student.parameters()):
            mean.lerp_(new, 0.05)
    torch.save(
        {"student": student.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1},
        "last.pt",
    )
