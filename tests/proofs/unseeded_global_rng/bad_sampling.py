# needs: transformers
"""What a language model samples, from a generator that nothing seeds."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    config = GPT2Config(
        vocab_size=50, n_positions=40, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=49
    )
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    answer = model.generate(torch.tensor([[1, 2]]), do_sample=True, max_new_tokens=20)
    torch.save(answer, "answer.pt")
    print(answer.tolist())


if __name__ == "__main__":
    main()
