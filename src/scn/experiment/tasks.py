"""The paper's tasks, and a few more: data, transform, backbone and hyper-parameters, as one table.

Each comes with three budgets: `paper`, as published; `cpu`, our own recipe at a length for two cores; and
`smoke`, a few seconds that only show that everything fits together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.training.recipe import Recipe

BUDGETS = ("paper", "cpu", "smoke")


@dataclass(frozen=True)
class Budget:
    """How long a task is trained, and how thoroughly tested."""

    recipe: Recipe
    sizes: dict[str, Any]
    grid: int | None = None  # values of each parameter in the test; None for the transform's own grid
    test_samples: int = 0  # 0 for all


@dataclass(frozen=True)
class Task:
    """One row of the table."""

    transform: str
    backbone: str
    data: str
    paper: Recipe
    cpu_epochs: int
    cpu_grid: int
    label: str = ""  # how the backbone is called in the name, if it has other sizes
    sizes: dict[str, Any] = field(default_factory=dict)
    cpu_sizes: dict[str, int] = field(default_factory=dict)
    cpu: dict[str, Any] = field(default_factory=dict)  # what else differs from our recipe
    preset: str = "default"
    dims: tuple[int, ...] = (1, 3, 8)

    @property
    def name(self) -> str:
        return f"{self.transform}/{self.label or self.backbone}/{self.data}"

    def budget(self, name: str) -> Budget:
        if name == "paper":
            return Budget(self.paper, self.sizes)
        if name not in BUDGETS:
            raise ScnError(f"there is no budget {nearest(name, BUDGETS)}")
        ours = Recipe(epochs=self.cpu_epochs).changed(**self.cpu)
        sizes = {**self.sizes, **self.cpu_sizes}
        if name == "cpu":
            return Budget(ours, sizes, self.cpu_grid)
        smoke = replace(ours, epochs=2, batch_size=16, alphas_per_batch=8, train_samples=64)
        return Budget(smoke, sizes, grid=2, test_samples=16)


PUBLISHED = Recipe(alphas_per_batch=1, learning_rate=1e-3, optimiser="adam", validation_share=0.0)
MLP = replace(PUBLISHED, epochs=500, batch_size=64)
SHALLOW_CNN = replace(PUBLISHED, epochs=500, batch_size=256)
RESNET18 = replace(
    PUBLISHED,
    epochs=1000,
    batch_size=512,
    weight_decay=1e-4,
    schedule="warm-restarts",
    restart_epochs=25,
    restart_growth=25,
    horizontal_flip=True,
)
LENET5 = replace(PUBLISHED, epochs=6000, batch_size=256, learning_rate=6e-3, final_rate=5e-6)
M5 = replace(PUBLISHED, epochs=100, batch_size=256, learning_rate=1e-2)

# A turn in space needs many steps: Adam's are three times as short as Muon's here, and fewer are needed where
# base models start alike and are not driven apart (docs/decisions.md).
SOLID = {
    "batch_size": 128,
    "alphas_per_batch": 32,
    "optimiser": "adam",
    "base_noise": 0.3,
    "separation_weight": 0.0,
}

# Where a layer has 5 units, mixtures of bases that start apart are no good: they start alike.
NARROW = {"batch_size": 128, "learning_rate": 6e-3, "base_noise": 0.3, "separation_weight": 0.0}

PLANE = (1, 4, 9)  # base models that fit a grid of two axes
COLOURS = ("brightness", "contrast", "saturation", "sharpness")

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("rotation", "mlp", "fashion-mnist", MLP, 20, 36),
        Task("rotation", "mlp", "digits", MLP, 150, 72, cpu={"batch_size": 64}),
        Task(
            "rotation",
            "mlp",
            "fashion-mnist",
            MLP,
            60,
            37,
            label="mlp-3",
            sizes={"width": 64, "depth": 3, "norm": True, "norm_first": False},
            preset="half-turn",
            dims=(4, 8, 16),
        ),
        Task("scaling", "mlp", "fashion-mnist", MLP, 15, 19, label="mlp-5", sizes={"depth": 5}),
        Task("translation", "mlp", "fashion-mnist", MLP, 20, 7, dims=PLANE),
        *(Task(colour, "mlp", "fashion-mnist", MLP, 20, 10) for colour in COLOURS),
        Task("rotation", "shallow-cnn", "svhn", SHALLOW_CNN, 20, 36, cpu={"batch_size": 128}),
        Task("scaling", "shallow-cnn", "svhn", SHALLOW_CNN, 10, 10, cpu={"batch_size": 128}),
        Task("translation", "shallow-cnn", "svhn", SHALLOW_CNN, 10, 5, cpu={"batch_size": 128}, dims=PLANE),
        *(
            Task(colour, "shallow-cnn", "svhn", SHALLOW_CNN, 20, 10, cpu={"batch_size": 128})
            for colour in COLOURS
        ),
        Task("rotation", "resnet18", "cifar10", RESNET18, 4, 12, cpu_sizes={"width": 8}, dims=(1, 3, 5)),
        Task("rotation-3d", "lenet5", "modelnet10", LENET5, 60, 4, cpu=SOLID),
        Task("rotation", "lenet5", "fashion-mnist", MLP, 20, 36, dims=(3, 5)),
        Task("pitch", "m5", "speech-commands", M5, 10, 11, cpu={"batch_size": 64}, dims=(1, 3, 5)),
        Task("speed", "m5", "speech-commands", M5, 10, 10, cpu={"batch_size": 64}),
        Task(
            "translation",
            "shift-invariant-cnn",
            "fashion-mnist",
            SHALLOW_CNN,
            6,
            5,
            cpu={"batch_size": 64, "train_samples": 8000, "separation_weight": 0.0},
            preset="padded",
            dims=(2, 3, 5),
        ),
        Task(
            "rotation",
            "tapering-mlp",
            "gtsrb-grey",
            MLP,
            150,
            36,
            cpu=NARROW,
            preset="grey",
            dims=(3, 5),
        ),
        Task(
            "light",
            "mlp",
            "fruit",
            MLP,
            240,
            10,
            sizes={"width": 12, "depth": 2},
            cpu={"batch_size": 64},
            dims=(3, 5),
        ),
    )
}


DEMO = TASKS["rotation/mlp/digits"]
DEMO_METHODS = ("scn", "one4all", "inverse", "one4one")
CHECKPOINTS = TASKS["rotation/mlp/fashion-mnist"]  # what the published checkpoints were trained for


def get(name: str) -> Task:
    if name not in TASKS:
        raise ScnError(f"there is no task {nearest(name, list(TASKS))}")
    return TASKS[name]


def recipe(name: str, backbone: str) -> Recipe:
    """The recipe of this name: "default" (ours) or "paper" (published, for this backbone)."""
    if name == "default":
        return Recipe()
    if name != "paper":
        raise ScnError(f"there is no recipe {nearest(name, ('default', 'paper'))}")
    rows = {task.backbone: task.paper for task in reversed(TASKS.values())}
    if backbone not in rows:
        raise ScnError(f"the paper has no recipe for {nearest(backbone, sorted(rows))}")
    return rows[backbone]
