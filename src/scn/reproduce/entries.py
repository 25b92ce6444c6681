"""The figures and tables of the paper as one table: to add one, add a row, and its claims to `claims.py`."""

from __future__ import annotations

from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.reproduce.parts import (
    BUDGETS,
    CIFAR,
    COLOUR_TASKS,
    DATA_CALIBRATOR,
    DOMAINS,
    FIRST_BLOCK,
    FRUIT,
    HALF_TURN,
    INVERSE,
    LAST_BLOCK,
    ONE4ALL,
    ONE4ONE,
    PITCH,
    ROTATION,
    SAFN,
    SCALING,
    SCN,
    SHIFTED,
    SIGNS,
    SOLIDS,
    SPEED,
    SVHN_ROTATION,
    SVHN_SCALING,
    SVHN_TRANSLATION,
    TI_POOLING,
    TRANSLATION,
    Dims,
    PaperEntry,
    Part,
    Settings,
)

NONE: Dims = ((), (), ())
TO_64: Dims = ((1, 3), (1, 2, 3, 5, 8, 16, 32, 64), (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64))
TO_8: Dims = ((1, 3), (1, 3, 5, 8), (1, 2, 3, 4, 5, 6, 7, 8))
FEW: Dims = ((3,), (1, 3, 5), (1, 2, 3, 4, 5, 6, 7, 8))
TWO: Dims = ((3,), (3, 8), (1, 2, 3, 4, 5, 6, 7, 8))
LOW: Dims = ((2,), (3,), (1, 2, 3, 5, 8))

ANGLES: Settings = ((0.0,), (30.0,), (45.0,), (60.0,), (90.0,))
SCALES: Settings = ((0.2,), (0.5,), (1.0,), (1.5,), (2.0,))
SHIFTS: Settings = ((0.0, 0.0), (8.0, 8.0), (8.0, -8.0), (-8.0, 8.0), (-8.0, -8.0))
PITCHES: Settings = ((-8.0,), (-4.0,), (0.0,), (4.0,), (8.0,))
SPEEDS: Settings = ((0.1,), (0.2,), (0.4,), (0.6,), (1.0,))


CURVES = ("accuracy", "violin", "beta", "specialisation")
OVER_TIME = "training"  # where networks still learn at the end: how they did
# Published: 0.01 times the sum over a batch of 64, which is 0.64 times the mean.
ENTROPY = {"entropy_weight": 0.64, "wrong_entropy_weight": 0.64}


def ours(task: str, dims: Dims, **more: Any) -> Part:
    """Beside the published map, the one that we take where nothing is said."""
    return Part(task, (SCN,), dims, map=None, budgets=("smoke", "cpu"), **more)


def elsewhere(task: str, alone: Settings) -> tuple[Part, ...]:
    """Another pair of data and network: what claims compare has all seeds, the rest of the curve one."""
    return (
        Part(task, (SCN, ONE4ALL), ((3,), (3, 8), TO_8[2])),
        Part(task, alone=alone, dims=TO_8, seeds=1),
    )


def of_sizes(task: str, name: str, sizes: tuple[int, ...], usual: int) -> tuple[Part, ...]:
    """The same networks at several widths or depths; the budget smoke takes the first two.

    So many that they are trained for less long than others: their order is asked for, not their height. What
    One4All gains is compared between sizes, and needs its spread.
    """
    dims: Dims = ((3,), (3, 8), (1, 3, 5, 8))
    found = []
    for place, size in enumerate(sizes):
        own: dict[str, Any] = {} if size == usual else {name: size}  # the usual one as it is found elsewhere
        own |= {"budgets": tuple(BUDGETS) if place < 2 else ("cpu", "full"), "cpu_epochs": 20}
        found.append(Part(task, (SCN, INVERSE, ONE4ONE), dims, alone=ANGLES[:1], seeds=1, **own))
        found.append(Part(task, (ONE4ALL,), NONE, **own))
    return tuple(found)


def on_device(task: str, widths: dict[str, tuple[int, ...]]) -> tuple[Part, ...]:
    """SCNs, and One4All of their size and of larger ones."""
    larger = [(name, size) for name, sizes in widths.items() for size in sizes]
    return (
        Part(task, (SCN, ONE4ALL), ((3,), (3, 5), (3, 5))),
        *(Part(task, (ONE4ALL,), NONE, **{name: size}) for name, size in larger),  # type: ignore[arg-type]
    )


