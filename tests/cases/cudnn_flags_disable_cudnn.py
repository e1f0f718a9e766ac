import contextlib

import torch
import torch.backends.cudnn as cudnn
from torch.backends.cudnn import flags
from torch.backends.cudnn import flags as f

with torch.backends.cudnn.flags(deterministic=True):  # DET309
    pass
with cudnn.flags(benchmark=False):  # DET309
    pass
with cudnn.flags(benchmark=False, deterministic=True):  # DET309
    pass
with flags(deterministic=True), torch.no_grad():  # DET309
    pass
with cudnn.flags(  # DET309
    deterministic=True,
    benchmark=False,
):
    pass


def ctc_loss(loss, args, deterministic, stack):
    with f(deterministic=True):  # DET309
        loss.backward()
    with cudnn.flags(deterministic=deterministic):  # DET309
        loss.backward()
    with cudnn.flags(benchmark=True):  # DET309
        loss.backward()
    with cudnn.flags(allow_tf32=False):  # DET309
        loss.backward()
    stack.enter_context(cudnn.flags(deterministic=True))  # DET309


@torch.backends.cudnn.flags(deterministic=True)  # DET309
def forward(model, x):
    return model(x)


# Silent: enabled is given, or may be

with cudnn.flags(enabled=True, deterministic=True):
    pass
with cudnn.flags(enabled=False):
    pass
with cudnn.flags(enabled=False, deterministic=True):
    pass
with cudnn.flags(True, False, deterministic=True):
    pass
with cudnn.flags():
    pass


def passed_on(enabled, options, *args):
    with cudnn.flags(enabled=enabled, deterministic=True):
        pass
    with cudnn.flags(**options):
        pass
    with cudnn.flags(deterministic=True, **options):
        pass
    with cudnn.flags(*args, deterministic=True):
        pass
    with cudnn.flags(enabled, deterministic=True):
        pass


def others(flags, absl):
    cudnn.set_flags(_deterministic=True)
    with torch.backends.mkldnn.flags(deterministic=True):
        pass
    with flags(deterministic=True), contextlib.suppress(Exception):
        pass
    absl.flags(deterministic=True)
