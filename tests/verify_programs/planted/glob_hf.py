"""Texts from a folder, found by glob, for a tiny GPT-2 in the Trainer."""
# differs: by the order of listing

import glob
import os
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


def write_texts(folder):
    for number in range(24):
        letters = "".join(chr(97 + (number * step) % 26) for step in range(16))
        with open(os.path.join(folder, f"{number}.txt"), "w") as file:
            file.write(letters)


class Texts(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.paths = glob.glob(os.path.join(folder, "*.txt"))  # planted: batch_order or batch_content

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index]) as file:
            ids = torch.tensor([ord(letter) - 97 for letter in file.read()])
        return {"input_ids": ids, "labels": ids}


set_seed(0)
with tempfile.TemporaryDirectory() as folder:
    write_texts(folder)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=26, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    arguments = TrainingArguments(
        folder + "/out",
        per_device_train_batch_size=4,
        max_steps=4,
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        report_to=[],
        use_cpu=True,
    )
    Trainer(model, arguments, train_dataset=Texts(folder)).train()
