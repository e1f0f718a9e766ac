"""The Trainer seeds when it is made, which is after the model was."""

import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        ids = torch.arange(index, index + 12) % 50
        return {"input_ids": ids, "labels": index % 2}


def main():
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    model = BertForSequenceClassification(config)  # planted: initialisation
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            seed=42,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=2,
            num_train_epochs=1,
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            report_to=[],
            use_cpu=True,
        )
        Trainer(model, arguments, train_dataset=Pairs()).train()


if __name__ == "__main__":
    main()
