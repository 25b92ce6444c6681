"""What finding alpha takes on an emulated Cortex-M4F, beside configuring and asking for each candidate.

The published MLP 1024-32-10 with random weights, and a grid of 72 angles. Instructions are counted, for one
input: `begin`, `add` and `end`. The plain way is 72 times `beta`, `mix` and `infer`, without the comparison
of the outputs. `python benchmarks/device_search.py [PART]` measures the rows whose name has PART in it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from scn import SCN, methods, search, transforms
from scn.backbones import MLP, LeNet5
from scn.backbones.estimator import Estimator
from scn.data import Normalisation
from scn.device import targets
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.device.trace import estimated_cycles
from scn.experiment.device_search import candidates_plan, estimator_plan, tracker_plan
from scn.export import Options, Subject
from scn.export.search_plan import Plan

IMAGE, STEPS, ANGLE = (1, 32, 32), 72, torch.tensor([30.0])
ROTATION = transforms.get("rotation")
MOUNTED = torch.tensor([[0.0], [90.0], [180.0], [270.0]])
PLANS: dict[str, Callable[[SCN], Plan]] = {
    "grid": lambda net: candidates_plan("grid", search.Grid(net, ROTATION, STEPS)),
    "candidates": lambda net: candidates_plan("candidates", search.Candidates(net, ROTATION, MOUNTED)),
    "tracker": lambda net: tracker_plan(search.Tracker(net, ROTATION, 2.0, steps=STEPS)),
    "estimator": lambda net: estimator_plan(search.Estimated(net, ROTATION, Estimator(1024, 2))),
}
CALLS = {
    "search": "(net_search_begin() || net_search_add(x) || net_search_end(outputs, outputs + 1))",
    "track": "net_track(x, outputs, outputs + 1, 0)",
}
PLAIN, HALVES, BYTES = Options(), Options(weights="float16"), Options(weights="int8")
NETWORKS: dict[str, Callable[[], nn.Module]] = {"MLP": lambda: MLP(IMAGE, 10, 32), "LeNet-5": LeNet5}


@dataclass(frozen=True)
class Case:
    """`limit`: instructions of the search against those of the plain way."""

    way: str
    dims: int
    options: Options = PLAIN
    map: str = "learned"
    network: str = "MLP"
    limit: float | None = None

    @property
    def name(self) -> str:
        said = [self.way, self.network, f"D={self.dims}", self.map, self.options.weights]
        return ", ".join([*said, *(["row"] if self.options.theta == "row" else [])])


CASES = [
    *(Case("grid", dims, limit=0.1) for dims in (3, 8)),
    *(Case("grid", dims, BYTES, limit=0.1) for dims in (3, 8)),
    Case("grid", 8, HALVES, limit=0.1),
    Case("grid", 8, map="fourier", limit=0.1),
    Case("grid", 16, map="nodes", limit=0.2),
    *(Case("candidates", dims) for dims in (3, 8)),
    *(Case("tracker", dims) for dims in (3, 8)),
    Case("estimator", 3),
    Case("estimator", 3, BYTES),
    Case("grid", 3, network="LeNet-5"),
]


def subject(case: Case) -> Subject:
    torch.manual_seed(0)
    net = SCN(NETWORKS[case.network]().eval(), 2, case.dims, map=case.map, space=ROTATION.space(), seed=0)
    method = methods.get("scn")(ROTATION, dims=case.dims)
    made = Subject("net", net.eval(), method, IMAGE, Normalisation(), "none.npz")
    return replace(made, search=PLANS[case.way](net.eval()))


def measured(what: Subject, case: Case, folder: Path, call: str | None) -> tuple[int, int | None, int]:
    """Instructions, estimated cycles, bytes of RAM: of a call, or of a configuration with an answer."""
    target = targets.get(targets.DEFAULT)
    code = export(what, case.options, folder / "c")
    if call is not None:
        code = replace(
            code, header=f"{code.header}#undef SUBJECT_INFER\n#define SUBJECT_INFER(x, outputs) {call}\n"
        )
    program, footprint = build(code, target, folder / "build")
    x = np.random.default_rng(0).normal(size=(1, *what.shape)).astype(np.float32)
    group = Group(what.transform.encode(ANGLE).numpy(), x)
    found, cycles = emulate(program, code, target, [group]), estimated_cycles(program, code, target, group)
    phases = ("infer",) if call is not None else ("hypernet", "configure", "infer")
    counted = sum(int((found.instructions or {})[phase][0]) for phase in phases)
    return (
        counted,
        None if cycles is None else round(sum(cycles[phase] for phase in phases)),
        footprint.static,
    )


def main() -> None:
    torch.set_num_threads(1)
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    titles = ("instructions", "cycles, est.", "plain way", "share", "RAM", "without")
    print(f"{'':<40}" + "".join(f"{title:>14}" for title in titles))
    for case in CASES:
        if part not in case.name:
            continue
        what = subject(case)
        with tempfile.TemporaryDirectory() as place:
            call = CALLS["track" if case.way == "tracker" else "search"]
            counted, cycles, ram = measured(what, case, Path(place) / "search", call)
            each, _, without = measured(replace(what, search=None), case, Path(place) / "plain", None)
        plain = each * {"candidates": len(MOUNTED), "estimator": 1}.get(case.way, STEPS)
        late = "   above" if case.limit is not None and counted > case.limit * plain else ""
        numbers = (f"{counted:,}", "-" if cycles is None else f"{cycles:,}", f"{plain:,}")
        sizes = (f"{counted / plain:.1%}", f"{ram:,}", f"{without:,}")
        print(f"{case.name:<40}{''.join(f'{n:>14}' for n in (*numbers, *sizes))}{late}", flush=True)


if __name__ == "__main__":
    main()
