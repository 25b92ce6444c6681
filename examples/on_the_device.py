"""Two applications on real data, from training to the emulated microcontroller.

    python examples/on_the_device.py signs -o runs/signs     traffic signs, turned; the angle from an IMU
    python examples/on_the_device.py fruit -o runs/fruit     fruit under a colour sensor; the light measured

SCNs and One4All of several sizes are trained, exported to C, run on an emulated Cortex-M4F and compared: what
does a plain network cost that is as accurate as the SCN? Needs the data (`scn data get gtsrb`, `scn data get
fruit`) and the packages that `scn device` names. What is there already is not done again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCN = (sys.executable, "-c", "from scn.cli.main import main; main()")
WEIGHT = 4  # bytes of a float32
PHASES = ("hypernet", "configure", "infer")

Row = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """One row of the table: what is trained, and how its C code holds the weights."""

    label: str
    folder: str
    method: str
    dims: int | None = None
    sizes: tuple[str, ...] = ()
    theta: str | None = None

    @property
    def run(self) -> str:
        return f"{self.method}-d{self.dims}-seed0" if self.dims else f"{self.method}-seed0"


@dataclass(frozen=True)
class Application:
    task: str
    variants: tuple[Variant, ...]


def one4all(label: str, *sizes: str) -> Variant:
    folder = "".join(["one4all", *sizes]).replace("--", "-")
    return Variant(f"One4All {label}", folder, "one4all", sizes=sizes)


PUBLISHED, NODES = ("--map", "learned"), ("--map", "nodes")
SCNS = (
    Variant("SCN D=3", "scn", "scn", 3, PUBLISHED),
    Variant("SCN D=5", "scn", "scn", 5, PUBLISHED),
    Variant("SCN D=3, mixed by row", "scn", "scn", 3, PUBLISHED, theta="row"),
)
APPLICATIONS = {
    "signs": Application(
        "rotation/tapering-mlp/gtsrb-grey",
        (
            *SCNS,
            Variant(
                "SCN D=8, nodes, factored:12", "compact", "scn", 8, (*NODES, "--subspace", "factored:12")
            ),
            one4all("1x"),
            one4all("2x wider", "--width", "24"),
            one4all("3x wider", "--width", "36"),
            one4all("4x wider", "--width", "48"),
            one4all("6x wider", "--width", "72"),
            one4all("2x deeper", "--depth", "2"),
            one4all("4x deeper", "--depth", "4"),
        ),
    ),
    "fruit": Application(
        "light/mlp/fruit",
        (
            *SCNS,
            Variant("SCN D=3, nodes", "nodes", "scn", 3, NODES),
            one4all("1x"),
            one4all("2x wider", "--width", "24"),
            one4all("4x wider", "--width", "48"),
            one4all("2x deeper", "--depth", "4"),
            one4all("4x deeper", "--depth", "8"),
            Variant("One4All, light as an input", "told", "one4all-alpha"),
            Variant("light alone (control)", "control", "alpha-alone"),
        ),
    ),
}


def scn(*arguments: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    done = subprocess.run([*SCN, *arguments, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(task: str, variant: Variant, folder: Path, seeds: int, target: str) -> Row:
    """Accuracy over seeds, and what the network of the first seed costs."""
    place = folder / variant.folder
    dims = ("--dims", str(variant.dims)) if variant.dims else ()
    common = ("--task", task, "--methods", variant.method, "--seeds", str(seeds), "-o", str(place))
    (row,) = scn("compare", *common, *dims, *variant.sizes)["rows"]
    theta = ("--theta", variant.theta) if variant.theta else ()
    (cost,) = scn("device", str(place / variant.run), "--target", target, *theta)["rows"]
    return {
        "label": variant.label,
        "mean": row["mean"],
        "std": row["std"],
        "seeds": row["seeds"],
        "inference": row["inference"],
        **{name: cost[name] for name in ("flash", "ram", "instructions", "max_difference", "agreement")},
    }


def partner(rows: list[Row], ours: Row) -> Row | None:
    """The plain network with the fewest instructions that is as accurate, within one deviation."""
    enough = ours["mean"] - ours["std"]
    as_good = [row for row in rows if row["label"].startswith("One4All") and row["mean"] >= enough]
    return min(as_good, key=lambda row: row["instructions"]["infer"], default=None)


def show(rows: list[Row]) -> None:
    columns = ("network", "accuracy", *PHASES, "flash", "RAM", "RAM with weights loaded")
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for row in rows:
        phases = [f"{row['instructions'][p]:,}" if p in row["instructions"] else "" for p in PHASES]
        bytes_ = [f"{count:,}" for count in (row["flash"], row["ram"], loaded(row))]
        accuracy = f"{row['mean']:.4f} ± {row['std']:.4f}"
        print(f"| {' | '.join([row['label'], accuracy, *phases, *bytes_])} |")


def loaded(row: Row) -> int:
    """RAM if a plain network's weights were copied there too, as the published firmware does."""
    plain = "configure" not in row["instructions"]
    return row["ram"] + (WEIGHT * row["inference"] if plain else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("application", choices=APPLICATIONS)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder for all runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--target", default="cortex-m4f")
    chosen = parser.parse_args()
    application = APPLICATIONS[chosen.application]
    rows = [
        measure(application.task, variant, chosen.output, chosen.seeds, chosen.target)
        for variant in application.variants
    ]
    show(rows)
    for ours in (row for row in rows if row["label"].startswith("SCN") and "row" not in row["label"]):
        other = partner(rows, ours)
        if other is None:
            print(f"\nno plain network here is as accurate as {ours['label']}")
            continue
        ratios = {
            "instructions of an answer": other["instructions"]["infer"] / ours["instructions"]["infer"],
            "flash": other["flash"] / ours["flash"],
            "RAM": other["ram"] / ours["ram"],
            "RAM with weights loaded": loaded(other) / loaded(ours),
        }
        told = ", ".join(f"{name} {value:.2f}" for name, value in ratios.items())
        print(f"\n{other['label']} is as accurate as {ours['label']} and takes of its: {told} times as much")
    text = json.dumps({"target": chosen.target, "rows": rows}, indent=2)
    (chosen.output / "table.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
