"""`scn demo`: see it work on the embedded digits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from safetensors.torch import load_file, save_file
from torch import Tensor

from scn import data, runs, transforms
from scn.cli.compare import carry_out_all, finish
from scn.core.network import SCN
from scn.experiment.jobs import Exam, plan_jobs
from scn.experiment.plan import plan_run
from scn.experiment.tasks import DEMO
from scn.runs import backbone_of

SEEDS, ANGLE = 3, 130.0
SHADES = " .:-=+*#%@"


def command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for all runs.")] = Path(
        "runs/demo"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Compare an SCN with its alternatives on handwritten digits turned by any angle: two minutes.

    All networks compute with the same number of weights. The digits come with scikit-learn.

    Example: scn demo -o runs/demo
    """
    torch.set_num_threads(1)
    budget = DEMO.budget("cpu")
    transform = transforms.get(DEMO.transform)

    def make(method: str, **more: Any) -> runs.RunConfig:
        return plan_run(DEMO.data, DEMO.transform, DEMO.backbone, method, budget.recipe, **more)

    jobs = plan_jobs(make, transform, ["scn", "one4all", "inverse", "one4one"], [3, 8], range(SEEDS))
    test = Exam(transform.grid(budget.grid or 1))
    print(f"training {len(jobs)} networks on handwritten digits turned by any angle ...", file=sys.stderr)
    outcomes = carry_out_all(jobs, output, DEMO.backbone, test, quiet)
    finish(jobs, test, outcomes, output, DEMO.backbone, as_json=False)
    _use(runs.read(output / "scn-d8-seed0"), runs.read(output / "one4all-seed0"), output)


def _use(adaptive: runs.Run, rigid: runs.Run, folder: Path) -> None:
    """Configure the SCN for one angle, save and reload the plain network, and ask it about one digit."""
    net, one4all = adaptive.network(), rigid.network().eval()
    assert isinstance(net, SCN)
    method, normalise = adaptive.method(), adaptive.normalisation()
    angle = torch.tensor([ANGLE])
    path = folder / f"configured-{ANGLE:g}-degrees.safetensors"
    save_file(net.configure(method.transform.encode(angle)).state_dict(), path)
    plain = backbone_of(adaptive)()
    plain.load_state_dict(load_file(path))
    images, labels = data.load(DEMO.data).split("test")
    seen = method.transform.apply(data.to_float(images), angle)
    ours, theirs = (m.eval()(normalise(seen)).softmax(dim=1) for m in (plain, one4all))
    right = (ours.argmax(1) == labels) & (theirs.argmax(1) != labels)
    chosen = int(right.nonzero()[0]) if right.any() else 0
    print(f"\nThe SCN, configured for {ANGLE:g} degrees and saved as {path}, sees a {labels[chosen]}:\n")
    print(_text_art(seen[chosen, 0]))
    for name, answer in (("SCN D=8", ours[chosen]), ("One4All", theirs[chosen])):
        print(f"  {name} says {int(answer.argmax())} (probability {answer.max():.2f})")
    shares = ((a.argmax(1) == labels).float().mean() for a in (ours, theirs))
    print(
        "  right on the {} test digits at this angle: SCN {:.1%}, One4All {:.1%}".format(len(labels), *shares)
    )


def _text_art(image: Tensor) -> str:
    """(32, 32) in [0, 1] -> 16 lines of 32 characters."""
    rows = image.view(16, 2, 32).mean(dim=1)
    levels = (rows * (len(SHADES) - 1)).round().int().clamp(0, len(SHADES) - 1)
    return "\n".join("    " + "".join(SHADES[v] for v in row) for row in levels.tolist())
