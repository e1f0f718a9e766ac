"""Regression with a residual MLP; early stopping on the validation error."""

import argparse
import copy
import logging
import math

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from parts.residual import BlockConfig, ModelConfig, ResidualMLP
from parts.repr_seeding import seed_all, stream

log = logging.getLogger("train")


def make_data(rows: int, inputs: int, seed: int) -> tuple[TensorDataset, TensorDataset]:
    generator = stream(seed, "data")
    x = torch.randn(rows, inputs, generator=generator)
    mix = torch.randn(inputs, 4, generator=generator)
    hidden = x @ mix / math.sqrt(inputs)
    y = torch.sin(2 * hidden[:, 0]) + hidden[:, 1] * hidden[:, 2] + 0.3 * hidden[:, 3]
    y = y + 0.05 * torch.randn(rows, generator=generator)
    cut = int(0.85 * rows)
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])


@torch.no_grad()
def evaluate(model, loader) -> float:
    model.eval()
    total = sum(F.mse_loss(model(x), y, reduction="sum").item() for x, y in loader)
    model.train()
    return total / len(loader.dataset)


def train(args: argparse.Namespace) -> tuple[torch.nn.Module, float]:
    train_set, val_set = make_data(6000, 24, args.seed)
    train_loader = DataLoader(
        train_set, batch_size=args.batch_size, shuffle=True, generator=stream(args.seed, "shuffle")
    )
    val_loader = DataLoader(val_set, batch_size=500)
    config = ModelConfig(depth=args.depth, block=BlockConfig(width=args.width))
    model = ResidualMLP(config, args.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    steps = args.epochs * len(train_loader)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    best, best_state, bad = math.inf, None, 0
    for epoch in range(args.epochs):
        for x, y in train_loader:
            loss = F.smooth_l1_loss(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        error = evaluate(model, val_loader)
        log.info("epoch %d  loss %.4f  val %.4f", epoch, loss.item(), error)
        if error < best:
            best, best_state, bad = error, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad > args.patience:
                break
    model.load_state_dict(best_state)
    return model, best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--patience", type=int, default=3)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    seed_all(args.seed)
    model, best = train(args)
    torch.save({"model": model.state_dict(), "val": best}, "best.pt")
    print(f"best {best:.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in model.parameters()):.17g}")


if __name__ == "__main__":
    main()
