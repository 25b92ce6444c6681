"""SCN: any torch module, made configurable.

    beta = map(alpha)        D mixing coefficients: learned, or by places in the space of alpha
    theta = beta @ Theta     configuration: a mix of D base models
    y = g(x; theta)          inference: the user's own module

The module given as backbone is copied; its configurable parameters move into Theta, and what is not
configurable (parameters left out, buffers such as BatchNorm statistics) stays in `net.backbone`,
shared by every configuration.
"""

from __future__ import annotations

import copy
import glob
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from scn.core import grouped, maps
from scn.core.bank import Bank
from scn.core.checks import at_least_one, can_be_read, checked_alpha
from scn.core.compact import FULL, Compact, compact, rebuilt
from scn.core.configured import Configured, configured_copy, fill, mixing
from scn.core.errors import ScnError, WrongType
from scn.core.initialise import Initialisation, draw_bases
from scn.core.layout import Slot, find_slots, fit, places, refuse_what_cannot_work
from scn.core.maps import Map, Nodes
from scn.core.precision import full_precision
from scn.core.recalibrate import recalibrated
from scn.core.registry import build_backbone, describe_backbone
from scn.core.space import Space
from scn.core.storage import ModelFileError, load_model, save_model, take_former_names, take_types
from scn.core.subspace import Bases, Subspace
from scn.core.substitute import call_with, weights_in_place

UNUSED = 1e-6  # of a mixture, of all base models that are left out together


