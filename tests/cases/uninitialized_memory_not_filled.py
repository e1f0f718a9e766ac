import torch
import torch.utils.deterministic
import torch.utils.deterministic as deterministic
from torch.utils import deterministic as settings

torch.utils.deterministic.fill_uninitialized_memory = False  # DET305
deterministic.fill_uninitialized_memory = False  # DET305
settings.fill_uninitialized_memory = False  # DET305
setattr(torch.utils.deterministic, "fill_uninitialized_memory", False)  # DET305
torch._C._set_deterministic_fill_uninitialized_memory(False)  # DET305


def configure():
    torch.use_deterministic_algorithms(True)
    try:
        torch.utils.deterministic.fill_uninitialized_memory = False  # DET305
    except AttributeError:
        pass
    if torch.are_deterministic_algorithms_enabled():
        torch.utils.deterministic.fill_uninitialized_memory = False  # DET305


# Silent: on, unknown, restored

torch.utils.deterministic.fill_uninitialized_memory = True
print(torch.utils.deterministic.fill_uninitialized_memory)


def choose(fill, step):
    before = deterministic.fill_uninitialized_memory
    deterministic.fill_uninitialized_memory = fill
    deterministic.fill_uninitialized_memory = before
    if fill:
        deterministic.fill_uninitialized_memory = True
    else:
        deterministic.fill_uninitialized_memory = False
    try:
        step()
    finally:
        deterministic.fill_uninitialized_memory = False


def shadowed(deterministic):
    deterministic.fill_uninitialized_memory = False


class Settings:
    fill_uninitialized_memory = False

    def __init__(self):
        self.fill_uninitialized_memory = False
