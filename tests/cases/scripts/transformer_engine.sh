### nondeterministic algorithms allowed
export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1  # DET604

### not allowed
export NVTE_ALLOW_NONDETERMINISTIC_ALGO=0

### allowed where programs only generate
export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1  # possible DET604
torchrun tools/run_text_generation_server.py --port 5000
