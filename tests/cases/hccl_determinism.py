"""Cases for DET703 hccl-determinism: what is marked is found, and nothing else."""

import os
import subprocess

os.environ["HCCL_DETERMINISTIC"] = "false"  # DET703
os.environ["HCCL_DETERMINISTIC"] = "FALSE"  # DET703
os.environ["HCCL_DETERMINISTIC"] = "1"  # DET703
os.environ.setdefault("HCCL_DETERMINISTIC", "0")  # DET703
os.environ.update({"HCCL_DETERMINISTIC": "false"})  # DET703
os.environ.update(HCCL_DETERMINISTIC="false")  # DET703
os.putenv("HCCL_DETERMINISTIC", "off")  # DET703
subprocess.run(["python", "train.py"], env={**os.environ, "HCCL_DETERMINISTIC": "false"})  # DET703

os.environ["HCCL_DETERMINISTIC"] = "true"
os.environ["HCCL_DETERMINISTIC"] = "TRUE"
os.environ["HCCL_DETERMINISTIC"] = "True"
os.environ["HCCL_DETERMINISTIC"] = "strict"
os.environ["HCCL_DETERMINISTIC"] = ""
os.environ.setdefault("HCCL_DETERMINISTIC", "true")


def set_up(mode: bool) -> None:
    os.environ["HCCL_DETERMINISTIC"] = str(mode)


def put_back(saved: str) -> None:
    os.environ["HCCL_DETERMINISTIC"] = saved


print(os.environ.get("HCCL_DETERMINISTIC", "false"))
if os.environ["HCCL_DETERMINISTIC"] == "false":
    print("HCCL_DETERMINISTIC=false")