class SCN(nn.Module):
    """A subspace-configurable network around `backbone`.

    While a call runs, the backbone holds that call's weights: do not call one network from several threads
    (configure a backbone for each), and do not recompute parts of the backbone in the backward pass
    (torch.utils.checkpoint).

    Args:
        backbone: any module whose first input is the batch. It is copied, never changed.
        alpha_dim: S, how many values alpha has.
        dims: D, how many base models are mixed.
        map: how alpha becomes beta, by name (see `scn.maps`), a `Map`, or a function that makes one:
            "learned" is the published way; "nodes" and "experts" read 2 and 1 base models of a line or
            circle, whatever D is.
        subspace: what is stored for the base models (see `scn.core.compact`): "full", or with a wide part
            that all of them share, "factored:R", "low-rank:R" or "shared:PATTERN".
        space: what the values of alpha are, such as `transform.space()`. By default two values are cosine and
            sine of an angle, and any other number of them lie from -1 to 1.
        configurable: which parameters of the backbone are mixed, by patterns of their names such as
            "layer4.*"; the others are shared, and those with requires_grad=False always are.
        init: "independent" (the backbone as given is the first base, each other one a fresh draw by the
            `reset_parameters` of its layers), "pretrained" (every base is the given one plus noise), or a
            function that returns a new backbone for each base.
        noise: for "pretrained": the noise as a part of each parameter's standard deviation.
        seed: makes the initial weights repeatable; by default torch's global generator is used.
    """

    def __init__(
        self,
        backbone: nn.Module,
        alpha_dim: int,
        dims: int,
        *,
        map: str | Map | Callable[[], Map] = maps.LEARNED,
        subspace: str = FULL,
        space: Space | None = None,
        configurable: str | Sequence[str] = "*",
        init: Initialisation = "independent",
        noise: float = 0.01,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(backbone, nn.Module):
            raise WrongType(f"the backbone must be a torch module, but is {backbone!r}")
        alpha_dim, dims = (at_least_one(n, v) for n, v in (("alpha_dim", alpha_dim), ("dims", dims)))
        self.alpha_dim = alpha_dim
        self.configurable = (configurable,) if isinstance(configurable, str) else tuple(configurable)
        slots = find_slots(backbone, self.configurable)
        refuse_what_cannot_work(backbone)
        self.compact: Compact | None = None
        with torch.random.fork_rng(enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            if subspace != FULL:
                self.compact = compact(subspace, backbone, slots)
                backbone, init = self.compact.applied(backbone), self._compact_start(init)
                slots = find_slots(backbone, [glob.escape(name) for name in self.compact.mixed])
            bases = draw_bases(backbone, slots, dims, init, noise)
            self.map = maps.chosen(map, alpha_dim, dims, space).to(bases)
        self.subspace = Subspace(slots, bases)
        self.backbone = copy.deepcopy(backbone)
        for owner, name in places(self.backbone, slots):
            setattr(owner, name, None)
        self._findings = grouped.Findings(self.subspace.slots)
        self._configured: weakref.WeakKeyDictionary[nn.Module, Configured] = weakref.WeakKeyDictionary()
        self.register_load_state_dict_pre_hook(take_former_names)

    def _compact_start(self, init: Initialisation) -> Initialisation:
        """A function that makes new backbones makes compact ones."""
        made, of = self.compact, init
        assert made is not None
        return (lambda: made.applied(of())) if callable(of) else of

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_configured"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy has configured no backbone yet."""
        super().__setstate__(state)
        self._configured = weakref.WeakKeyDictionary()

    @property
    def dims(self) -> int:
        """D, how many base models are mixed."""
        return len(self.subspace.theta)

    @property
    def theta(self) -> nn.Parameter:
        """The base models as one tensor of shape (D, L)."""
        return self.subspace.theta

    def extra_repr(self) -> str:
        return f"alpha_dim={self.alpha_dim}, dims={self.dims}, weights={self.theta.shape[1]}"

    def __repr__(self) -> str:
        """The backbone is shown with all of its parameters, though they live in Theta."""
        shown = {name: bases[0] for name, bases in self.subspace.base_sets().items()}
        with weights_in_place(self.backbone, shown):
            return super().__repr__()

    def beta(self, alpha: Any) -> Tensor:
        """alpha: (..., S) -> the mixing coefficients (..., D); every row sums to 1. Exact under autocast."""
        alpha = checked_alpha(alpha, self.alpha_dim, self.theta, self.map)
        with full_precision(alpha):
            return self.map(alpha)

    def forward(self, x: Any, alpha: Any, *args: Any, **kwargs: Any) -> Any:
        """The backbone's output for the batch x under alpha.

        alpha: (S,), one for the whole batch; (K, S) with K dividing the batch, the first for the
        first B/K samples and so on; or (B, S), one for each sample. Further arguments go to the
        backbone; with several alpha, one with a row for each sample is divided like x where needed.
        """
        beta = self.beta(alpha)
        if beta.dim() > 2:
            shape = (*beta.shape[:-1], self.alpha_dim)
            raise ScnError(f"alpha must have 1 or 2 dimensions, but its shape is {shape}")
        return self.answer(x, beta, *args, **kwargs)

    def answer(self, x: Any, beta: Tensor, *args: Any, **kwargs: Any) -> Any:
        """The backbone's output for the batch x under mixing coefficients of any origin.

        beta: (D,), (K, D) or (B, D), divided over the batch as alpha is in a call.
        """
        searched = beta.is_leaf and beta.requires_grad  # its zeros have gradients of their own
        beta = self._one_row_if_enough(beta, x) if beta.dim() == 2 else beta.unsqueeze(0)
        if self.dims == 1:
            beta = beta[:1]  # one base model has one mixture
        beta, bases = (beta, self.subspace.bases()) if searched else self._in_use(beta)
        if len(beta) == 1:
            weights = {name: sets.squeeze(0) for name, sets in bases.weight_sets(beta).items()}
            return call_with(self.backbone, weights, (x, *args), kwargs)
        return grouped.run(self.backbone, bases, beta, self._findings, (x, *args), kwargs)

    def _in_use(self, beta: Tensor) -> tuple[Tensor, Bases]:
        """beta (K, D) and the base models; where the map leaves most out, without those that no row uses."""
        if self.map.entries is None or not can_be_read(beta):
            return beta, self.subspace.bases()
        used = (beta.detach() != 0).any(dim=0).nonzero().squeeze(1)
        if len(used) == self.dims:
            return beta, self.subspace.bases()
        return beta.index_select(1, used), self.subspace.bases(used)

    def _one_row_if_enough(self, beta: Tensor, x: Any) -> Tensor:
        """Check that the rows of beta divide the batch; one row serves a batch without samples."""
        if len(beta) == 1:
            return beta
        if not isinstance(x, Tensor) or x.dim() == 0:
            raise ScnError(
                "several alpha in one call need a tensor with the batch as its first dimension as "
                f"first input, but it is a {type(x).__name__}: pass alpha of shape ({self.alpha_dim},)"
            )
        if len(x) == 0:
            return beta.new_full((1, self.dims), 1 / self.dims)
        if len(beta) == 0 or len(x) % len(beta):
            raise ScnError(
                f"{len(beta)} alpha cannot be shared out evenly over a batch of {len(x)}: pass one "
                f"alpha of shape ({self.alpha_dim},), a number that divides {len(x)}, or {len(x)}"
            )
        return beta

    def configure(self, alpha: Any, into: nn.Module | None = None) -> nn.Module:
        """A plain backbone with the weights for one alpha: of the user's own class, without scn.

        alpha: (S,). `into` rewrites a backbone that an earlier call returned, in place and without
        building anything new; but for its training mode, it then is like a new one.
        """
        # By table and not by attribute: for a small backbone nn.Module's look-up costs as much as h.
        theta: Tensor = self._modules["subspace"]._parameters["theta"]  # type: ignore[union-attr,assignment]
        mapped: Any = self._modules["map"]
        alpha = checked_alpha(alpha, self.alpha_dim, theta, mapped)
        if alpha.numel() != self.alpha_dim:
            raise ScnError(
                f"configure takes one alpha of shape ({self.alpha_dim},), but its shape is "
                f"{tuple(alpha.shape)}: call it once for each"
            )
        if alpha.dim() > 1:
            alpha = alpha.reshape(-1)
        with torch.no_grad():
            mix = mixing(theta, mapped, alpha)
            if into is None:
                plain, known = configured_copy(self.backbone, self.subspace, mix)
                self._configured[plain] = known
                return plain
            found = self._configured.get(into)
            if found is not None and found.is_current(theta):
                found.rewrite(mix)
            else:
                fill(into, self.backbone, self.subspace, mix)
        return into

    def bank(self, alpha: Any) -> Bank:
        """The networks for K alpha (K, S), mixed once and kept, to ask all of them about the same inputs."""
        with torch.no_grad():
            beta = self.beta(alpha)
            if beta.dim() != 2 or len(beta) == 0:
                shape = (*beta.shape[:-1], self.alpha_dim)
                raise ScnError(f"a bank takes alpha of shape (K, {self.alpha_dim}), but it is {shape}")
            beta, bases = self._in_use(beta)
            return Bank(self.backbone, bases, beta, self._findings)

    def recalibrate(self, batches: Iterable[Any], alpha: Any) -> nn.Module:
        """A configured network whose BatchNorm statistics come from `batches` alone.

        For a network that stays at one alpha: the shared statistics are a mean over all alpha.
        batches: inputs under this alpha, or (inputs, labels) pairs as a DataLoader gives them.
        """
        return recalibrated(self.configure(alpha), batches)

    def grow(self, count: int, noise: float = 0.1) -> None:
        """Add base models without changing what the network computes.

        Each new base is split off an old one, in turn: the two share its beta and differ by
        `noise` (a part of each parameter's standard deviation) in opposite directions, so that
        training can tell them apart. Theta is a new parameter afterwards: build a new optimiser.
        """
        if count < 0:
            raise ScnError(f"grow adds base models: the count must not be negative, but is {count}")
        if not noise >= 0:
            raise ScnError(f"noise must not be negative, but is {noise}")
        parents = [i % self.dims for i in range(count)]
        self.map.divide(parents)
        self.subspace.divide(parents, noise)

    @torch.no_grad()
    def resample(self, dims: int) -> None:
        """Other places for the base models: D of them, each the network that was interpolated there.

        Where places are added between those that are there (twice as many on a circle, all intervals of a
        line halved) the network computes what it did. Theta is a new parameter: build a new optimiser.
        """
        if not isinstance(self.map, Nodes):
            raise ScnError(f"resample is for maps with places, such as nodes: this one is {self.map}")
        finer = self.map.resampled(at_least_one("dims", dims)).to(self.theta)
        beta = self.map(finer.node_alphas())
        self.subspace.replace(beta @ self.theta)
        self.map = finer

    @torch.no_grad()
    def prune(self, alpha: Any) -> list[int]:
        """Leave out the base models that none of alpha (N, S) uses; returns which they were.

        Those that a map cannot do without, such as one of a grid of nodes, stay. What is left out has no more
        than a millionth of any mixture. Theta is a new parameter afterwards: build a new optimiser.
        """
        beta = self.beta(alpha).reshape(-1, self.dims)
        if len(beta) == 0:
            raise ScnError("prune needs the alpha that the network is used for, but was given none")
        share = beta.abs().amax(dim=0)
        order = share.argsort()
        few = int((share[order].cumsum(dim=0) <= UNUSED).sum())
        unused, kept = order[:few].sort().values, order[few:].sort().values
        fewer = self.map.without(kept.tolist()) if few else None
        if fewer is None:
            return []
        self.map = fewer.to(self.theta)
        self.subspace.replace(self.theta[kept], self.subspace.frozen[kept])
        return unused.tolist()

    def freeze(self, indices: Iterable[int]) -> None:
        """Stop training these base models; they stay bit for bit what they are."""
        self.subspace.freeze(indices)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to one file (safetensors with its configuration as JSON), atomically."""
        config = {
            "alpha_dim": self.alpha_dim,
            "dims": self.dims,
            "configurable": list(self.configurable),
            "backbone": describe_backbone(self.backbone),
            "parameters": [[list(slot.names), list(slot.shape)] for slot in self.subspace.slots],
            **maps.described(self.map),
            **({} if self.compact is None else {"format": 2, "subspace": self.compact.to_json()}),
        }
        save_model(Path(path), self.state_dict(), config)

    @classmethod
    def load(cls, path: str | os.PathLike[str], backbone: nn.Module | None = None) -> SCN:
        """Read a network that `save` wrote.

        Backbones of scn are built again by name; for one of your own pass a module of the same
        shape, which serves as the pattern (its weights do not matter).
        """
        tensors, config = load_model(Path(path))
        slots = [Slot(tuple(names), tuple(shape)) for names, shape in config["parameters"]]
        made = rebuilt(config["subspace"]) if "subspace" in config else None
        names = [name for slot in slots for name in slot.names]
        with torch.random.fork_rng():
            pattern = build_backbone(config["backbone"]) if backbone is None else copy.deepcopy(backbone)
            pattern = pattern if made is None else made.applied(pattern, alike=False)
            fit(pattern, slots, f"{path} holds a {config['backbone']['class']}")
            chosen = [glob.escape(name) for name in names]
            mapped = maps.built(config, str(path))
            dims = config["dims"]
            net = cls(pattern, config["alpha_dim"], dims, map=mapped, configurable=chosen, init="pretrained")
        net.configurable, net.compact = tuple(config["configurable"]), made
        # The columns of Theta are in the saved order, whatever the order in the given backbone.
        net.subspace = Subspace(slots, torch.zeros_like(net.theta))
        net._findings = grouped.Findings(net.subspace.slots)
        take_former_names(net, tensors, "")
        take_types(net, tensors)
        try:
            net.load_state_dict(tensors)
        except RuntimeError as error:
            raise ModelFileError(f"{path} does not fit its backbone: {error}") from error
        return net
