"""Which calls build a ``DataLoader`` of torch, or one that hands its keywords on to torch's."""

from __future__ import annotations

import re

TORCH = frozenset(
    (
        "torch.utils.data.DataLoader",
        "torch.utils.data.dataloader.DataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
        "torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader",
    )
)
_DERIVED = re.compile(
    r"""(?: torch_geometric\.(?:loader|data)(?:\.\w+)?\.(?:
            (?:Data|DataList|DenseData|TemporalData)Loader
          | (?:Neighbor|LinkNeighbor|HGT|Cluster|RandomNode|Node|Link|Zip|IBMBBatch|IBMBNode)Loader
          | (?:GraphSAINT(?:Node|Edge|RandomWalk)?Sampler|ShaDowKHopSampler)
        )
      | (?:monai|webdataset)(?:\.\w+)*\.(?:DataLoader|ThreadDataLoader|WebLoader)
    )""",
    re.VERBOSE,
)


def is_loader(name: str | None) -> bool:
    """Whether a class, by its qualified name, is such a loader."""
    return name is not None and (name in TORCH or _DERIVED.fullmatch(name) is not None)
