import os

import torch


def save(path, step, student, optimizer, schedule):
    content = {
        "step": step,
        "student": student.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "rng": torch.get_rng_state(),
    }
    torch.save(content, path + ".part")  # planted: state
    os.replace(path + ".part", path)


def load(path, student, optimizer, schedule):
    content = torch.load(path)
    student.load_state_dict(content["student"])
    optimizer.load_state_dict(content["optimizer"])
    schedule.load_state_dict(content["schedule"])
    torch.set_rng_state(content["rng"])
    return content["step"]
