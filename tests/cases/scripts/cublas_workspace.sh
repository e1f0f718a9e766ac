### a value that cuBLAS does not know
export CUBLAS_WORKSPACE_CONFIG=:4096:2  # DET306

### the same in front of a command
CUBLAS_WORKSPACE_CONFIG=:16 python t.py  # DET306

### the same by env
env CUBLAS_WORKSPACE_CONFIG=1 python train.py  # DET306

### a value that is accepted
export CUBLAS_WORKSPACE_CONFIG=:16:8

### a quoted one
export CUBLAS_WORKSPACE_CONFIG=":4096:8"

### taking it away again
export CUBLAS_WORKSPACE_CONFIG=

### a value that is not known
export CUBLAS_WORKSPACE_CONFIG=$1

### an accepted one that is not exported
CUBLAS_WORKSPACE_CONFIG=:4096:8  # DET306
python train.py

### one that is exported below
CUBLAS_WORKSPACE_CONFIG=:4096:8
export CUBLAS_WORKSPACE_CONFIG
python train.py

### one that is not exported, where nothing is started
CUBLAS_WORKSPACE_CONFIG=:4096:8
