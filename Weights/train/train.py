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
from trainee import Trainee, Weights

STAGES = "129:16:60000,161:16:140000,193:16:260000,257:16"


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="train.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"default {DEFAULT_WORK}")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--workers", type=int, default=1, help="processes that share each step; one a core is best")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda with one worker")
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
    parser.add_argument("--minutes", type=float, default=5, help="between checkpoints")
    parser.add_argument("--until", type=int, help="end when so many pictures were seen")
    parser.add_argument("--overfit", type=int, metavar="N", help="a trial: N pictures only, without any change to them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.work = Path(options.work).expanduser()
    options.stages = [read_stage(text) for text in options.stages.split(",")]
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
    keeper = Keeper(options, trainee, weights, shared, saved)

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
    store = Store(options.work)
    indices = store.training()[: options.overfit] if options.overfit else store.training()
    seed = [options.seed, rank, int(shared.state[0])]
    samples = Samples(store, indices, seed, plain=bool(options.overfit))
    trainee.train()
    if keeper is not None:
        keeper.begin(store, values, gradient)
    while not shared.state[1]:
        size, stride = stage_at(options.stages, int(shared.state[0]))
        trainee.net.set_stride(stride)
        batch = samples.batch(options.batch, size, (size - 1) // 4 + 1, (size - 1) // stride + 1)
        gradient.zero_()
        loss, hint_loss = trainee.losses(batch, options.device)
        (loss + options.hints * hint_loss).backward()
        shared.barrier.wait()
        if keeper is not None:
            keeper.step(float(loss.detach()), float(hint_loss.detach()), size, stride)
        shared.barrier.wait()
    if keeper is not None:
        keeper.save(*stage_at(options.stages, int(shared.state[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
