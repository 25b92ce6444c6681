"""What is exported: a trained network with what must be known about its input, its outputs and alpha."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from scn import data as datasets
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.data import Normalisation, to_float
from scn.export.graph import CannotExport
from scn.export.names import HEADERS
from scn.export.package import NOBODY, Package
from scn.export.search_plan import Plan
from scn.methods import Method
from scn.objectives import Objective
from scn.runs import Run
from scn.transforms import Transform

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
WORDS = """
asm auto bool break case catch char class const continue default delete do double else enum extern
false float for friend goto if inline int long namespace new operator private protected public
register restrict return short signed sizeof static struct switch template this throw true try
typedef typename union unsigned using virtual void volatile while main scn
"""
RESERVED = frozenset(WORDS.split())  # of C and C++, and names that are taken
CALIBRATION = 512  # samples that the ranges of activations are taken from


@dataclass(frozen=True)
class LabelledSamples:
    """Inputs as the network sees them, x: (N, ...), with the labels of the objective and settings (N, P)."""

    x: Tensor
    y: Tensor
    params: Tensor


@dataclass(frozen=True)
class Subject:
    """A network to export. `params` (P,) is the setting of an export with theta fixed.

    `run` is where it comes from, `beside` a second network, for targets that show both, `package` what the
    manifest of a package says of it, and `search` how the setting is found without a sensor.
    """

    name: str
    network: nn.Module
    method: Method
    shape: tuple[int, ...]
    normalisation: Normalisation
    data: str
    params: Tensor | None = None
    method_name: str = ""
    run: Run | None = None
    beside: Subject | None = None
    package: Package = NOBODY
    search: Plan | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        self.network.eval()

    @property
    def transform(self) -> Transform:
        return self.method.transform

    @property
    def is_scn(self) -> bool:
        return isinstance(self.network, SCN)

    @property
    def dims(self) -> int:
        return self.network.dims if isinstance(self.network, SCN) else 1

    @cached_property
    def _dataset(self) -> datasets.Dataset | None:
        try:
            return datasets.load(self.data)
        except FileNotFoundError:
            return None

    @property
    def has_no_data(self) -> bool:
        return self._dataset is None

    def has_split(self, name: str) -> bool:
        """Whether the data have a split of this name."""
        return self._dataset is not None and name in self._dataset.counts

    @property
    def sample(self) -> Tensor | None:
        """A test sample as the data hold it; None where they are not here."""
        return None if self._dataset is None else self._dataset.split("test")[0][0]

    @property
    def sample_rate(self) -> int | None:
        """Samples a second, where the data are sounds."""
        return None if self._dataset is None else self._dataset.sample_rate

    @property
    def objective(self) -> Objective:
        return self.method.objective

    @cached_property
    def outputs(self) -> int:
        """How many values the network returns."""
        with torch.no_grad():
            return int(self.plain(self.some_params())(torch.zeros(1, *self.shape)).shape[-1])

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes; numbers where the data that know the names are not there."""
        return self._named("classes", [str(i) for i in range(self.outputs)])

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of the values that are predicted; numbers where the data do not know them."""
        numbered = [f"target {i}" for i in range(1, self.outputs + 1)]
        return self._named("targets", numbered if self.outputs > 1 else ["target"])

    @property
    def target_units(self) -> tuple[str, ...]:
        """The unit of each value that is predicted, "" where it is not known."""
        return self._named("target_units", [""] * self.outputs)

    def _named(self, kind: str, usual: list[str]) -> tuple[str, ...]:
        names = [] if self._dataset is None else [str(name) for name in getattr(self._dataset, kind)]
        return tuple(names if len(names) == self.outputs else usual)

    def some_params(self) -> Tensor:
        """A setting that is allowed: where only the shape of a network counts."""
        return self.transform.sample(1, torch.Generator().manual_seed(0))[0]

    def plain(self, params: Tensor) -> nn.Module:
        """The plain network for the setting params (P,)."""
        return self.method.configured(self.network, params).eval()

    def calibration(self, count: int = CALIBRATION) -> LabelledSamples:
        """Training samples, to choose the ranges of quantised values by."""
        return self.samples("train", count)

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        """Up to `count` samples spread over a split, under `settings` settings drawn by seed in turn.

        Where the settings were measured with the samples, each has its own.
        """
        dataset = self._dataset or datasets.load(self.data)
        images, labels = dataset.split(split)
        chosen = torch.linspace(0, len(images) - 1, min(count, len(images))).round().long()
        if self.transform.measured:
            params = dataset.measured(split)[chosen]
        else:
            drawn = self.transform.sample(min(settings, len(chosen)), torch.Generator().manual_seed(seed))
            if self.params is not None:
                drawn = self.params.expand(1, -1)
            params = drawn.repeat_interleave(-(-len(chosen) // len(drawn)), dim=0)[: len(chosen)]
        with torch.no_grad():
            x = self.method.inputs(to_float(images[chosen]), params, self.normalisation)
        return LabelledSamples(x.contiguous(), self.objective.labels(labels[chosen]), params)


def subject_of(
    run: Run,
    name: str | None = None,
    params: Tensor | None = None,
    backbone: Callable[[], nn.Module] | None = None,
    network: nn.Module | None = None,
) -> Subject:
    """The network of a run, by default the trained one, named after its folder unless a name is given."""
    method = run.method()
    if not method.one_pass:
        raise CannotExport(
            f"the method {run.config.method} does more for an answer than one pass of a plain network: it "
            "cannot be exported"
        )
    network = run.network(backbone) if network is None else network
    if params is not None:
        params = method.transform.checked(params)
    return Subject(
        name=name if name is not None else _name_of(run.folder.resolve().name),
        network=network,
        method=method,
        shape=_shape_of(run, network, method),
        normalisation=run.normalisation(),
        data=run.config.data,
        params=params,
        method_name=run.config.method,
        run=run,
    )


def check_name(name: str) -> None:
    """A name becomes part of every name in the C code."""
    if not IDENTIFIER.fullmatch(name) or name in RESERVED or keyword.iskeyword(name):
        raise ScnError(
            f"the name {name!r} cannot be a name in C: use letters, digits and _, a letter first, and no "
            "word of the language"
        )


def _name_of(folder: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", folder).strip("_").lower()
    free = IDENTIFIER.fullmatch(name) and name not in RESERVED | HEADERS
    return name if free else f"model_{name}".rstrip("_")


def _shape_of(run: Run, network: nn.Module, method: Method) -> tuple[int, ...]:
    """The shape of one input: as the backbone keeps it, or as the data give it."""
    module = network.backbone if isinstance(network, SCN) else network
    kept = getattr(module, "shape", None)
    if isinstance(kept, list | tuple) and all(isinstance(size, int) for size in kept):
        return tuple(kept)
    images, _ = datasets.load(run.config.data).split("train")
    setting = method.transform.sample(1, torch.Generator().manual_seed(0))
    return tuple(method.inputs(to_float(images[:1]), setting, run.normalisation()).shape[1:])
