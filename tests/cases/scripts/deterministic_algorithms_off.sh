### determinism off
python train.py --deterministic=false  # DET303

### that only warns
python main.py fit --trainer.deterministic=warn  # DET303

### Hugging Face's off
python t.py --full_determinism False  # DET303

### determinism on
python train.py --deterministic --full_determinism True

### not known
python train.py --deterministic $DET
