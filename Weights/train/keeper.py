"""The one process that changes the weights: steps, averages, measures, logs and saves."""

import csv
import math
import time

import checkpoint
import numpy as np
import torch
from command import naming
from layers import upsample
from metrics import People, confusion, figures, to_source
from model import DeepLabV3
from PIL import Image
from trainee import sizes

BETAS, EPSILON = (0.9, 0.999), 1e-8
# A step whose gradient is not finite is left out; after so many of them in a row there is no hope.
ASTRAY = 50
# The arguments of the network that the command line may change.
NETWORK_OPTIONS = ("expansions", "head", "stem", "decoder")
LOG_COLUMNS = (
    *("time", "pictures", "size", "stride", "rate", "loss", "distance", "pictures_per_second"),
    *("person", "accuracy", "main", "miou", "people", "outline"),
)


def stage_at(stages, seen):
    """(size, stride) of the stage in which the picture is: the first that has not ended, or else the last."""
    return next((stage for stage in stages if seen < stage[2]), stages[-1])[:2]


def left(options, seen):
    """The share of the training that is left."""
    return max(1 - seen / options.end, 0)


class Keeper:
    """Changes the weights, averages them, measures, logs and saves."""

    def __init__(self, options, store, trainee, weights, shared, saved):
        self.options, self.store, self.shared = options, store, shared
        self.trainee, self.weights = trainee, weights
        self.saved = saved
        self.stopping = False

    def begin(self, values, gradient):
        self.values, self.gradient = values, gradient
        saved = self.saved
        if saved is None:
            self.first, self.second, self.steps = torch.zeros_like(values), torch.zeros_like(values), 0
            self.average = values.clone()
            self.sizes = sizes(self.trainee).to(values.device)
            self.best = 0.0
        else:
            move = lambda t: t.to(values.device)
            self.first, self.second, self.steps = move(saved["first"]), move(saved["second"]), saved["steps"]
            self.average = move(saved["average"])
            self.sizes = move(saved["sizes"])
            self.best = saved["best"]
        self.saved = None
        measured = DeepLabV3(**self.trainee.net.shape)
        self.measured = measured.to(values.device).eval()
        self.astray = 0
        self.losses, self.counted, self.since, self.last_save = [], 0, time.time(), time.time()

    def rate(self):
        """The learning rate: up from 0, then down to 0 at the end."""
        options, seen = self.options, int(self.shared.state[0])
        # The gradient is the mean over more pictures: steps are fewer and may be longer.
        rate = options.rate * math.sqrt(options.batch * options.workers / 16)
        return rate * min(seen / options.warm_up, 1) * left(options, seen)

    def step(self, losses, size, stride):
        options, shared = self.options, self.shared
        pictures = options.batch * options.workers
        gradient = self.gradient if options.workers == 1 else shared.gradients.mean(0)
        norm = float(gradient.norm())
        self.astray += 1
        if math.isfinite(norm) and math.isfinite(losses[0]):
            self.adam(gradient * min(1, 5 / (norm + 1e-6)))
            self.astray = 0
        elif self.astray == ASTRAY:
            raise SystemExit(f"train.py: no finite gradient in {ASTRAY} steps: begin anew with a smaller --rate")
        seen = int(shared.state[0]) + pictures
        shared.state[0] = seen
        # The average forgets after a sixth of the pictures seen, at most after 10,000; at the end the small steps
        # average by themselves.
        memory = min(seen / 6, (options.end - seen) / 3, 10_000) + pictures
        fresh = 1 - math.exp(-pictures / memory)
        self.average.lerp_(self.values, fresh)
        self.losses.append(losses)
        self.counted += pictures
        if seen >= options.end or self.stopping:
            shared.state[1] = 1
        elif time.time() - self.last_save > 60 * options.minutes:
            self.save(size, stride)
        elif len(self.losses) % 50 == 0:
            self.tell(size, stride, {})

    def adam(self, gradient):
        """One step of AdamW, in proportion to the size that each layer's weights had at the start."""
        self.steps += 1
        rate, steps = self.rate(), self.steps
        self.first.lerp_(gradient, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        deviation = (self.second / (1 - BETAS[1] ** steps)).sqrt_().add_(EPSILON)
        change = self.first.div(deviation).mul_(self.sizes)
        self.values.mul_(1 - rate * self.options.decay).add_(change, alpha=-rate / (1 - BETAS[0] ** steps))

    def measure(self, size, stride):
        """Logs the figures of the average on the validation pictures; gives the sum of those that count, 0 where there
        are no such pictures."""
        overfit = self.options.overfit
        indices = self.store.training()[:overfit] if overfit else self.store.validation()
        indices = [index for index in indices if self.store.truth_known(index)]
        if not indices:
            self.tell(size, stride, {})
            return 0
        self.measured.load_state_dict(self.weights.state(self.average))
        self.measured.set_stride(stride)
        task = self.options.task
        measured = validate(self.measured, self.store, indices, size, task.subject)
        self.tell(size, stride, measured)
        return sum(measured[name] for name in task.merit)

    def tell(self, size, stride, measured):
        """A line of the log and on the standard output."""
        loss, distance = np.mean(self.losses[-50:] or [(math.nan,) * 2], 0)
        now = time.time()
        values = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "pictures": int(self.shared.state[0]),
            "size": size,
            "stride": stride,
            "rate": f"{self.rate():.2e}",
            "loss": f"{loss:.4f}",
            "distance": f"{distance:.4f}",
            "pictures_per_second": f"{self.counted / max(now - self.since, 1e-3):.2f}",
            **{name: f"{value:.4f}" for name, value in measured.items()},
        }
        path = self.options.work / "log.csv"
        fresh = not path.exists()
        with naming(path), open(path, "a", newline="") as file:
            writer = csv.DictWriter(file, LOG_COLUMNS, restval="")
            if fresh:
                writer.writeheader()
            writer.writerow(values)
        print("  ".join(f"{name} {value}" for name, value in values.items()), flush=True)
        self.counted, self.since = 0, now

    def save(self, size, stride):
        """Saves what is needed to go on as checkpoint.pt; then measures, and keeps the best network as best.pt."""
        options = self.options
        common = {
            "task": options.task.name,
            "network": self.trainee.net.shape,
            "size": size,
            "stride": stride,
            "seen": int(self.shared.state[0]),
            "average_state": self.weights.state(self.average),
        }
        training = {
            "values": self.values.cpu().clone(),
            "first": self.first,
            "second": self.second,
            "steps": self.steps,
            "average": self.average,
            "sizes": self.sizes,
            "best": self.best,
        }
        checkpoint.write(common | training, options.work / "checkpoint.pt")
        merit = self.measure(size, stride)
        if merit > self.best:
            self.best = merit
            checkpoint.write(common, options.work / "best.pt")
        self.last_save = time.time()


