"""`scn reproduce`: the figures, tables and claims of the paper."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from scn.cli.compare import AddressOption, EngineOption, JobsOption, carried_out, goes_on
from scn.core.errors import Failed, ScnError
from scn.core.storage import write_atomically
from scn.experiment import engines
from scn.reproduce import costs, published
from scn.reproduce.carry import Finished, all_evidence, missing, read_evidence
from scn.reproduce.entries import ENTRIES, WITHOUT, get
from scn.reproduce.evidence import Evidence
from scn.reproduce.pages import claims_page, verdicts
from scn.reproduce.parts import BUDGETS, FULL, SMOKE, PaperEntry, checked_budget
from scn.reproduce.plan import plan
from scn.reproduce.session import Undone, reproduce
from scn.reproduce.verdicts import FAILS, HOLDS, OPEN

NAMES = ", ".join(ENTRIES)


def command(
    name: Annotated[str, typer.Argument(help=f"list, all, claims, or one of {NAMES}.")],
    budget: Annotated[str, typer.Option(help="smoke (seconds), cpu (hours) or full (as published).")] = "cpu",
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder for all models and results.")
    ] = Path("runs/paper"),
    seeds: Annotated[
        int | None,
        typer.Option(help="How often each model is trained; by default as the budget says.", min=1),
    ] = None,
    jobs: JobsOption = None,
    engine: EngineOption = engines.USUAL,
    address: AddressOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Make a figure or table of the paper: train what is missing, draw it, and say what holds.

    `list` shows all of them, what they need and what is done; `all` makes all; `claims` prints what the paper
    says and what was found of it. Stopped at any time, the same command goes on; models are shared, and
    nothing is trained twice. Writes DIR/NAME/ (figures, table, verdict) and DIR/models/.

    Examples: scn reproduce list
    scn reproduce rotation --budget cpu -o runs/paper
    scn reproduce claims -o runs/paper > claims.md
    """
    torch.set_num_threads(1)
    checked_budget(budget)
    if name == "list":
        _list(budget, output, seeds, as_json)
    elif name == "claims":
        _claims(output, as_json)
    else:
        chosen = list(ENTRIES.values()) if name == "all" else [get(name)]
        carry = partial(carried_out, quiet=quiet, at_once=jobs, engine=engine, address=address)
        _make(chosen, budget, output, carry, seeds, as_json, quiet)


