### a random seed
python train.py --seed $RANDOM  # DET103

### glued
python train.py --seed=$RANDOM  # DET103

### by Hydra
python train.py trainer.seed=$RANDOM  # DET103

### the clock
python train.py --random-seed=$(date +%s)  # DET103

### the clock, in backticks
python train.py --seed `date +%N`  # DET103

### the process
python train.py --seed $$  # DET103

### the system
python t.py --seed $(od -An -N4 -tu4 /dev/urandom)  # DET103

### arithmetic
python train.py --seed $((RANDOM % 1000))  # DET103

### arithmetic of the clock
python t.py --seed $(( $(date +%s) % 100 ))  # DET103

### the job
srun python train.py --seed $SLURM_JOB_ID  # DET103

### by a variable
SEED=$RANDOM  # DET103
python train.py --seed ${SEED}

### by a variable with a default
S=${1:-$RANDOM}  # DET103
python t.py --seed $S

### by a variable that is used twice
SEED=$RANDOM  # DET103
python train.py --seed $SEED
python train.py --seed "$SEED"

### for Lightning
export PL_GLOBAL_SEED=$RANDOM  # DET103
python train.py

### a fixed seed
SEED=42
python train.py --seed $SEED

### a fixed one after a random one
S=$RANDOM
S=1
python train.py --seed $S

### a seed of an array of jobs
python train.py --seed $SLURM_ARRAY_TASK_ID

### a loop over seeds
for s in 1 2 3; do python train.py --seed $s; done

### RANDOM that is seeded
RANDOM=42
python train.py --seed $RANDOM

### a random port
torchrun --master_port $RANDOM train.py --port $RANDOM

### a name of a run
python train.py --seed 1 --name run-$(date +%s)

### a date that is given
python train.py --seed $(date -d 2024-01-01 +%s)

### what is quoted
python train.py --seed '$RANDOM'

### no program of Python
./simulate --seed $RANDOM

### of a command line of fairseq
fairseq-train data --seed $RANDOM  # DET103

### of tests
python -m pytest -p randomly --randomly-seed $RANDOM
python tests/test_model.py --seed $RANDOM  # possible DET103

### of servers and what puts load on them
torchrun tools/run_text_generation_server.py --seed $RANDOM  # possible DET103
python benchmark_serving.py --port 9000 --seed $(date +%s)  # possible DET103
