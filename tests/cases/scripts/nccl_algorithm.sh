### many processes
torchrun --nproc-per-node 8 train.py --deterministic  # DET702

### many nodes
torchrun --nnodes 4 --nproc-per-node gpu t.py --full_determinism  # DET702

### accelerate
accelerate launch --num_processes 8 t.py --full_determinism True  # DET702

### deepspeed
deepspeed --num_gpus 4 train.py --deterministic  # DET702

### Hydra
torchrun --nproc_per_node=2 t.py trainer.deterministic=true  # DET702

### by a variable
export CUBLAS_WORKSPACE_CONFIG=:4096:8
torchrun --nproc_per_node=2 train.py  # DET702

### one process
torchrun --nproc-per-node 1 train.py --deterministic

### a number that is not known
torchrun --nproc-per-node $N train.py --deterministic

### nothing asked
torchrun --nproc-per-node 8 train.py

### determinism off
torchrun --nproc-per-node 8 train.py --deterministic=false

### chosen
NCCL_ALGO=Ring torchrun --nproc-per-node 8 train.py --deterministic

### chosen, not known how
export NCCL_ALGO=$1
torchrun --nproc-per-node 8 t.py --deterministic

### Megatron, which chooses
torchrun --nproc-per-node 8 t.py --deterministic-mode

### another backend
torchrun --nproc-per-node 8 t.py --deterministic --backend gloo

### NCCL by name
torchrun --nproc-per-node 8 t.py --deterministic --backend nccl  # DET702

### what another script may set
. env.sh
torchrun --nproc-per-node 8 t.py --deterministic

### no training
torchrun --nproc-per-node 8 evaluate.py --deterministic  # possible DET702

### for Ascend devices
export ASCEND_RT_VISIBLE_DEVICES=0,1
torchrun --nproc-per-node 2 train.py --deterministic

### Ascend's, as a comment has it
# export ASCEND_RT_VISIBLE_DEVICES=0,1
torchrun --nproc-per-node 2 train.py --deterministic  # DET702

### tasks of Slurm
srun -n 4 python train.py --deterministic  # DET702

### tasks of a job of Slurm
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
srun python train.py --deterministic  # DET702

### processes of MPI
mpirun -np 4 python train.py --deterministic  # DET702

### processes of MPI, one of them
mpirun -np 1 python train.py --deterministic
