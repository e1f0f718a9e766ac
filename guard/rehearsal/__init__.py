"""``guard.preflight``: a training step rehearsed on tensors without memory, to learn before a GPU
is there which operators would refuse on it, or differ from run to run."""
