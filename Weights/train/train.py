#!/usr/bin/env python3
"""Trains the network from random weights on what prepare.py made.

usage: train.py --teacher FILE [--work FOLDER] [--workers N]             begins
       train.py --teacher FILE [--work FOLDER] [--workers N] --resume    goes on

It runs until --end pictures were seen, or until it is stopped: SIGTERM or Ctrl-C saves and ends; SIGSTOP and SIGCONT do
no harm. The average of the weights, which is what export.py takes, is usable at every checkpoint. log.csv in the work
folder has the course.
"""

import argparse
import contextlib
import math
import multiprocessing
import os
import re
import signal
import sys
import threading
from pathlib import Path

# Waiting threads sleep: spinning is what makes training on a busy machine slow. NumPy's small products need one thread:
# with more a sample takes twenty times as long there. Before both are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
from command import amount, count, ends_in_one_line, natural, number
from keeper import NETWORK_OPTIONS, Keeper, left, load_checkpoint, stage_at
from model import DeepLabV3, misfit
from samples import Samples
from store import DEFAULT_WORK, Store
from tasks import TASKS
from teacher import load_teacher
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from trainee import Trainee, Weights

ENDINGS = (signal.SIGTERM, signal.SIGINT)


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="train.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"default {DEFAULT_WORK}")
    parser.add_argument("--teacher", required=True, metavar="FILE.safetensors", help="the teacher's model file")
    parser.add_argument("--task", choices=TASKS, default="scene", help="what is learnt; default scene")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--workers", type=count, default=1, help="processes that share each step; one a core is best")
    parser.add_argument("--threads", type=count, default=1, help="threads of each")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda with one worker")
    parser.add_argument("--loaders", type=natural, default=0, help="processes that prepare pictures for one worker")
    parser.add_argument("--batch", type=count, default=4, help="pictures of one worker in one step")
    parser.add_argument(
        "--stages",
        type=read_stages,
        help="SIZE:STRIDE:UNTIL of each stage, UNTIL in pictures seen; default: the task's",
    )
    parser.add_argument(
        "--expansions",
        type=numbers(number(float, 0.1, 100)),
        help="channels inside a block for each one before it: of each group of blocks, or one number for all",
    )
    parser.add_argument("--head", type=count, help="channels behind MobileNetV2")
    parser.add_argument("--stem", type=count, help="channels of the first convolution")
    parser.add_argument(
        "--decoder", type=numbers(count), metavar="N,N,N|none", help="channels of the decoder at strides 16, 8 and 4"
    )
    parser.add_argument("--rate", type=amount, default=0.02, help="learning rate for 16 pictures a step")
    parser.add_argument("--decay", type=amount, default=0.003, help="weight decay")
    parser.add_argument("--warm-up", type=count, default=500, help="pictures until the rate is reached")
    parser.add_argument("--end", type=count, default=96_000, help="pictures; the learning rate falls to 0 until then")
    parser.add_argument("--apart", type=natural, default=8000, help="pictures until the blocks are trained as one")
    share = number(float, 0, 1)
    for name, kind, text in (
        ("hints", amount, "weight of the distance to the teacher; falls to 0, with the square of what is left"),
        ("focus", amount, "how much more a pixel weighs that is no background"),
        ("edge", amount, "how much more a pixel weighs that lies at an outline"),
        ("crop", number(float, 0.1, 1), "smallest share of a side that is cut out"),
        ("pasted", share, "share of samples with objects of another picture"),
        ("webcam", share, "share of people seen as a webcam sees them"),
    ):
        parser.add_argument(f"--{name}", type=kind, help=f"{text}; default: the task's")
    parser.add_argument("--minutes", type=amount, default=5, help="between checkpoints")
    parser.add_argument(
        "--overfit", type=count, metavar="N", help="a trial: N pictures only, without any change to them"
    )
    parser.add_argument("--seed", type=natural, default=0)
    options = parser.parse_args(arguments)
    options.work, options.task = Path(options.work).expanduser(), TASKS[options.task]
    for name in ("hints", "focus", "edge", "crop", "pasted", "webcam"):
        if getattr(options, name) is None:
            setattr(options, name, getattr(options.task, name))
    options.stages = options.stages or read_stages(options.task.stages)
    changes = {name: getattr(options, name) for name in NETWORK_OPTIONS}
    changes = {name: value for name, value in changes.items() if value is not None}
    shape = options.task.network | changes | {"classes": len(options.task.labels)}
    try:
        options.network = DeepLabV3(**shape).shape
    except ValueError:
        parser.error("--expansions has one number or 7, --decoder at most 3")
    if options.workers > 1 and (options.loaders or options.device != "cpu"):
        parser.error("--loaders and --device are for one worker: leave out --workers")
    if options.apart >= options.end:
        parser.error("--apart must be less than --end: the blocks would never be trained as one")
    if options.apart and not options.hints:
        parser.error("--hints 0 needs --apart 0: blocks learn nothing else while they are apart")
    try:
        torch.zeros(1, device=options.device)
    except (RuntimeError, AssertionError) as error:
        parser.error(f"--device {options.device}: {str(error).splitlines()[0]}")
    if not options.resume and (options.work / "checkpoint.pt").exists():
        parser.error(f"{options.work}/checkpoint.pt exists: go on with --resume, or remove it to begin anew")
    run(options)


