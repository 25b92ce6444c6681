"""From what a person asks for to the configuration of a run, with every name and value checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from scn import backbones, data, methods, objectives, transforms
from scn.core import maps
from scn.core.compact import FULL
from scn.core.errors import ScnError
from scn.core.layout import find_slots
from scn.core.maps import Nodes
from scn.core.space import Line
from scn.methods import Method
from scn.methods.mixed import Mixed
from scn.objectives import Classification, Objective
from scn.runs import RunConfig
from scn.training.recipe import Recipe
from scn.training.step import require_compiler

LEAST_GAP = 1e-3  # of a range: nearer places would be one


def plan_run(
    data_name: str,
    transform: str,
    backbone: str,
    method: str,
    recipe: Recipe,
    *,
    dims: int = 1,
    preset: str = "default",
    fixed: list[float] | None = None,
    configurable: Sequence[str] = ("*",),
    map: str | None = None,
    subspace: str | None = None,
    objective: str = objectives.USUAL,
    seed: int = 0,
    sizes: Mapping[str, int | None] | None = None,
    normalise: bool = True,
) -> RunConfig:
    """The configuration of a new run; `normalise` by the data's own mean and deviation."""
    kind, changed = methods.get(method), transforms.get(transform, preset)
    _check_method(method, transform, changed, dims, fixed, seed)
    data_name = str(Path(data_name).resolve()) if data.is_path(data_name) else data_name
    dataset = data.load(data_name)
    images, labels = dataset.split("train")
    _refuse_what_cannot_work(dataset, len(images), images.dim(), transform, changed, recipe)
    setting = changed.sample(1, torch.Generator().manual_seed(0))
    aim = objectives.get(objective).learned_from(dataset)
    _refuse_terms_for_classes(recipe, aim, labels)
    planned = kind(changed, recipe, 1, None if fixed is None else torch.tensor(fixed), objective=aim)
    samples = data.to_float(images[:2])
    seen = planned.see(changed.apply(samples, setting), setting)
    shape = planned.shape_of(planned.inputs(samples, setting, lambda x: x))
    made = backbones.factory(backbone, shape, aim.outputs, **(sizes or {}))
    make, arguments = _wider(dims if kind.factors else 1, backbone, *made)
    mapped = _chosen_map(method, changed, dataset, dims, map, subspace, recipe.for_search)
    stored = subspace or FULL
    mixing = replace(planned, dims=dims, configurable=tuple(configurable), map=mapped, subspace=stored)
    with torch.random.fork_rng(), torch.no_grad():
        _try_out(planned, make, samples, setting, f"backbone {backbone}", f"{transform} (preset {preset})")
        find_slots(make(), mixing.configurable)
        mixing.require(make())
    recipe = replace(recipe, base_noise=mixing.noise, together=mixing.together)
    return RunConfig(
        method=method,
        data=data_name,
        transform=transform,
        preset=preset,
        backbone={"class" if ":" in backbone else "name": backbone, "arguments": arguments},
        dims=dims if kind.mixes or kind.factors else 1,
        fixed=fixed,
        configurable=list(configurable),
        map=mapped,
        subspace=mixing.subspace,
        objective={"name": objective, **aim.stored()},
        seed=seed,
        recipe=asdict(recipe),
        normalisation=asdict(_normalisation(kind, images, seen) if normalise else data.Normalisation()),
        samples=dataset.counts,
        checksum=dataset.checksum,
    )


def _wider(
    factor: int, named: str, make: Callable[[], nn.Module], arguments: dict[str, Any]
) -> tuple[Callable[[], nn.Module], dict[str, Any]]:
    """A backbone `factor` times as wide as it usually is, or as a person said."""
    if factor == 1:
        return make, arguments
    known = inspect.signature(make).parameters.get("width")
    if known is None or type(known.default) is not int:
        raise ScnError(f"the method wider needs a backbone with a width, but {named} has none")
    width = {"width": factor * known.default}
    return partial(make, **width), {**arguments, **width}


def _try_out(
    method: Method, make: Callable[[], nn.Module], samples: Tensor, setting: Tensor, named: str, change: str
) -> None:
    """Refuse a backbone that cannot do the work, by letting it do some."""
    inputs = method.inputs(samples, setting, lambda x: x)
    _require_outputs(make, method.shape_of(inputs), method.objective.outputs, named)
    net = method.build(make).eval()
    method.outputs(net, inputs, setting)
    _require_size(net, method, samples, named, change)


def _normalisation(kind: type[Method], samples: Tensor, seen: Tensor) -> data.Normalisation:
    """By the data's own mean and deviation, as far as the network sees the samples; beside them others may
    stand, which are left as they are."""
    added = seen.shape[1] - samples.shape[1] if kind.shows_input and seen.dim() == samples.dim() else -1
    return data.measured_normalisation(samples).beside(added) if added >= 0 else data.Normalisation()


def _check_method(
    method: str,
    named: str,
    transform: transforms.Transform,
    dims: int,
    fixed: list[float] | None,
    seed: int,
) -> None:
    """Refuse a method that cannot deal with this change, and values that it cannot have."""
    kind = methods.get(method)
    objection = kind.objection(transform)
    if objection:
        raise ScnError(f"the method {method} does not work for {named}: {objection}")
    if dims < 1:
        raise ScnError(f"dims must be at least 1, but is {dims}")
    if not (kind.may_fix and fixed is not None) and kind.needs_fixed != (fixed is not None):
        need = "needs `fixed`, the setting it is trained for" if kind.needs_fixed else "takes no `fixed`"
        raise ScnError(f"the method {method} {need}")
    if fixed is not None:
        transform.checked(torch.tensor(fixed))
    if not 0 <= seed < 2**63:
        raise ScnError(f"the seed must be at least 0 and below 2**63, but is {seed}")


