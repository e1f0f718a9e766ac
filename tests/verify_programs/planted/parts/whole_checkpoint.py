import os

import torch


def save(path, step, **parts):
    state = {name: part.state_dict() for name, part in parts.items()}
    temporary = f"{path}.new"
    torch.save({"step": step, "state": state, "torch": torch.get_rng_state()}, temporary)
    os.replace(temporary, path)


def load(path, **parts):
    checkpoint = torch.load(path, weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(checkpoint["state"][name])
    torch.set_rng_state(checkpoint["torch"])
    return checkpoint["step"]
