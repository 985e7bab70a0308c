#!/usr/bin/env python3
"""Trains the network from random weights on what prepare.py made.

usage: train.py [--work FOLDER] [--workers N]                    begins
       train.py [--work FOLDER] [--workers N] --resume           goes on
       train.py [--work FOLDER] --resume --finish PICTURES       goes on, lets the learning rate fall to 0, and ends

It runs until it is stopped: SIGTERM or Ctrl-C saves and ends; SIGSTOP and SIGCONT do no harm. The average of the
weights, which is what export.py takes, is usable at every checkpoint. log.csv in the work folder has the course.
"""

import argparse
import math
import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path

# Waiting threads sleep: spinning is what makes training on a busy machine slow. Before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from keeper import Keeper, load_checkpoint, stage_at
from samples import Samples
from store import DEFAULT_WORK, Store
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from trainee import Trainee, Weights

STAGES = "129:16:150000,193:16:400000,257:16"


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="train.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"default {DEFAULT_WORK}")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--workers", type=int, default=1, help="processes that share each step; one a core is best")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda with one worker")
    parser.add_argument("--loaders", type=int, default=0, help="processes that prepare pictures for one worker")
    parser.add_argument("--batch", type=int, default=16, help="pictures of one worker in one step")
    parser.add_argument(
        "--stages",
        default=STAGES,
        help=f"SIZE:STRIDE:UNTIL of each stage, UNTIL in pictures seen; default {STAGES}",
    )
    parser.add_argument("--width", type=float, default=0.75, help="multiplier of the channels")
    parser.add_argument("--head", type=int, default=256, help="channels behind MobileNetV2")
    parser.add_argument("--rate", type=float, default=1.5e-3, help="learning rate for 16 pictures a step")
    parser.add_argument("--decay", type=float, default=0.03, help="weight decay")
    parser.add_argument("--warm-up", type=int, default=4000, help="pictures until the rate is reached")
    parser.add_argument("--half", type=int, default=300_000, help="pictures until the rate has halved")
    parser.add_argument("--finish", type=int, metavar="PICTURES", help="let the rate fall to 0 from here on, and end")
    parser.add_argument("--hints", type=float, default=3, help="weight of the teacher's features in the loss")
    parser.add_argument("--presence", type=float, default=0.2, help="weight of the classes of the whole picture")
    parser.add_argument("--focus", type=float, default=0, help="how much more a pixel weighs that is no background")
    parser.add_argument("--crop", type=float, default=0.7, help="smallest share of a side that is cut out")
    parser.add_argument("--minutes", type=float, default=5, help="between checkpoints")
    parser.add_argument("--until", type=int, help="end when so many pictures were seen")
    parser.add_argument("--overfit", type=int, metavar="N", help="a trial: N pictures only, without any change to them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.work = Path(options.work).expanduser()
    options.stages = [read_stage(text) for text in options.stages.split(",")]
    if options.workers > 1 and (options.loaders or options.device != "cpu"):
        parser.error("--loaders and --device are for one worker: leave out --workers")
    if not options.resume and (options.work / "checkpoint.pt").exists():
        parser.error(f"{options.work}/checkpoint.pt exists: go on with --resume, or remove it to begin anew")
    run(options)


def read_stage(text):
    """(size, stride, pictures seen at its end) from SIZE:STRIDE[:UNTIL]."""
    numbers = text.split(":")
    try:
        size, stride = int(numbers[0]), int(numbers[1])
        return size, stride, int(numbers[2]) if len(numbers) > 2 else math.inf
    except (ValueError, IndexError):
        raise SystemExit(f"--stages: {text!r} is not SIZE:STRIDE or SIZE:STRIDE:UNTIL") from None


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
    trainee = Trainee(options.width, options.head)
    weights = Weights(trainee)
    saved = load_checkpoint(options, weights) if options.resume else None
    shared = Shared(options, weights.values if saved is None else saved["values"])
    if saved is not None:
        trainee.load_state_dict(saved["buffers"], strict=False)
        shared.state[0] = saved["seen"]
        torch.manual_seed(options.seed + saved["seen"])
    trainee.to(options.device)
    keeper = Keeper(options, store, trainee, weights, shared, saved)

    def stop(*_):
        keeper.stopping = True  # the end is shared between the barriers of a step, so that all see it at once

    for kind in (signal.SIGTERM, signal.SIGINT):
        signal.signal(kind, stop)
    for rank in range(1, options.workers):
        process = shared.context.Process(target=help_along, args=(options, shared, rank), daemon=True)
        process.start()
        threading.Thread(target=watch, args=(process, shared), daemon=True).start()
    try:
        work_along(options, trainee, weights, shared, 0, keeper)
    except threading.BrokenBarrierError:
        raise SystemExit("a worker ended early; the last checkpoint stands, go on with --resume") from None


def watch(process, shared):
    """Ends the waiting of the others when a worker has died."""
    process.join()
    if not shared.state[1]:
        shared.barrier.abort()


def help_along(options, shared, rank):
    """Another process: a gradient for each step."""
    for kind in (signal.SIGTERM, signal.SIGINT):
        signal.signal(kind, signal.SIG_IGN)  # the first process says when to end

    def follow():
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    torch.manual_seed(options.seed + 1_000_000_007 * rank + int(shared.state[0]))
    torch.set_num_threads(options.threads)
    trainee = Trainee(options.width, options.head)
    work_along(options, trainee, Weights(trainee), shared, rank, None)


def work_along(options, trainee, weights, shared, rank, keeper):
    """The steps: a gradient from each process, then one change of the weights by the first."""
    on_cpu = options.device == "cpu"
    values = shared.values if on_cpu else shared.values.to(options.device)
    gradient = shared.gradients[rank] if on_cpu else torch.zeros_like(values)
    weights.bind(values, gradient)
    trainee.train()
    if keeper is not None:
        keeper.begin(values, gradient)
    batches = DataLoader(Batches(options, shared.state, rank), batch_size=None, num_workers=options.loaders)
    for size, stride, batch in batches:
        trainee.net.set_stride(stride)
        gradient.zero_()
        losses = trainee.losses(batch, options.device, options.focus)
        (losses[0] + options.hints * losses[1] + options.presence * losses[2]).backward()
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
        samples = Samples(store, indices, seed, options.crop, plain=bool(options.overfit))
        while True:
            size, stride = stage_at(options.stages, int(self.state[0]))
            # The loss is taken at every fourth pixel, the features at every point of the network's last map.
            yield size, stride, samples.batch(options.batch, size, (size - 1) // 4 + 1, (size - 1) // stride + 1)


if __name__ == "__main__":
    main(sys.argv[1:])
