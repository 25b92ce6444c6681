"""What a figure or table of the paper is made of: tasks, methods, how much of them a budget takes.

SCNs have the published map (`learned`). Budgets `smoke` and `cpu` take the tasks' own budgets of these names
(`LONGER`: or more epochs), with the preset `default` unless a part says otherwise; `full` is the published
recipe with its preset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scn.core.errors import ScnError
from scn.core.maps import LEARNED
from scn.core.registry import nearest
from scn.experiment.tasks import COLOURS

BUDGETS = {"smoke": "smoke", "cpu": "cpu", "full": "paper"}  # ours, and that of the tasks
SMOKE, CPU, FULL = BUDGETS
SEEDS = {"smoke": 1, "cpu": 3, "full": 3}

SCN, ONE4ALL, INVERSE, ONE4ONE = "scn", "one4all", "inverse", "one4one"
TI_POOLING, SAFN, DATA_CALIBRATOR = "ti-pooling", "safn", "data-calibrator"
BASELINES = (ONE4ALL, INVERSE, ONE4ONE)

Settings = tuple[tuple[float, ...], ...]
Dims = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # of smoke, cpu and full

USUAL: Dims = ((1, 3), (1, 2, 3, 5, 8), (1, 2, 3, 4, 5, 6, 7, 8, 16))

ROTATION, SCALING = "rotation/mlp/fashion-mnist", "scaling/mlp-5/fashion-mnist"
TRANSLATION, SHIFTED = "translation/mlp/fashion-mnist", "translation/shift-invariant-cnn/fashion-mnist"
SVHN_ROTATION, SVHN_SCALING = "rotation/shallow-cnn/svhn", "scaling/shallow-cnn/svhn"
SVHN_TRANSLATION, CIFAR = "translation/shallow-cnn/svhn", "rotation/resnet18/cifar10"
SOLIDS, PITCH, SPEED = "rotation-3d/lenet5/modelnet10", "pitch/m5/speech-commands", "speed/m5/speech-commands"
SIGNS, FRUIT = "rotation/tapering-mlp/gtsrb-grey", "light/mlp/fruit"
COLOUR_TASKS = (
    *(f"{colour}/mlp/fashion-mnist" for colour in COLOURS if colour != "saturation"),  # whose images are grey
    *(f"{colour}/shallow-cnn/svhn" for colour in COLOURS),
)
HALF_TURN, DOMAINS = "rotation/mlp-3/fashion-mnist", "rotation/lenet5/fashion-mnist"
FIRST_BLOCK, LAST_BLOCK = "layer1.*", "layer4.*"

# Epochs of the budget cpu where the task's own, meant for a first look, leave networks that still learn.
LONGER = {
    ROTATION: 60,
    SCALING: 45,
    TRANSLATION: 60,
    SHIFTED: 24,
    SVHN_ROTATION: 40,
    SVHN_SCALING: 40,
    SVHN_TRANSLATION: 40,
    **dict.fromkeys(COLOUR_TASKS, 40),
    CIFAR: 12,
    SOLIDS: 240,
    PITCH: 40,
    SPEED: 40,
}


@dataclass(frozen=True)
class Part:
    """Runs of one task that differ in method, D, setting and seed.

    `alone` are the settings that One4One is trained for. `drawn`: so many settings are drawn for the test
    instead of a grid, of smoke, cpu and full, and One4One is trained for the first of them.
    """

    task: str
    methods: tuple[str, ...] = (SCN, *BASELINES)
    dims: Dims = USUAL
    alone: Settings = ()
    map: str | None = LEARNED
    width: int | None = None
    depth: int | None = None
    configurable: tuple[str, ...] = ("*",)
    preset: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)  # of the recipe
    fixed: tuple[float, ...] | None = None  # of methods that may be trained for one setting
    drawn: tuple[int, int, int] | None = None
    budgets: tuple[str, ...] = tuple(BUDGETS)
    seeds: int | None = None  # at most

    cpu_epochs: int | None = None  # instead of those of LONGER, or of the task

    def of_budget(self, budget: str) -> tuple[int, ...]:
        return self.dims[list(BUDGETS).index(budget)]

    def changes_for(self, budget: str) -> dict[str, Any]:
        """What differs from the task's recipe of this budget."""
        epochs = self.cpu_epochs or LONGER.get(self.task)
        return self.changes if budget != CPU or epochs is None else {"epochs": epochs, **self.changes}


@dataclass(frozen=True)
class PaperEntry:
    """One row: what of the paper it is, what is trained, measured and drawn for it.

    `measures` are rows of `facts.FACTS`; `figures` those of `plots.figures`, drawn for each task.
    """

    name: str
    shows: str
    parts: tuple[Part, ...]
    figures: tuple[str, ...] = ("violin",)
    measures: tuple[str, ...] = ()
    target: str | None = None  # the processor it is measured on
    note: str = ""


def checked_budget(name: str) -> str:
    if name not in BUDGETS:
        raise ScnError(f"there is no budget {nearest(name, list(BUDGETS))}")
    return name
