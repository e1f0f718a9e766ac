### Lightning's determinism off
python main.py fit --trainer.deterministic=false  # DET302

### on
python main.py fit --trainer.deterministic=true
