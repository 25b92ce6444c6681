"""A search for the angle of one batch, against basin hopping as published, interleaved in one run.

`python benchmarks/search.py RUN` measures an SCN that was trained with --entropy-weight; without a run, one
is trained on the embedded digits first.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import torch

from scn import SCN, runs, search
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.runs import Run, backbone_of
from scn.search import Search
from scn.search.study import draw_inputs
from scn.training.recipe import Recipe

BATCH, BATCHES = 4, 12
LEAST, MOST = 300.0, 10.0  # times as fast as basin hopping; milliseconds


def trained(folder: Path) -> Run:
    recipe = Recipe(epochs=60, batch_size=64, entropy_weight=0.3, wrong_entropy_weight=0.3)
    run = runs.create(folder, plan_run("digits", "rotation", "mlp", "scn", recipe, dims=8))
    train(run, backbone_of(run), device="cpu", prefetch=False)
    return run


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        run = runs.read(Path(sys.argv[1])) if len(sys.argv) > 1 else trained(Path(folder) / "run")
        net = run.network()
        assert isinstance(net, SCN)
        transform, shown = run.transform(), draw_inputs(run, BATCH, BATCH * BATCHES)
    ways: dict[str, Search] = {
        "basin-hopping": search.BasinHopping(net, transform),
        "basin-hopping, exact": search.BasinHopping(net, transform, hops=10, exact=True),
        "grid": search.Grid(net, transform, doubt="entropy"),
        "coarse-to-fine": search.CoarseToFine(net, transform, doubt="entropy"),
        "refine": search.Refine(net, transform, doubt="entropy"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    entropy: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way(shown.x[:BATCH])
    for x in shown.x.split(BATCH):
        for name, way in ways.items():
            began = time.perf_counter()
            found = way(x)
            seconds[name].append(time.perf_counter() - began)
            entropy[name].append(found.entropy.item())
    median = {name: sorted(values)[len(values) // 2] for name, values in seconds.items()}
    print(
        f"One search for a batch of {BATCH}, D={net.dims}, {run.config.data} (exact: 10 hops instead of 100)"
    )
    for name, value in median.items():
        ratio = median["basin-hopping"] / value
        mean = sum(entropy[name]) / len(entropy[name])
        print(f"  {name:<22} {1e3 * value:9.2f} ms  {ratio:7.1f} x as fast   mean entropy {mean:.4f}")
    print(f"  limits: {LEAST:.0f} x as fast at no higher entropy, at most {MOST:.0f} ms")


if __name__ == "__main__":
    main()