ENTRIES: dict[str, PaperEntry] = {
    entry.name: entry
    for entry in (
        PaperEntry(
            "transforms",
            "figure 10: samples under each kind of change",
            (
                *(Part(task, (ONE4ALL,), NONE, seeds=1) for task in (ROTATION, SCALING, TRANSLATION)),
                Part(SOLIDS, (ONE4ALL,), NONE, preset="angles", drawn=(4, 30, 30), seeds=1),
            ),
            ("samples",),
            note="the networks are those of other entries; the figure shows their inputs",
        ),
        PaperEntry(
            "rotation",
            "figures 1 (middle, right), 2 (left, middle) and 14 (top): MLP on Fashion-MNIST",
            (Part(ROTATION, dims=TO_64, alone=ANGLES), ours(ROTATION, ((3,), (3, 8, 16), ()))),
            CURVES,
            ("beta", "frozen"),
        ),
        PaperEntry(
            "scaling",
            "figures 2 (right) and 15: MLP of five layers on Fashion-MNIST",
            (Part(SCALING, alone=SCALES), ours(SCALING, ((), (8,), ()))),
            CURVES,
            ("beta", "frozen"),
        ),
        PaperEntry(
            "translation",
            "figures 3, 4 (bottom) and 17: MLP on Fashion-MNIST",
            (Part(TRANSLATION, alone=SHIFTS, dims=TO_8), ours(TRANSLATION, ((), (9,), ()))),
            CURVES,
            ("beta", "frozen"),
        ),
        PaperEntry(
            "svhn-rotation",
            "figures 3, 11 (left) and 14 (bottom): ShallowCNN on SVHN",
            elsewhere(SVHN_ROTATION, ANGLES),
            (*CURVES, OVER_TIME),
            ("beta", "frozen"),
        ),
        PaperEntry(
            "svhn-scaling",
            "figures 3 and 4 (middle): ShallowCNN on SVHN",
            elsewhere(SVHN_SCALING, SCALES),
            (*CURVES, OVER_TIME),
            ("beta", "frozen"),
        ),
        PaperEntry(
            "svhn-translation",
            "figure 3: ShallowCNN on SVHN",
            elsewhere(SVHN_TRANSLATION, SHIFTS),
            (*CURVES, OVER_TIME),
            ("beta", "frozen"),
        ),
        PaperEntry(
            "cifar-rotation",
            "figures 3, 4 (top) and 11 (right): ResNet18 on CIFAR-10",
            (Part(CIFAR, alone=ANGLES, dims=FEW, seeds=1),),
            (*CURVES, OVER_TIME),
            ("beta", "frozen"),
            note="the budgets smoke and cpu have a ResNet18 of width 8 instead of 64",
        ),
        PaperEntry(
            "blocks",
            "figure 16: one block of ResNet18 configured, CIFAR-10",
            (
                Part(CIFAR, (SCN, ONE4ALL), ((3,), (3,), (3, 5, 8)), seeds=1),
                *(
                    Part(CIFAR, (SCN,), ((3,), (3,), (3, 5, 8)), configurable=(block,), seeds=1)
                    for block in (FIRST_BLOCK, LAST_BLOCK)
                ),
            ),
            note="the budgets smoke and cpu have a ResNet18 of width 8 instead of 64",
        ),
        PaperEntry(
            "colour",
            "figure 12: brightness, contrast, saturation, sharpness on Fashion-MNIST and SVHN",
            tuple(Part(task, alone=((0.2,), (2.0,)), dims=LOW) for task in COLOUR_TASKS),
            note="saturation of Fashion-MNIST is left out: its images are grey",
        ),
        PaperEntry(
            "audio",
            "figure 13: pitch and speed, M5 on Speech Commands",
            tuple(
                part
                for task, alone in ((PITCH, PITCHES), (SPEED, SPEEDS))
                for part in (
                    Part(task, (SCN, ONE4ALL), TWO),
                    Part(task, (INVERSE, ONE4ONE), NONE, alone=alone, seeds=1),
                )
            ),
            ("violin", OVER_TIME),
        ),
        PaperEntry(
            "shift-invariant",
            "figure 18: translation with a shift-invariant CNN",
            (Part(SHIFTED, (SCN, ONE4ALL), ((3,), (2, 3, 5), (2, 3, 5, 8))),),
            ("accuracy", "beta"),
            ("beta",),
        ),
        PaperEntry(
            "rotation-3d",
            "figures 6, 7 and 19: LeNet-5 on ModelNet10, 30 random poses",
            (
                Part(
                    SOLIDS,
                    (SCN, ONE4ALL, ONE4ONE),
                    ((1, 3), (1, 3, 8), (1, 2, 3, 4, 5, 6, 7, 8, 16, 32)),
                    preset="angles",
                    drawn=(4, 30, 30),
                ),
                ours(SOLIDS, ((), (8,), ()), drawn=(4, 30, 30)),
                Part(
                    SOLIDS,
                    (SCN,),
                    ((), (8,), ()),
                    preset="paper",
                    drawn=(4, 30, 30),
                    budgets=("cpu",),
                    seeds=1,
                ),
            ),
            ("settings", "violin", "beta", OVER_TIME),
            ("beta",),
            note="solids are voxel grids here, meshes in the paper; its means are over 2,197 poses. Alpha "
            "are cosines and sines of three angles, as published; beside them D=8 with the nine numbers of "
            "the rotation (preset default), and one seed with images of counts instead of depth (preset "
            "paper)",
        ),
        PaperEntry(
            "search",
            "figure 8: the setting found from the input",
            (
                Part(ROTATION, (SCN,), ((3,), (3, 8), (3, 8, 16)), changes=ENTROPY),
                Part(ROTATION, (ONE4ALL,), NONE),
                Part(SVHN_ROTATION, (SCN,), ((3,), (3, 8), (3, 8)), changes=ENTROPY),
                Part(SVHN_ROTATION, (ONE4ALL,), NONE),
                Part(TRANSLATION, (SCN,), ((3,), (3, 8), (3, 8)), changes=ENTROPY),
                Part(TRANSLATION, (ONE4ALL,), NONE),
            ),
            measures=("search",),
            note="by a grid of settings, which finds what basin hopping finds (see search.md)",
        ),
        PaperEntry(
            "capacity",
            "figure 5: width and depth of MLPs on Fashion-MNIST and of ShallowCNNs on SVHN",
            (
                *of_sizes(ROTATION, "width", (16, 32, 64, 128), 32),
                *of_sizes(ROTATION, "depth", (1, 2, 3, 5), 1),
                *of_sizes(SVHN_ROTATION, "width", (16, 32, 64), 32),
                *of_sizes(SVHN_ROTATION, "depth", (2, 3, 4), 2),
            ),
            ("capacity",),
        ),
        PaperEntry(
            "table-1",
            "table 1: TI-Pooling and SCNs on half a turn, MLP of three layers on Fashion-MNIST",
            (
                Part(HALF_TURN, (SCN,), ((4,), (4, 8, 16), (4, 8, 16))),
                Part(HALF_TURN, (TI_POOLING,), NONE, seeds=1),
            ),
            note="our TI-Pooling has the backbone of the SCNs, the published one a network of its own",
        ),
        PaperEntry(
            "table-2",
            "table of domain adaptation in the appendix: SAFN, data calibrator and SCNs, LeNet-5",
            (
                Part(DOMAINS, (SCN,), ((3,), (3, 5), (3, 5)), seeds=1),
                *(
                    Part(DOMAINS, (SAFN, DATA_CALIBRATOR), NONE, fixed=fixed, budgets=budgets, seeds=1)
                    for fixed, budgets in (
                        ((10.0,), tuple(BUDGETS)),
                        ((90.0,), ("cpu", "full")),
                        (None, ("cpu", "full")),
                    )
                ),
            ),
            note="SCNs are told the angle and have labels of turned images; the others have neither",
        ),
        PaperEntry(
            "device-fruit",
            "figure 9: fruit under changing light, on a microcontroller",
            on_device(FRUIT, {"width": (24, 48), "depth": (4, 8)}),
            ("device",),
            ("device",),
            target="cortex-m4f",
            note="emulated: instructions, not milliseconds and millijoules",
        ),
        PaperEntry(
            "device-signs",
            "figure 20: traffic signs at any angle, on a microcontroller",
            on_device(SIGNS, {"width": (24, 36, 48), "depth": (2, 4)}),
            ("device",),
            ("device",),
            target="cortex-m4f",
            note="emulated Cortex-M4F instead of an ESP32-S3: instructions, not milliseconds and millijoules",
        ),
    )
}

# What of the paper needs no run.
WITHOUT = {
    "figure 1 (left)": "a drawing of the architecture",
    "table of hyper-parameters": "`scn tasks` and src/scn/experiment/tasks.py, the budget `full`",
}


def get(name: str) -> PaperEntry:
    if name not in ENTRIES:
        raise ScnError(f"there is no figure or table {nearest(name, list(ENTRIES))}")
    return ENTRIES[name]