def numbers(kind):
    """An argument of argparse: several of a kind, with commas between them; "none": none of them."""
    return lambda text: [] if text == "none" else [kind(part) for part in text.split(",")]


def read_stages(text):
    """(size, stride, pictures seen at its end) of each stage, from SIZE:STRIDE:UNTIL; the last needs no UNTIL."""
    stages, end = [], 0
    for stage in text.split(","):
        match = re.fullmatch(r"(\d+):(\d+)(?::(\d+))?", stage)
        if match is None:
            raise argparse.ArgumentTypeError(f"{stage!r} is not SIZE:STRIDE:UNTIL")
        size, stride, until = (math.inf if part is None else int(part) for part in match.groups())
        if wrong := misfit(size, stride):
            raise argparse.ArgumentTypeError(f"{stage!r}: {wrong}")
        if not end < until:
            raise argparse.ArgumentTypeError(f"{stage!r}: it never begins or ends before it begins; UNTIL must rise")
        stages.append((size, stride, until))
        end = until
    return stages


class Shared:
    """What the processes of one run share: weights, a gradient each, and where the run is."""

    def __init__(self, options, values):
        context = multiprocessing.get_context("spawn")
        self.values = values.clone().share_memory_()
        self.gradients = torch.zeros(options.workers, len(values)).share_memory_()
        self.state = torch.zeros(2, dtype=torch.int64).share_memory_()  # pictures seen; 1: end now
        self.barrier = context.Barrier(options.workers)
        self.context = context


def run(options):
    """The first process: takes part in the work, and steps, measures and saves."""
    store = Store(options.work)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    if options.device != "cpu":
        torch.set_float32_matmul_precision("high")
    trainee = new_trainee(options)
    weights = Weights(trainee.net)
    saved = load_checkpoint(options, trainee.net.shape) if options.resume else None
    shared = Shared(options, weights.values if saved is None else saved["values"])
    if saved is not None:
        shared.state[0] = saved["seen"]
        torch.manual_seed(options.seed + saved["seen"])
    trainee.move(options.device)
    keeper = Keeper(options, store, trainee, weights, shared, saved)

    def stop(*_):
        keeper.stopping = True  # the end is shared between the barriers of a step, so that all see it at once

    for kind in ENDINGS:
        signal.signal(kind, stop)
    hold_signals()  # in the processes that begin here too: the first one says when to end
    helpers = []
    for rank in range(1, options.workers):
        process = shared.context.Process(target=help_along, args=(options, shared, rank), daemon=True)
        process.start()
        helpers.append((process, threading.Thread(target=watch, args=(process, shared), daemon=True)))
        helpers[-1][1].start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    try:
        work_along(options, trainee, weights, shared, 0, keeper)
    except threading.BrokenBarrierError:
        raise SystemExit("train.py: a worker ended early; where there is a checkpoint, go on with --resume") from None
    finally:
        shared.barrier.abort()  # whatever ended this process, nobody waits for it
        # A thread that still runs when Python ends can bring PyTorch to abort.
        for process, watcher in helpers:
            watcher.join(10)
            process.kill()
            watcher.join()


