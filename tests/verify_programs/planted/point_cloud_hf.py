"""A point cloud model in the Trainer that compares points with neighbours fetched by index."""

import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class Clouds(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        draws = torch.Generator().manual_seed(index)
        return {
            "points": torch.randn(256, 3, generator=draws),
            "neighbours": torch.randint(0, 256, (256, 200), generator=draws),
            "labels": index % 3,
        }


class CloudNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.lift = nn.Linear(3, width)
        self.mix = nn.Linear(width, width)
        self.label = nn.Linear(width, 3)

    def forward(self, points, neighbours, labels):
        rows = torch.arange(len(points)).view(-1, 1, 1)
        lifted = torch.relu(self.lift(points))
        around = lifted[rows, neighbours]  # planted: kernel
        logits = self.label(torch.relu(self.mix(around - lifted[:, :, None])).mean((1, 2)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


set_seed(0)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        per_device_train_batch_size=1,
        num_train_epochs=4,
        learning_rate=1e-2,
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        report_to=[],
        use_cpu=True,
    )
    Trainer(CloudNet(), arguments, train_dataset=Clouds()).train()
