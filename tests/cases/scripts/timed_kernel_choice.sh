### XLA's autotuner
export XLA_FLAGS=--xla_gpu_autotune_level=4  # DET307

### added to what there is
export XLA_FLAGS="$XLA_FLAGS --xla_gpu_autotune_level=2"  # DET307

### off
export XLA_FLAGS=--xla_gpu_autotune_level=0

### that is told
export XLA_FLAGS="--xla_gpu_autotune_level=4 --xla_gpu_deterministic_ops=true"

### inductor's mode
python t.py --torch_compile_mode max-autotune  # DET307

### another mode
python t.py --torch_compile_mode reduce-overhead

### inductor's variable
export TORCHINDUCTOR_MAX_AUTOTUNE=1  # DET307

### which determinism holds back
python t.py --torch_compile_mode max-autotune --full_determinism true
