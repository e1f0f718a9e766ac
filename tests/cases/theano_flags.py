import os
import subprocess
from os import environ

import theano
from theano import config
from theano.configparser import change_flags

# The variable, in every way to set it

os.environ["THEANO_FLAGS"] = "dnn.conv.algo_bwd_filter=time_once"  # DET804
os.environ["THEANO_FLAGS"] = "device=cuda, dnn.conv.algo_bwd_data = guess_once"  # DET804
environ["THEANO_FLAGS"] = "dnn.conv.algo_bwd=time_on_shape_change"  # DET804
os.environ.setdefault("THEANO_FLAGS", "dnn.conv.algo_bwd_data=guess_on_shape_change")  # DET804
os.environ["THEANO_FLAGS"] = "floatX=float32,deterministic=default"  # DET804
os.environ.update({"THEANO_FLAGS": "dnn.conv.algo_bwd_filter=time_once"})  # DET804
os.environ.update(THEANO_FLAGS="dnn.conv.algo_bwd_filter=time_once")  # DET804
os.putenv("THEANO_FLAGS", "dnn.conv.algo_bwd_filter=time_once")  # DET804
subprocess.run(["train"], env=dict(os.environ, THEANO_FLAGS="dnn.conv.algo_bwd_data=time_once"))  # DET804
subprocess.run(["train"], env={**os.environ, "THEANO_FLAGS": "dnn.conv.algo_bwd_data=time_once"})  # DET804
subprocess.call("THEANO_FLAGS=device=cuda,dnn.conv.algo_bwd_data=time_once python train.py", shell=True)  # DET804
os.system("THEANO_FLAGS='device=cuda, dnn.conv.algo_bwd_data=time_once' python train.py")  # DET804
FLAGS = (
    "device={},"
    "floatX=float32,"
    "dnn.conv.algo_bwd_filter=time_once,"
    "dnn.conv.algo_bwd_data=time_once"
).format("cuda0")
os.environ["THEANO_FLAGS"] = FLAGS  # DET804


def start(device, previous):
    os.environ["THEANO_FLAGS"] = f"device={device},dnn.conv.algo_bwd_filter=time_once"  # DET804
    os.environ["THEANO_FLAGS"] = previous + ",dnn.conv.algo_bwd_filter=time_once"  # DET804
    os.environ["THEANO_FLAGS"] = "device=%s,dnn.conv.algo_bwd_filter=time_once" % device  # DET804
    os.environ["THEANO_FLAGS"] = ",".join(["device=" + device, "dnn.conv.algo_bwd_data=time_once"])  # DET804


# The configuration

theano.config.dnn.conv.algo_bwd_filter = "time_once"  # DET804
theano.config.dnn.conv.algo_bwd_data = "time_on_shape_change"  # DET804
theano.config.dnn.conv.algo_bwd = "guess_once"  # DET804
config.dnn.conv.algo_bwd_data = "time_once"  # DET804
theano.config.deterministic = "default"  # DET804
@theano.change_flags(deterministic="default")  # DET804
def changed():
    pass


with change_flags(dnn__conv__algo_bwd_data="time_once"):  # DET804
    pass
with theano.config.change_flags(**{"dnn.conv.algo_bwd_filter": "guess_once"}):  # DET804
    pass
with theano.config.change_flags(deterministic="default"):  # DET804
    pass

# Silent

os.environ["THEANO_FLAGS"] = "device=cuda,deterministic=more,dnn.conv.algo_bwd_filter=deterministic"
os.environ["THEANO_FLAGS"] = "device=cuda,floatX=float32"
os.environ["THEANO_FLAGS"] = "dnn.conv.algo_fwd=small,dnn.conv.algo_bwd_filter=none"
os.environ["THEANO_FLAGS"] = os.environ["FLAGS"]
os.environ["OTHER_FLAGS"] = "dnn.conv.algo_bwd_filter=time_once"
os.environ["THEANO_FLAGS"] = f"dnn.conv.algo_bwd_filter={os.environ['ALGORITHM']}"
theano.config.dnn.conv.algo_bwd_filter = "deterministic"
theano.config.dnn.conv.algo_fwd = "time_once"
theano.config.deterministic = "more"
theano.config.dnn.conv.algo_bwd_data = os.environ["ALGORITHM"]
print("THEANO_FLAGS=dnn.conv.algo_bwd_filter=time_once python train.py")
if "algo_bwd_filter=time_once" in os.environ["THEANO_FLAGS"]:
    pass


def by_setting(args, theano, algorithm):
    config.dnn.conv.algo_bwd_data = algorithm
    theano.config.dnn.conv.algo_bwd_data = "time_once"
    if args.autotune:
        config.dnn.conv.algo_bwd_data = "time_once"
    if args.deterministic:
        config.deterministic = "more"
