"""The name of a run, which all ranks share."""
import uuid

import torch.distributed as dist


class Run:
    def __init__(self, name):
        self.name = name

    @property
    def seed(self):
        return int(self.name[:8], 16)


def named():
    box = [uuid.uuid4().hex if dist.get_rank() == 0 else None]  # planted: entropy or drawn_name
    dist.broadcast_object_list(box)
    return Run(box[0])
