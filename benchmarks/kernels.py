"""What each kernel of the exported C takes on emulated processors, and whether its limit holds.

Networks with random weights; whole numbers are calibrated by noise. Instructions are counted; cycles are an
estimate from the table of the core's manual (see `scn.device.cycles`). `python benchmarks/kernels.py [PART]`
measures the rows whose name has PART in it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from scn import SCN, methods, transforms
from scn.backbones import M5, MLP, LeNet5, ShallowCNN
from scn.data import Normalisation
from scn.device import targets
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.device.trace import estimated_cycles
from scn.export import LabelledSamples, Options, Subject
from scn.export.c import graph_of

ANGLE = torch.tensor([30.0])
IMAGE, COLOUR, SOUND = (1, 32, 32), (3, 32, 32), (1, 16_000)
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP": (lambda: MLP(IMAGE, 10, 32), IMAGE),
    "small MLP": (lambda: MLP((1, 16, 16), 10, 32), (1, 16, 16)),
    "LeNet-5": (LeNet5, IMAGE),
    "ShallowCNN": (lambda: ShallowCNN(COLOUR, 10), COLOUR),
    "M5": (lambda: M5(SOUND, 35), SOUND),
}
FLOAT_ROW = Options(theta="row")
INT8, INT8_ROW = (Options(theta=theta, weights="int8", inference="int8") for theta in ("ram", "row"))
HALVES, BYTES = Options(weights="float16"), Options(weights="int8")


@dataclass(frozen=True)
class Case:
    """One row: `limit` is of instructions, of instructions for a unit, or of bytes of RAM."""

    name: str
    network: str
    options: Options
    dims: int
    phase: str  # infer, configure or ram
    per: str  # call, MAC or base weight
    limit: float | None
    target: str = "cortex-m4f"
    map: str = "learned"


CASES = [
    *(
        Case("row, int8", "MLP", INT8_ROW, d, "infer", "call", limit)
        for d, limit in ((3, 140e3), (5, 230e3), (16, 720e3))
    ),
    *(
        Case("row, float32", "MLP", FLOAT_ROW, d, "infer", "call", limit)
        for d, limit in ((3, 130e3), (5, 212e3), (16, 680e3))
    ),
    *(
        Case("row, of 64 base models", "small MLP", options, 64, "infer", "MAC", None, map=kind)
        for kind in ("nodes", "experts")
        for options in (FLOAT_ROW, INT8_ROW)
    ),
    *(
        Case("float16 mixing", "MLP", HALVES, d, "configure", "call", limit)
        for d, limit in ((5, 620e3), (16, 1263e3))
    ),
    *(Case("int8 to float mixing", "MLP", BYTES, d, "configure", "base weight", 3) for d in (3, 5, 16)),
    *(Case("int8 mixing", "MLP", INT8, d, "configure", "base weight", 2) for d in (3, 5, 16)),
    Case(
        "int8 mixing, of 64 base models", "small MLP", INT8, 64, "configure", "base weight", None, map="nodes"
    ),
    *(Case("int8", name, INT8, 2, "infer", "MAC", 1.3) for name in ("LeNet-5", "ShallowCNN", "M5")),
    *(
        Case("int8", name, INT8, 2, "infer", "MAC", 4, target)
        for target in ("cortex-m3", "rv32")
        for name in ("MLP", "LeNet-5")
    ),
    Case("RAM, float32", "M5", Options(), 2, "ram", "call", 130e3),
]


class Noise(Subject):
    """Calibrated by noise."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(8, *self.shape, generator=generator)
        return LabelledSamples(x, torch.zeros(8, dtype=torch.long), ANGLE.expand(8, -1))


def subject(case: Case) -> Noise:
    torch.manual_seed(0)
    make, shape = NETWORKS[case.network]
    transform = transforms.get("rotation")
    net = SCN(
        make().eval(), transform.alpha_dim, case.dims, map=case.map, space=transform.space(), seed=0
    ).eval()
    method = methods.get("scn")(transform, dims=case.dims)
    return Noise("net", net, method, shape, Normalisation(), "none.npz")


def units(case: Case, what: Subject) -> int:
    """Multiply-accumulates of an inference, or weights of the base models that are mixed."""
    if case.per == "call":
        return 1
    graph = graph_of(what, what.network)
    if case.per == "MAC":
        return graph.macs()
    mixed = 2 if graph.few else case.dims
    return mixed * sum(p.numel() for p in what.plain(ANGLE).parameters())


def measured(case: Case, folder: Path) -> tuple[float, float | None]:
    """What the case counts, and its estimated cycles for the same unit."""
    what, target = subject(case), targets.get(case.target)
    code = export(what, case.options, folder / "c")
    program, footprint = build(code, target, folder / "build")
    x = np.random.default_rng(0).normal(size=(1, *what.shape)).astype(np.float32)
    group = Group(what.transform.encode(ANGLE).numpy(), x)
    found = emulate(program, code, target, [group])
    if case.phase == "ram":
        return footprint.static + max(found.stack.values()), None
    cycles, per = estimated_cycles(program, code, target, group), units(case, what)
    counted = float((found.instructions or {})[case.phase][0])
    return counted / per, None if cycles is None else cycles[case.phase] / per


def main() -> None:
    torch.set_num_threads(1)
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'':<46}{'unit':>12}{'instructions':>14}{'limit':>10}{'cycles, estimated':>20}")
    for case in CASES:
        name = f"{case.name}, {case.network}, D={case.dims}, {case.map}, {case.target}"
        if part not in name:
            continue
        with tempfile.TemporaryDirectory() as place:
            counted, cycles = measured(case, Path(place))
        form = ",.0f" if case.per == "call" else ",.2f"
        limit = "-" if case.limit is None else format(case.limit, form.replace(".2", ".1"))
        said = "-" if cycles is None else format(cycles, form)
        late = "   above" if case.limit is not None and counted > case.limit else ""
        unit = "bytes" if case.phase == "ram" else case.per
        print(f"{name:<46}{unit:>12}{counted:>14{form}}{limit:>10}{said:>20}{late}", flush=True)


if __name__ == "__main__":
    main()
