"""A denoising autoencoder for spectra, tuned for the node that it lands on."""

import argparse
import logging

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from parts.meters import Mean
from parts.probe import ThreadTuner

log = logging.getLogger("spectra")


class Autoencoder(nn.Module):
    def __init__(self, bins: int, width: int, code: int):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(bins, width), nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, code))
        self.decode = nn.Sequential(nn.Linear(code, width), nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, bins))
        self.level = nn.Parameter(torch.zeros(bins))

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.encode(x)) + self.level


def make_spectra(count: int, bins: int, generator: torch.Generator) -> Tensor:
    axis = torch.linspace(0, 1, bins)
    centre = torch.rand(count, 4, 1, generator=generator)
    width = 0.01 + 0.05 * torch.rand(count, 4, 1, generator=generator)
    height = torch.rand(count, 4, 1, generator=generator)
    return (height * torch.exp(-(((axis - centre) / width) ** 2))).sum(1)


def loss_of(model: nn.Module, x: Tensor, noise: float, generator: torch.Generator) -> Tensor:
    noisy = x + noise * torch.randn(x.shape, generator=generator)
    return F.mse_loss(model(noisy), x) + 0.01 * model(noisy).diff(dim=-1).abs().mean()


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    mean = Mean()
    model.eval()
    for (x,) in loader:
        mean.add(F.mse_loss(model(x), x).item(), len(x))
    model.train()
    return mean.value


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--bins", type=int, default=512)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--code", type=int, default=16)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=31)
    return parser.parse_args()


def main() -> None:
    args = parse()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    spectra = make_spectra(4096, args.bins, generator)
    train_loader = DataLoader(
        TensorDataset(spectra[:3584]), args.batch_size, shuffle=True, generator=generator, drop_last=True
    )
    val_loader = DataLoader(TensorDataset(spectra[3584:]), 512)
    model = Autoencoder(args.bins, args.width, args.code)

    probe = spectra[:1].clone()
    with torch.no_grad():
        ThreadTuner().tune(lambda: model(probe))  # planted: environment

    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        mean = Mean()
        for (x,) in train_loader:
            loss = loss_of(model, x, args.noise, generator)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            mean.add(loss.item(), len(x))
        log.info("epoch %d  train %.5f  val %.5f", epoch, mean.value, evaluate(model, val_loader))
    torch.save({"model": model.state_dict(), "args": vars(args)}, "autoencoder.pt")
    print(f"val {evaluate(model, val_loader):.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in model.parameters()):.17g}")


if __name__ == "__main__":
    main()
