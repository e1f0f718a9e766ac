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
torchrun tools/run_text_generation.py "${ARGS[@]}"  # possible DET701

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

### with arguments that may hold it behind a switch
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --bf16 $EXTRA_ARGS

### with arguments of the script behind a switch
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --bf16 "$@"

### with an array that is not known behind a switch
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --overlap-grad-reduce "${MORE[@]}"

### with an array that is not known behind a value
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --save ${MORE[@]}

### with what a branch adds
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
if [ "$A" ]; then ARGS+=(--bf16); fi
torchrun pretrain_gpt.py "${ARGS[@]}"

### with numbers of seq
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --cuda-graph-bs 1 2 $(seq 4 8 64)  # DET701

### with a number that the shell works out
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --sizes 1 $((N * 2))  # DET701

### of an older Megatron or its forks
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
torchrun pretrain_gpt.py "${ARGS[@]}" --data-impl mmap

### of Megatron-DeepSpeed
ARGS=(
    --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024
    --micro-batch-size 4 --train-iters 500 --lr-decay-style cosine
)
deepspeed --num_gpus 1 pretrain_gpt.py "${ARGS[@]}"