def _make(
    chosen: Sequence[PaperEntry],
    budget: str,
    folder: Path,
    carry: Any,
    seeds: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Carry out, and say at the end what could not be done."""
    notes = Console(stderr=True, quiet=quiet, soft_wrap=True)
    done: list[Finished] = []
    undone: list[Undone] = []
    with goes_on():
        for ended in reproduce(chosen, budget, folder, carry, seeds):
            if isinstance(ended, Undone):
                undone.append(ended)
                notes.print(f"{ended.entry}: cannot be done: {ended.reason}", markup=False)
            else:
                done.append(ended)
                notes.print(f"{ended.evidence.entry}: wrote {ended.folder}", markup=False)
    if len(chosen) == len(ENTRIES):
        _write_claims(folder)
    if as_json:
        missed = [{"entry": one.entry, "reason": one.reason} for one in undone]
        print(json.dumps({"budget": budget, "rows": [one.to_json() for one in done], "missed": missed}))
    else:
        _show([one.evidence for one in done], budget)
    if undone and len(chosen) == 1:
        raise ScnError(undone[0].reason)
    if undone:
        names = ", ".join(one.entry for one in undone)
        raise Failed(f"{len(undone)} of {len(chosen)} could not be done: {names}; the reasons are above")


def _show(several: Sequence[Evidence], budget: str) -> None:
    """Every claim and its verdict, on standard output."""
    shown = Table(title=f"what the budget {budget} says of the paper", title_justify="left")
    for column in ("entry", "claim", "verdict", "why"):
        shown.add_column(column)
    for evidence in several:
        found = verdicts(evidence)
        for claim in found["claims"]:
            shown.add_row(evidence.entry, claim["says"], claim["verdict"], claim["why"])
        reached = Counter(value["verdict"] for value in found["values"])
        if reached:
            counted = ", ".join(f"{reached[v]} {v}" for v in (HOLDS, FAILS, OPEN) if reached[v])
            shown.add_row(evidence.entry, "published scores are reached", "", counted)
    Console(width=150).print(shown)


def _write_claims(folder: Path) -> None:
    write_atomically(folder / "claims.md", claims_page(all_evidence(folder)).encode())


def _claims(folder: Path, as_json: bool) -> None:
    known = all_evidence(folder)
    if as_json:
        print(json.dumps({"rows": [verdicts(evidence) for evidence in known.values()]}))
    else:
        print(claims_page(known), end="")


def _list(budget: str, folder: Path, seeds: int | None, as_json: bool) -> None:
    """Every figure and table: what it needs, how long it takes, what is done."""
    scale = costs.speed()
    rows = [_row(entry, budget, folder, seeds, scale) for entry in ENTRIES.values()]
    total = {name: _taken(list(ENTRIES.values()), name, seeds, scale) for name in BUDGETS}
    on_paper = costs.on_paper(seeds, scale)
    got = (
        "times are for one core, trainings alone, from seconds of an epoch measured on "
        f"{costs.table()['machine']}, times {scale:.2f}, as an epoch of digits just took here beside there; "
        "smoke is a share of all that `all` took there, with figures"
    )
    if as_json:
        content = {"rows": rows, "total": total, "without": WITHOUT, "times": got, "on_paper": on_paper}
        print(json.dumps(content))
        return
    shown = Table(title="figures and tables of the paper", title_justify="left")
    for column in ("name", "what", "data", "models", *BUDGETS, "done"):
        shown.add_column(column, justify="right" if column in ("models", *BUDGETS) else "left")
    for row in rows:
        times = [costs.words(row["seconds"][name]) for name in BUDGETS]
        shown.add_row(
            row["name"], row["shows"], ", ".join(row["data"]), str(row["models"]), *times, row["done"]
        )
    models = str(costs.cost(ENTRIES.values(), budget, seeds).models)
    shown.add_row(
        "all", "what is shared, once", "", models, *(costs.words(total[name]) for name in BUDGETS), ""
    )
    Console(width=150).print(shown)
    for what, how in WITHOUT.items():
        print(f"{what}: {how}")
    print(f"{got}.")
    if budget == FULL:
        print("\n".join(on_paper))


def _taken(several: Sequence[PaperEntry], budget: str, seeds: int | None, scale: float) -> float | None:
    if budget == SMOKE:
        return scale * costs.smoke_seconds(several)
    seconds = costs.cost(several, budget, seeds).seconds
    return None if seconds is None else scale * seconds


def _row(entry: PaperEntry, budget: str, folder: Path, seeds: int | None, scale: float) -> dict[str, Any]:
    return {
        "name": entry.name,
        "shows": entry.shows,
        "data": sorted({part.task.rpartition("/")[2] for part in entry.parts}),
        "target": entry.target,
        "models": costs.cost([entry], budget, seeds).models,
        "seconds": {name: _taken([entry], name, seeds, scale) for name in BUDGETS},
        "published": len(published.scores(entry.name)),
        "done": _done(entry, budget, folder, seeds),
    }


def _done(entry: PaperEntry, budget: str, folder: Path, seeds: int | None) -> str:
    """What is there already in this folder."""
    known = read_evidence(folder, entry.name)
    if known is not None:
        return f"done ({known[0].budget})"
    if not folder.is_dir():
        return ""
    try:
        planned = plan(entry, budget, seeds)
    except (ScnError, OSError) as error:
        return f"cannot be done here: {error}"
    left = len(missing(planned, folder))
    return f"{len(planned) - left} of {len(planned)} models" if left < len(planned) else ""
