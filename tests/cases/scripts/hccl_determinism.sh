### HCCL left alone
export HCCL_DETERMINISTIC=FALSE  # DET703
torchrun --nproc-per-node 8 train.py

### HCCL left alone in a script that others read
export HCCL_DETERMINISTIC=false  # possible DET703

### HCCL left alone where a model is served
export HCCL_DETERMINISTIC=false  # possible DET703
python -m vllm.entrypoints.openai.api_server --model m

### HCCL given what it refuses
HCCL_DETERMINISTIC=1 python train.py  # DET703

### HCCL given what it refuses, in a script that others read
export HCCL_DETERMINISTIC=on  # DET703

### HCCL told
export HCCL_DETERMINISTIC=TRUE
python train.py

### HCCL told to keep the order
export HCCL_DETERMINISTIC=strict
python train.py

### not known
export HCCL_DETERMINISTIC=$1
python train.py
