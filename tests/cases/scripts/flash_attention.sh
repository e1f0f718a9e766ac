### Megatron's flag
torchrun pretrain_gpt.py --use-flash-attn --bf16  # DET601

### with underscores
python train.py --use_flash_attn True  # DET601

### turned off
python train.py --use_flash_attn False

### not known
python train.py --use_flash_attn $FLASH

### by implementation
python sft.py --attn_implementation flash_attention_2  # DET601

### by equals
python sft.py --attn-implementation=flash_attention_2  # DET601

### by Hydra
python sft.py model.attn_implementation=flash_attention_3  # DET601

### another implementation
python sft.py --attn_implementation sdpa

### LLaMA-Factory's
torchrun src/train.py --flash_attn fa2  # DET601

### LLaMA-Factory's choice by itself
torchrun src/train.py --flash_attn auto

### Megatron's backend
torchrun pretrain_gpt.py --attention-backend flash  # DET601

### another backend
torchrun pretrain_gpt.py --attention-backend fused

### made deterministic
FLASH_ATTENTION_DETERMINISTIC=1 python t.py --use_flash_attn

### made deterministic for Transformer Engine
NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 torchrun pretrain_gpt.py --use-flash-attn

### which Hugging Face does not read
export NVTE_ALLOW_NONDETERMINISTIC_ALGO=0
python sft.py --attn_implementation flash_attention_2  # DET601

### in deterministic mode
torchrun t.py --use-flash-attn --deterministic-mode

### under full determinism
python t.py --use_flash_attn true --full_determinism true

### a server
python -m sglang.launch_server --attention-backend flash  # possible DET601

### an evaluation
python eval.py --attn_implementation flash_attention_2  # possible DET601

### a generation
python tools/run_text_generation.py --use-flash-attn  # possible DET601

### a conversion of checkpoints
python tools/hf2mcore_vita.py --use-flash-attn  # possible DET601
python tools/megatron_to_hf.py --use-flash-attn  # possible DET601
python tools/checkpoint.py --convert-checkpoint-from-megatron-to-transformers --use-flash-attn  # possible DET601
python wav2vec_hf2.py --use-flash-attn  # DET601

### what is computed with a model
python embed_datasets.py --use_flash_attention true  # possible DET601
python -m retrieval.encode --attn_implementation flash_attention_2  # possible DET601
python finetune_embed.py --use_flash_attention true  # DET601
python embedder.py --use_flash_attention true  # DET601

### no program of Python
echo --use-flash-attn

### a comment
# python train.py --use-flash-attn

### Ascend's own attention
export HCCL_BUFFSIZE=200
python t.py --use-flash-attn

### Ascend's, as a comment has it
#export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True
torchrun t.py --use-flash-attn # not on ascend  # DET601

### Ascend's, taken away
unset ASCEND_LAUNCH_BLOCKING
if true; then unset -v HCCL_BUFFSIZE ASCEND_RT_VISIBLE_DEVICES; fi
torchrun t.py --use-flash-attn  # DET601

### Ascend's, of which one is taken away
export HCCL_BUFFSIZE=200; unset ASCEND_LAUNCH_BLOCKING
torchrun t.py --use-flash-attn

### a library's own command line
swift sft --attn_impl flash_attention_2  # DET601

### a library's own command line, to infer
swift infer --attn_impl flash_attention_2  # possible DET601

### once for two programs with the same arguments
ARGS=(--use-flash-attn --lr 1e-4)  # DET601
python train_a.py "${ARGS[@]}"
python train_b.py "${ARGS[@]}"

### something to fill in
python train.py --model <path/to/model> --out <where it goes> \
    --attn_implementation flash_attention_2  # DET601

### programs in folders of evaluation
python eval/run.py --use-flash-attn  # possible DET601
python perplexity.py --use-flash-attn  # possible DET601
python eval/finetune.py --use-flash-attn  # DET601
python retrieval/main.py --use-flash-attn  # DET601

### options after a redirection
python train.py --lr 1 > log.txt 2>&1 --use-flash-attn  # DET601
python train.py < input.txt \
    --attn_implementation flash_attention_2  # DET601

### a file, after a redirection
python train.py --lr 1 > --use-flash-attn

### a script that is not beside
bash train.sh --use-flash-attn
