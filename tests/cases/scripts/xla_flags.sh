### XLA's determinism in part
export XLA_FLAGS=--xla_gpu_deterministic_reductions=true  # DET805

### XLA's determinism off
export XLA_FLAGS=--xla_gpu_deterministic_ops=false  # DET805

### XLA's determinism
export XLA_FLAGS=--xla_gpu_deterministic_ops=true

### other flags
export XLA_FLAGS=--xla_force_host_platform_device_count=8

### flags that are not known
export XLA_FLAGS="$A --xla_gpu_deterministic_reductions=true"
