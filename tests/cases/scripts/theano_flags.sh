### Theano's timing
THEANO_FLAGS=dnn.conv.algo_bwd_data=time_once python t.py  # DET804

### Theano's default
export THEANO_FLAGS="device=cuda,deterministic=default"  # DET804

### Theano made deterministic
export THEANO_FLAGS=device=cuda,deterministic=more