def new_trainee(options):
    trainee, store = Trainee(options.network, load_teacher(options.teacher)), Store(options.work)
    size, stride = stage_at(options.stages, 0)
    # The same pictures in every process and every time.
    samples = Samples(store, store.training(), [options.seed], options.task.subject is not None)
    trainee.meet(samples.batch(16, size, 5), stride, not options.resume)
    return trainee


def hold_signals(*_):
    """Keeps from this process, and those that it begins, the signals that end a training."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)


def watch(process, shared):
    """Ends the waiting of the others when a worker has died."""
    process.join()
    if not shared.state[1]:
        shared.barrier.abort()


def help_along(options, shared, rank):
    """Another process: a gradient for each step."""

    def follow():
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    torch.manual_seed(options.seed + 1_000_000_007 * rank + int(shared.state[0]))
    torch.set_num_threads(options.threads)
    trainee = new_trainee(options)
    with contextlib.suppress(threading.BrokenBarrierError):  # another process ended, and tells why
        work_along(options, trainee, Weights(trainee.net), shared, rank, None)
    os._exit(0)  # without waiting for the thread, as above


def work_along(options, trainee, weights, shared, rank, keeper):
    """The steps: a gradient from each process, then one change of the weights by the first."""
    on_cpu = options.device == "cpu"
    values = shared.values if on_cpu else shared.values.to(options.device)
    gradient = shared.gradients[rank] if on_cpu else torch.zeros_like(values)
    weights.bind(values, gradient)
    trainee.train()
    if keeper is not None:
        keeper.begin(values, gradient)
    source = Batches(options, shared.state, rank)
    batches = DataLoader(source, batch_size=None, num_workers=options.loaders, worker_init_fn=hold_signals)
    for size, stride, batch in batches:
        gradient.zero_()
        apart = int(shared.state[0]) < options.apart
        losses = trainee.losses(batch, options.device, stride, apart, options.focus, options.edge, options.hints > 0)
        weight = options.hints * left(options, int(shared.state[0])) ** 2
        (losses[0] + weight * losses[1]).backward()
        shared.barrier.wait()
        if keeper is not None:
            keeper.step([float(loss.detach()) for loss in losses], size, stride)
        shared.barrier.wait()
        if shared.state[1]:
            break
    if keeper is not None:
        keeper.save(*stage_at(options.stages, int(shared.state[0])))


class Batches(IterableDataset):
    """Batches without end, each with the size and the output stride of its stage."""

    def __init__(self, options, state, rank):
        self.options, self.state, self.rank = options, state, rank

    def __iter__(self):
        options, loader = self.options, get_worker_info()
        store = Store(options.work)
        indices = store.training()[: options.overfit] if options.overfit else store.training()
        seed = [options.seed, self.rank, loader.id if loader else 0, int(self.state[0])]
        people, plain = options.task.subject is not None, bool(options.overfit)
        samples = Samples(store, indices, seed, people, options.crop, options.pasted, options.webcam, plain)
        while True:
            size, stride = stage_at(options.stages, int(self.state[0]))
            yield size, stride, samples.batch(options.batch, size, (size - 1) // options.task.cell + 1)


if __name__ == "__main__":
    main(sys.argv[1:])