def written(value):
    """The value as on the command line."""
    return ",".join(f"{part:g}" for part in value) or "none" if isinstance(value, list) else value


def load_checkpoint(options, shape):
    """What `save` wrote, where it is of a network of this shape and not at its end."""
    path = options.work / "checkpoint.pt"
    if not path.exists():
        raise SystemExit(f"{path} is absent: begin without --resume")
    _, saved = checkpoint.read(path)
    if "values" not in saved:
        raise SystemExit(f"{path}: it does not have what it takes to go on, as best.pt has not")
    if (saved["task"], saved["network"]) != (options.task.name, shape):
        told = (f"--{name} {written(saved['network'][name])}" for name in NETWORK_OPTIONS)
        raise SystemExit(f"{path} is of a network with --task {saved['task']} {' '.join(told)}: set these")
    if saved["seen"] >= options.end:
        raise SystemExit(f"{path} has seen {saved['seen']} pictures and is at its end: set a larger --end to go on")
    return saved


@torch.no_grad()
def validate(net, store, indices, size, subject=None):
    """The figures of a network on pictures of the store, stretched to its input. `subject`: as that of a task."""
    device, matrix, people = next(net.parameters()).device, 0, People()
    for index in indices:
        picture = np.asarray(Image.fromarray(store.picture(index)).resize((size, size), Image.BILINEAR))
        tensor = torch.from_numpy(picture.copy())[None].to(device).float() / 127.5 - 1
        logits = upsample(net(tensor)[0].permute(0, 3, 1, 2), size)
        labels = logits[0].argmax(0).cpu().numpy()
        truth = store.mask(index)
        found = to_source(labels if subject is None else labels * subject, *truth.shape)
        one = confusion(truth, found)
        matrix = matrix + one
        people.add(truth, found, one)
    return figures(matrix) | people.figures()
