"""The files of a training: checkpoint.pt, to go on from, and best.pt, which has only what a model file is made of.

task             its name, see tasks.py
network          the arguments of DeepLabV3
average_state    its averaged weights
size, stride     of the stage it was in
seen             pictures seen
values, first, second, steps, average, sizes, best: of checkpoint.pt alone, see keeper.py
"""

import io

import torch
from command import naming
from model import DeepLabV3, misfit
from tasks import TASKS


def write(content, path):
    """The whole file or nothing."""
    data, part = io.BytesIO(), path.with_name(path.name + ".part")
    torch.save(content, data)
    try:
        with naming(part):
            part.write_bytes(data.getbuffer())
        part.replace(path)
    except OSError:
        if part.is_file():
            part.unlink()
        raise


def read(path):
    """(network with the averaged weights, everything in the file), on the CPU."""
    try:
        saved = torch.load(path, map_location="cpu")
        net = DeepLabV3(**saved["network"])
        if len(TASKS[saved["task"]].labels) != saved["network"]["classes"]:
            raise ValueError
        net.load_state_dict(saved["average_state"])
        if saved["seen"] < 0 or misfit(saved["size"], saved["stride"]):
            raise ValueError
    except FileNotFoundError:
        raise SystemExit(f"{path} is absent: train.py makes it") from None
    except Exception as error:  # torch.load raises what it meets on the way
        raise SystemExit(f"{path}: no checkpoint of this network, or damaged ({type(error).__name__})") from None
    return net.requires_grad_(False), saved
