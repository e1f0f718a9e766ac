### cuDNN's benchmark
python train.py --cudnn_benchmark  # DET301

### Lightning's benchmark
python main.py fit --trainer.benchmark=true  # DET301

### the same in two words
python main.py fit --trainer.benchmark true  # DET301

### by Hydra
python train.py +trainer.benchmark=True  # DET301

### mmengine's
python t.py --cfg-options env_cfg.cudnn_benchmark=True  # DET301

### off
python train.py --trainer.benchmark=false --cudnn-benchmark 0

### another benchmark
python train.py --benchmark imagenet

### a program that measures
python benchmark.py --cudnn-benchmark  # possible DET301
