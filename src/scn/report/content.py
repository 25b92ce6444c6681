"""What a report says, as data: the page's own script turns it into tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from scn import methods, runs
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.data import short_name
from scn.export.account import account_of
from scn.objectives import Score
from scn.pages.assemble import assemble
from scn.plots.device import rows_of
from scn.plots.scale import chance_level
from scn.plots.style import label, snapped
from scn.plots.training import metric_names
from scn.report.behaviour import frozen_networks, has_data, sample_picture, searching_networks
from scn.report.repeat import commands
from scn.report.warnings import warnings_about
from scn.runs.collection import LoadedRun
from scn.runs.collection import groups as grouped
from scn.runs.cost import cost_of
from scn.runs.labels import Key
from scn.runs.outcome import table
from scn.runs.scores import ENOUGH
from scn.transforms import Parameter, Transform

SCRIPTS = ("figures.js", "page.js")
MOST_NAMED = 6  # networks in the title
BETA_STEPS = 120  # along each parameter, and of many base models so many from each to the next:
BETWEEN = 3
INSTRUCTIONS = ("hypernet", "configure", "infer")


def write_report(shown: Sequence[LoadedRun], path: Path) -> None:
    """Write the report of these runs, which are of one task, as one file."""
    content = report(shown)
    write_atomically(path, assemble("scn.report", SCRIPTS, content["title"], content))


def report(shown: Sequence[LoadedRun]) -> dict[str, Any]:
    """Everything on the page."""
    config, transform = shown[0].run.config, shown[0].transform
    score, *further = shown[0].run.objective().scores
    groups: dict[Key, list[LoadedRun]] = grouped(shown)
    at_hand = has_data(shown)
    rows = [{**_name(key), **_row(several)} for key, several in groups.items()]
    return {
        "title": f"{config.transform} on {short_name(config.data)}: " + _those(groups),
        "summary": _summary(rows, score, "test samples" if transform.measured else "settings"),
        "measured": transform.measured,
        "enough": ENOUGH,
        "score": asdict(score),
        "further": [asdict(one) for one in further],
        "chance": chance_level(one.table for one in shown),
        "facts": _facts(shown),
        "rows": rows,
        "parameters": [asdict(p) for p in transform.parameters],
        "samples": sample_picture(shown) if at_hand else None,
        "scores": [{**_name(key), **_scores(several)} for key, several in groups.items()],
        "specialisation": frozen_networks(groups if at_hand else {}),
        "searched": searching_networks(groups),
        "beta": [{**_name(key), **_beta(several[0])} for key, several in groups.items() if _mixes(several)],
        "training": _training(groups),
        "costs": [cost for key, several in groups.items() for cost in _costs(key, several)],
        "warnings": warnings_about(shown),
        "repeat": _repeat(shown),
    }


def _those(groups: Iterable[Key]) -> str:
    """The networks by their names, or of many how many there are."""
    names = [label(*key) for key in groups]
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} networks"


def _row(several: Sequence[LoadedRun]) -> dict[str, Any]:
    """A line of the table: runs that differ by their seed alone."""
    (row,) = table([one.outcome for one in several], several[0].score)
    noted = [one.table.facts.get("further", {}) for one in several]
    keys = [key for key in noted[0] if all(key in one for one in noted)]
    further = {key: sum(one[key] for one in noted) / len(noted) for key in keys}
    return {**asdict(row), **_kept(several[0]), "further": further}


def _kept(one: LoadedRun) -> dict[str, Any]:
    """What is stored and how it is configured, and what that costs."""
    config, cost = one.run.config, cost_of(one)
    said = {"map": config.map["name"], "subspace": config.subspace} if one.mixes else {}
    sizes = {"stored": cost.stored_bytes, "theta": cost.theta_bytes, "operations": cost.operations}
    account = account_of(one).as_json()
    return {**said, "configured": cost.configured, "read": cost.read, "sizes": sizes, "account": account}


def _summary(rows: Sequence[dict[str, Any]], score: Score, over: str) -> str:
    """The result in one sentence: the best network that mixes, beside one of its size that does not adapt."""
    ours = [row for row in rows if row["method"] == methods.MIXED]
    mixing = ours or [row for row in rows if row["mixes"]] or list(rows)
    most = score.best(float(row["mean"]) for row in mixing)
    best = next(row for row in mixing if row["mean"] == most)
    said = [
        best,
        *(
            row
            for row in rows
            if row["method"] == methods.UNADAPTED and row["inference"] == best["inference"]
        ),
    ]
    direction = "" if score.higher_is_better else " (lower is better)"
    return "; ".join(f"{row['label']}: {_reached(row, score)}" for row in said) + (
        f". Test {score.label}{direction}, the mean over all {over}, with {best['inference']:,} weights for "
        "one prediction."
    )


def _reached(row: dict[str, Any], score: Score) -> str:
    return score.text(row["mean"]) + (f" ± {score.text(row['std'])}" if row["seeds"] > 1 else "")


def _name(key: Key) -> dict[str, Any]:
    method, dims, more = key
    kind = methods.get(method)
    said = {"label": label(*key), "method": method, "dims": dims, "more": more}
    return {**said, "mixes": kind.mixes, "knows_setting": kind.knows_setting}


def _mixes(several: Sequence[LoadedRun]) -> bool:
    return isinstance(several[0].network, SCN)


def _facts(shown: Sequence[LoadedRun]) -> list[list[str]]:
    """What was trained, as pairs of a name and a value."""
    config, transform = shown[0].run.config, shown[0].transform
    ranges = "; ".join(_range(p) for p in transform.parameters)
    backbones = list(dict.fromkeys(_backbone(one) for one in shown))
    counts = ", ".join(f"{count:,} {name}" for name, count in config.samples.items()) or "not recorded"
    tested = sorted({one.table.facts["samples"] for one in shown})
    recipe = config.recipe
    seeds = sorted({one.run.config.seed for one in shown})
    found = [
        ["data", short_name(config.data)],
        ["samples", f"{counts}; tested on {', '.join(f'{n:,}' for n in tested)}"],
        ["change of the input", f"{config.transform}, preset {config.preset}: {ranges}"],
        ["objective", _objective(shown)],
        ["backbone", "; ".join(backbones)],
        ["runs", f"{len(shown)}, seeds {', '.join(map(str, seeds))}"],
    ]
    if recipe:
        found.append(
            [
                "recipe",
                f"{recipe['epochs']} epochs, batch {recipe['batch_size']} with {recipe['alphas_per_batch']} "
                f"settings, {recipe['optimiser']}, learning rate {recipe['learning_rate']:g} "
                f"({recipe['schedule']})",
            ]
        )
    return found


def _objective(shown: Sequence[LoadedRun]) -> str:
    """What is learned, how it is judged, and what a network would reach that learned nothing."""
    score, chance = shown[0].score, chance_level(one.table for one in shown)
    least = "" if chance is None else f"; a constant prediction reaches {score.text(chance)}"
    return f"{shown[0].run.config.objective['name']}, judged by {score.label}{least}"


def _range(parameter: Parameter) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"{parameter.name} {parameter.low:g} to {parameter.high:g}{unit}"


def _backbone(one: LoadedRun) -> str:
    backbone = one.run.config.backbone
    arguments = backbone.get("arguments", {})
    sizes = ", ".join(f"{k} {v}" for k, v in arguments.items() if k in ("width", "depth"))
    return (backbone.get("name") or backbone["class"]) + (f" ({sizes})" if sizes else "")


def _scores(several: Sequence[LoadedRun]) -> dict[str, Any]:
    """Settings with the score of every seed. Networks for one setting each are points, not curves."""
    transform = several[0].transform
    if several[0].run.config.fixed is not None:
        settings = _snapped(transform, [one.settings[0] for one in several])
        return {"points": True, "params": settings, "seeds": [[one.values[0] for one in several]]}
    first = several[0].settings
    same = [one.values for one in several if one.settings == first]
    return {"points": False, "params": _snapped(transform, first), "seeds": same}


def _snapped(transform: Transform, settings: list[list[float]]) -> list[list[float]]:
    return [[snapped(p, v) for p, v in zip(transform.parameters, row, strict=True)] for row in settings]


@torch.no_grad()
def _beta(one: LoadedRun) -> dict[str, Any]:
    """beta along each parameter, the others in the middle of their range."""
    assert isinstance(one.network, SCN)
    transform = one.run.transform()
    axes = []
    for place, parameter in enumerate(transform.parameters):
        settings = _line(transform, place, max(BETA_STEPS, BETWEEN * one.network.dims))
        beta = one.network.beta(transform.encode(settings))
        axes.append(
            {
                "name": parameter.name,
                "values": settings[:, place].tolist(),
                "beta": [[round(v, 5) for v in column] for column in beta.mT.tolist()],
            }
        )
    return {"seed": one.run.config.seed, "axes": axes}


def _line(transform: Transform, place: int, steps: int) -> torch.Tensor:
    """(steps + 1, P): the whole range of one parameter, to its end also where it is a circle."""
    parameter = transform.parameters[place]
    middle = torch.tensor([(p.low + p.high) / 2 for p in transform.parameters])
    settings = middle.repeat(steps + 1, 1)
    settings[:, place] = torch.linspace(parameter.low, parameter.high, steps + 1)
    return settings


def _training(groups: dict[Key, list[LoadedRun]]) -> list[dict[str, Any]]:
    """A panel for each thing that was noted after every epoch: for each kind of run a list for each seed."""
    trained = {key: [one for one in several if one.epochs] for key, several in groups.items()}
    known = [one for several in trained.values() for one in several]
    return [
        {
            "title": title,
            "entries": [
                {**_name(key), "seeds": [[epoch.get(name) for epoch in one.epochs] for one in several]}
                for key, several in trained.items()
            ],
        }
        for name, title in (metric_names(known[0]) if known else {}).items()
    ]


def _costs(key: Key, several: Sequence[LoadedRun]) -> list[dict[str, Any]]:
    """A row for each target that the network was measured on, or one without a target."""
    outcome = several[0].outcome
    sizes = {"inference": outcome.used, "parameters": outcome.stored}
    base = {**_name(key), **sizes, **_kept(several[0])}
    measured = [row for one in several for row in _device_rows(one)]
    best = list({row["target"]: row for row in reversed(measured)}.values())
    return [{**base, **row} for row in reversed(best)] or [base]


def _device_rows(one: LoadedRun) -> list[dict[str, Any]]:
    """What `scn device` wrote into the run folder, if it did."""
    return [_device_row(row) for row in rows_of(one)] if one.run.device_file.is_file() else []


def _device_row(row: dict[str, Any]) -> dict[str, Any]:
    counts, options = row.get("instructions") or {}, row.get("options") or {}
    return {
        "target": ", ".join([str(row["target"]), *(str(v) for v in options.values() if isinstance(v, str))]),
        "flash": row.get("flash"),
        "ram": row.get("ram"),
        **{name: counts.get(name) for name in INSTRUCTIONS},
    }


def _repeat(shown: Sequence[LoadedRun]) -> dict[str, Any]:
    configs = [one.run.config for one in shown]
    trained = {f"{k} {v}" for config in configs for k, v in config.versions.items()}
    return {
        "commands": commands(shown),
        "versions": sorted(trained),
        "page": [f"{k} {v}" for k, v in runs.versions().items()],
        "seeds": sorted({config.seed for config in configs}),
        "checksum": sorted({config.checksum for config in configs if config.checksum}),
    }
