### a hash seed that is exported
export PYTHONHASHSEED=0
python train.py

### in front of the command
PYTHONHASHSEED=0 python train.py

### not exported
PYTHONHASHSEED=0  # DET106
python train.py

### exported in a line of its own
PYTHONHASHSEED=0
export PYTHONHASHSEED
python train.py

### not exported, and nothing started
PYTHONHASHSEED=0

### all exported
set -a
PYTHONHASHSEED=0
python train.py

### handed on by name
PYTHONHASHSEED=0
PYTHONHASHSEED="$PYTHONHASHSEED" python train.py

### exported too late
python train.py
export PYTHONHASHSEED=0  # DET106

### exported for the next
python a.py
export PYTHONHASHSEED=0
python b.py

### exported where nothing starts
export PYTHONHASHSEED=0

### random hashes
export PYTHONHASHSEED=random  # DET106
python train.py

### a random seed of them
export PYTHONHASHSEED=$RANDOM  # DET106
python train.py

### exported too late for one, and in time for what another script starts
python setup.py install
export PYTHONHASHSEED=0
./run.sh

### exported below a question to Python
python -c 'import torch; print(torch.__version__)'
export PYTHONHASHSEED=0

### random hashes for tests
export PYTHONHASHSEED=random
python -m pytest
