### without the mode
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}"  # DET701

### with it
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --deterministic-mode

### with arguments that may hold it
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" $EXTRA

### with arguments of the script
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" "$@"

### with a value that is not known
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --data-path $DATA  # DET701

### that generates
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun tools/run_text_generation.py "${ARGS[@]}"

### of DeepSpeed
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
deepspeed pretrain_gpt.py "${ARGS[@]}" --deepspeed

### another program
torchrun train.py --micro-batch-size 4 --num-layers 2

### that fuses the loss
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun t.py "${ARGS[@]}" --deterministic-mode --cross-entropy-loss-fusion  # DET701

### that overlaps
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun t.py "${ARGS[@]}" --deterministic-mode --tp-comm-overlap  # DET701

### with an algorithm that it refuses
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
NCCL_ALGO=Tree torchrun t.py "${ARGS[@]}" --deterministic-mode  # DET701

### with algorithms one of which it refuses
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
NCCL_ALGO=Ring,Tree torchrun t.py "${ARGS[@]}" --deterministic-mode  # DET701

### with algorithms that it accepts
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
NCCL_ALGO=Ring,CollnetChain torchrun t.py "${ARGS[@]}" --deterministic-mode

### with an algorithm that is not known
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
NCCL_ALGO=$ALGO torchrun t.py "${ARGS[@]}" --deterministic-mode

### with Transformer Engine left free
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1
torchrun t.py "${ARGS[@]}" --deterministic-mode  # DET701

### with a workspace that it refuses
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
export CUBLAS_WORKSPACE_CONFIG=:4096:2
torchrun t.py "${ARGS[@]}" --deterministic-mode  # DET701

### with Mamba left free
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
MAMBA_DETERMINISTIC=0 torchrun t.py "${ARGS[@]}" --deterministic-mode  # DET701

### with FlashAttention, which is told
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun t.py "${ARGS[@]}" --deterministic-mode --use-flash-attn  # DET701

### for Ascend devices
export HCCL_CONNECT_TIMEOUT=1800
torchrun pretrain_gpt.py --micro-batch-size 4 --num-layers 2 --hidden-size 8 --train-iters 9
