"""A run that finds the setting itself: the search for it, its estimator, and how good it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from scn import data, methods, search
from scn.core.errors import ScnError, WrongType
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.data import to_float
from scn.runs import Run, backbone_of, write_json
from scn.search import Search
from scn.search.doubt import trained_for
from scn.search.stream import Stream, follow
from scn.search.study import (
    SearchRow,
    by_batches,
    draw_inputs,
    refuse_size,
    refuse_without_classes,
    scores_beside,
    study,
)
from scn.transforms import Transform

Progress = Callable[[range], Iterable[int]]

DEFAULT_DOUBT = "entropy"  # of a run that was trained for none
SIZES = (1, 2, 4, 8, 16)  # of batches, where nothing is said


def open_search(
    run: Run,
    method: str,
    objective: str | None = None,
    options: dict[str, Any] | None = None,
    backbone: str | None = None,
    progress: Progress = iter,
) -> Search:
    """A search for this run; options that the method does not know are refused.

    An estimator that the run lacks is trained now, and `progress` is given the numbers of its steps.
    """
    kind, given = search.get(method), dict(options or {})
    refuse_without_classes(run, method, kind)
    net = _searchable(run, backbone)
    transform, known = run.transform(), inspect.signature(kind.__init__).parameters
    _check_options(run, transform, method, list(known), given)
    aim = trained_for(run.recipe())
    name = objective or (aim.name if aim else DEFAULT_DOUBT)
    if "estimator" in known:
        given["estimator"] = estimator_of(run, progress)
    if "start" in given:
        given["start"] = search.Estimated(net, transform, estimator_of(run, progress), name)
    return kind(net, transform, doubt=name, **given)


def refuse_unsearchable(run: Run, backbone: str | None = None) -> None:
    """What no search helps, before one is told to train an estimator for it."""
    _searchable(run, backbone)
    if run.transform().measured:
        raise _measured(run)


def _searchable(run: Run, backbone: str | None) -> SCN:
    net = run.network(backbone_of(run, backbone) if run.is_own_class else None)
    if not isinstance(net, SCN):
        raise WrongType(
            f"{run.folder} is a {run.config.method}, which has nothing to configure: search an SCN"
        )
    return net


def _measured(run: Run) -> ScnError:
    return ScnError(f"{run.config.transform} is measured with each sample: there is nothing to search for")


def _check_options(
    run: Run, transform: Transform, method: str, known: Sequence[str], given: dict[str, Any]
) -> None:
    """Refuse what the method does not take, before anything is trained."""
    for option in given:
        if option not in known:
            raise ScnError(f"{method} takes no `{option}`")
    if transform.measured:
        raise _measured(run)
    if "candidates" in given:
        settings = given["candidates"]
        if settings.dim() != 2 or settings.shape[1] != len(transform.parameters):
            names = ", ".join(p.name for p in transform.parameters)
            raise ScnError(f"`candidates` needs settings of {names}, separated by semicolons")
    elif "candidates" in known:
        raise ScnError(f"{method} needs `candidates`, such as 0;90;180;270")
    if "start" in given:
        if "steps" in given:
            raise ScnError("`start=estimator` has no grid: leave out `steps`")
        if given["start"] != "estimator":
            raise ScnError(f"refine starts on a grid or at an estimator, not at {given['start']!r}")


def estimator_of(run: Run, progress: Progress = iter) -> search.Estimator:
    """The run's estimator, trained now if that has not been done."""
    path = run.estimator_file
    transform = run.transform()
    if not path.is_file():
        samples, _ = data.load(run.config.data).split("train")
        method, normalisation = run.method(), run.normalisation()
        trained = search.train_estimator(
            samples,
            transform,
            lambda x, params: method.inputs(to_float(x), params, normalisation),
            progress=progress,
        )
        write_atomically(path, save(trained.state_dict()))
    tensors = load_file(path)
    net = search.Estimator(tensors["layers.1.weight"].shape[1], transform.alpha_dim)
    net.load_state_dict(tensors)
    return net.eval()


def fitting_sizes(run: Run, given: Sequence[int] | None = None, samples: int | None = None) -> list[int]:
    """The batch sizes of a study; by default those that the test samples fill, or so many of them.

    To be asked before any work: a size that was given and is too large is refused.
    """
    total = data.load(run.config.data).counts["test"]
    count = min(samples or total, total)
    for size in given or ():
        refuse_size(size, count)
    return [size for size in SIZES if size <= count] if given is None else list(given)


def fitting_size(run: Run, given: int | None = None) -> int:
    """The same for an evaluation, which takes one size: by default the largest."""
    count = data.load(run.config.data).counts["test"]
    if given is not None and given > count:
        raise ScnError(f"there are fewer test samples than a batch of {given}")
    return min(SIZES[-1], count) if given is None else given


def searching(way: Search, run: Run, batch_size: int) -> Callable[[Tensor], Tensor]:
    """A network that finds the setting of every batch itself, for an evaluation of the run."""
    return by_batches(way, fitting_size(run, batch_size))


def study_run(
    run: Run,
    way: Search,
    batch_sizes: Sequence[int],
    rivals: Sequence[Run] = (),
    *,
    samples: int | None = None,
    seed: int = 0,
    backbone: str | None = None,
) -> Iterator[SearchRow]:
    """How good the search is for each batch size, beside networks that are told nothing."""
    fitting_sizes(run, batch_sizes, samples)
    for rival in rivals:
        _require_comparable(rival, run)
    nets = [one.network(backbone_of(one, backbone) if one.is_own_class else None).eval() for one in rivals]
    for size in batch_sizes:
        shown = draw_inputs(run, size, samples, seed)
        row = study(way, shown, size, run.objective())
        for rival, net in zip(rivals, nets, strict=True):
            row = replace(row, beside={**row.beside, **scores_beside(rival, net, shown, way)})
        yield row


def write_study(
    run: Run, method: str, way: Search, rows: Sequence[SearchRow], seed: int = 0
) -> dict[str, Any]:
    """Write what a study found into the run folder, and return it."""
    score, used = run.objective().score, max(row.samples for row in rows)
    facts = {"method": method, "objective": way.doubt.name, "samples": used, "seed": seed}
    content = {**facts, "score": score.key, "rows": [row.to_json(score) for row in rows]}
    write_json(run.search_file(method), content)
    return content


def _require_comparable(rival: Run, run: Run) -> None:
    """Refuse a rival that cannot be shown the same inputs."""
    for key in ("data", "transform", "preset"):
        mine, theirs = getattr(run.config, key), getattr(rival.config, key)
        if mine != theirs:
            raise ScnError(f"{rival.folder} has {key} {theirs}, but {run.folder} has {mine}")
    if rival.config.method != methods.UNADAPTED:
        raise ScnError(f"{rival.folder} is a {rival.config.method}; `beside` takes a {methods.UNADAPTED} run")


def follow_stream(
    run: Run, way: Search, count: int, *, steps: int | None = None, drift: float | None = None, seed: int = 0
) -> Stream:
    """A tracker on a stream of `count` inputs; by default a setting drifts by a 180th of its range."""
    moves: Tensor = way.span / 180 if drift is None else torch.full_like(way.span, drift)
    tracker = search.Tracker(way.net, way.transform, moves.tolist(), steps=steps, doubt=way.doubt.name)
    return follow(run, tracker, count, moves, seed)
