"""What a network is trained for: its classes, its shape, and at which sizes it is trained."""

from dataclasses import dataclass

import command  # noqa: F401  (finds the converter's modules)
from conversion.known import VOC_LABELS
from store import PERSON


@dataclass(frozen=True)
class Task:
    """- subject: the class that is told from all else; None: all classes are told apart
    - network: arguments of DeepLabV3
    - stages: as for train.py
    - cell: the loss is taken at every point whose row and column are multiples of this
    - hints: weight of the distance to the teacher at the start
    - focus: how much more a pixel weighs that is no background
    - edge: how much more a pixel weighs that lies at the subject's outline
    - crop, pasted, webcam: how samples are made, see samples.py
    - merit: the sum of these figures says which network is the best
    """

    name: str
    model: str
    labels: tuple
    subject: int | None
    network: dict
    stages: str
    cell: int
    hints: float
    focus: float
    edge: float
    crop: float
    pasted: float
    webcam: float
    merit: tuple


SCENE = Task(
    name="scene",
    model="silhouette-deeplabv3",
    labels=tuple(VOC_LABELS),
    subject=None,
    network={"expansions": (4, 4, 4, 4, 4, 4, 3.6), "head": 256},
    stages="193:16:40000,257:16",
    cell=4,
    hints=20,
    focus=1,
    edge=0,
    crop=0.5,
    pasted=0.5,
    webcam=0,
    merit=("person", "accuracy", "main"),
)

# Size counts more than width: at 257, 321 and 513 pixels the teacher itself has a person IoU of 0.70, 0.76 and 0.79.
# Stride 32 pays for it, and a decoder gives the outlines back.
PORTRAIT = Task(
    name="portrait",
    model="silhouette-portrait",
    labels=("background", "person"),
    subject=PERSON,
    network={"expansions": (1, 2, 3, 3.5, 3, 4, 3.6), "head": 256, "stem": 16, "decoder": (48, 32, 16)},
    stages="225:32:60000,257:32:140000,321:32",
    cell=2,
    hints=8,
    focus=0,
    edge=2,
    crop=0.4,
    pasted=0.35,
    webcam=0.35,
    merit=("people", "outline"),
)

TASKS = {task.name: task for task in (SCENE, PORTRAIT)}