def _chosen_map(
    method: str,
    transform: transforms.Transform,
    dataset: data.Dataset,
    dims: int,
    named: str | None,
    subspace: str | None,
    searched: bool,
) -> dict[str, Any]:
    """The map that a person named, or the one that suits the change, with what it is made of."""
    kind = methods.get(method)
    for what, said in (("map", named), ("subspace", subspace)):
        if said is not None and what not in kind.takes:
            why = f"has a {what} of its own" if issubclass(kind, Mixed) else "mixes no base models"
            raise ScnError(f"the method {method} {why}: leave out `{what}`")
    if not kind.mixes:
        return {"name": maps.LEARNED}
    name = named or kind.usual_map(transform, dims, searched)
    places = _positions(name, transform, dataset, dims) if transform.measured else {}
    return {"name": name, **places}


def _positions(
    name: str, transform: transforms.Transform, dataset: data.Dataset, dims: int
) -> dict[str, list[float]]:
    """Places for base models where a sensor measures often: at quantiles of the training data.

    None where the map has no places of its own on one line, or the readings have too few values.
    """
    space = transform.space()
    if not issubclass(maps.get(name), Nodes) or space is None or dims < 2:
        return {}
    if len(space) > 1 or not isinstance(space[0], Line):
        return {}
    alpha = transform.encode(transform.clamped(dataset.measured("train"))).flatten().double()
    centred = maps.get(name) is not Nodes
    shares = (torch.arange(dims) + 0.5) / dims if centred else torch.linspace(0, 1, dims)
    found = torch.quantile(alpha, shares.double()).float()
    if not bool((found.diff() > LEAST_GAP * (space[0].high - space[0].low)).all()):
        return {}
    return {"positions": found.tolist()}


def _require_outputs(make: Callable[[], nn.Module], shape: tuple[int, ...], outputs: int, named: str) -> None:
    """Refuse a backbone that does not give `outputs` values for each input of this shape."""
    try:
        inspect.signature(make).bind()
    except TypeError as error:
        raise ScnError(
            f"the {named} cannot be made: {error}. Its constructor is given shape, classes, width and depth, "
            "as far as it takes them; everything else needs a default"
        ) from error
    net, x = make().eval(), torch.zeros(2, *shape)
    try:
        found = net(x)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise ScnError(f"the {named} cannot take inputs of shape {shape}: {reason}") from error
    if not isinstance(found, Tensor):
        raise ScnError(
            f"the {named} returns a {type(found).__name__}, but must return one tensor, {outputs} values for "
            "each input"
        )
    if tuple(found.shape) != (len(x), outputs):
        raise ScnError(
            f"the {named} returns {tuple(found.shape)} for {len(x)} inputs, but must return "
            f"({len(x)}, {outputs}): {outputs} values for each"
        )


def _require_size(net: nn.Module, method: Method, x: Tensor, named: str, change: str) -> None:
    """Refuse a network of one input size where the ends of the range make inputs of two."""
    parameters = method.transform.parameters
    ends = torch.tensor([[p.low for p in parameters], [p.high for p in parameters]])
    low, high = (method.inputs(x, end, lambda shown: shown) for end in ends)
    if low.shape == high.shape:
        return
    try:
        method.outputs(net, low, ends[:1]), method.outputs(net, high, ends[1:])
    except RuntimeError as error:
        raise ScnError(
            f"the {named} takes inputs of one size, but {change} makes inputs of several, such as "
            f"{tuple(low.shape[1:])} and {tuple(high.shape[1:])}: choose another preset or backbone"
        ) from error


def _refuse_terms_for_classes(recipe: Recipe, objective: Objective, labels: Tensor) -> None:
    """Entropy and evidence are those of class probabilities; and labels must be what the objective learns."""
    objective.labels(labels)
    if isinstance(objective, Classification):
        return
    for name in ("entropy_weight", "wrong_entropy_weight", "evidence_weight", "label_smoothing"):
        if getattr(recipe, name):
            raise ScnError(f"{name} is for classification, and this is not: leave it at 0")


def _refuse_what_cannot_work(
    dataset: data.Dataset, count: int, dims: int, name: str, transform: transforms.Transform, recipe: Recipe
) -> None:
    """`count` training samples of `dims` dimensions, counted with the batch."""
    if transform.measured:
        wanted = len(transform.parameters)
        for split in dataset.counts:
            columns = dataset.measured(split).shape[1]
            if columns != wanted:
                raise ScnError(f"{name} is {wanted} value(s) for a sample, but params_{split} has {columns}")
            if split != "test":  # whose outliers are counted when it is evaluated
                of_split = f"{dataset.name}: params_{split}"
                transform.within(dataset.measured(split), clamp=recipe.clamp, named=of_split)
    if recipe.horizontal_flip and dims != 4:
        raise ScnError("horizontal_flip is for images: these samples have no left and right")
    if recipe.compiled:
        require_compiler()
    held = 0 if "val" in dataset.counts else round(recipe.validation_share * count)
    used = min(recipe.train_samples or count, count - held)
    if recipe.batch_size > used:
        raise ScnError(
            f"batch_size {recipe.batch_size} is more than the {used} training samples: choose a smaller one"
        )
