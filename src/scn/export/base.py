"""What every target of an export shares: the options, the table of targets, and what a target reports."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from scn.core.errors import ScnError
from scn.core.registry import Registry, nearest
from scn.export.package import NOBODY
from scn.export.staging import staged

if TYPE_CHECKING:
    from scn.export.subject import Subject

Theta = Literal["ram", "row", "fixed"]
Weights = Literal["float32", "float16", "int8"]
Inference = Literal["float", "int8"]
StateKind = Literal["static", "explicit"]
WeightsIn = Literal["code", "blob", "storage"]
KINDS = {
    "theta": Theta,
    "weights": Weights,
    "inference": Inference,
    "state": StateKind,
    "weights_in": WeightsIn,
}


@dataclass(frozen=True)
class Options:
    """How the C code holds the network.

    theta: "ram" (mixed once for each alpha), "row" (mixed block by block during inference) or "fixed" (one
    configuration, in flash). weights: how the base models are stored. inference: "float", or "int8" for
    8-bit weights and activations. state: "static" or "explicit", a struct that the caller owns.
    double_buffer: a second theta, so that inference goes on with the old one during configuration.
    sensor: the adapter that is written beside the network. lose: how much of the score a change of the
    setting may cost before the adapter asks for a new configuration. input: a sensor whose samples the C
    takes as they are, such as "camera:160x120:rgb565" (see `scn.data.sensing`). guard: what readings must be
    like, and what happens where they are not, such as "range=refuse,rate=90/s:keep,timeout=2s:neutral".
    weights_in: "code" (constants), "blob" (a file of their own that the program loads, in place) or "storage"
    (such a file, read by a function of the program). follows: the blob that a new one is to replace.
    """

    theta: Theta = "ram"
    weights: Weights = "float32"
    inference: Inference = "float"
    state: StateKind = "static"
    double_buffer: bool = False
    sensor: str | None = None
    lose: float = 0.002
    input: str | None = None
    guard: str | None = None
    weights_in: WeightsIn = "code"
    follows: str | None = None

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            value = getattr(self, name)
            if value not in get_args(kind):
                raise ScnError(f"there is no {name} {nearest(str(value), get_args(kind))}")
        if self.inference == "int8" and self.weights != "int8":
            raise ScnError(f"inference in int8 needs weights in int8, but they are {self.weights}")
        if self.double_buffer and self.theta != "ram":
            raise ScnError(
                f"a double buffer is for theta in RAM: with theta={self.theta} there is nothing to mix ahead"
            )

        self._check_storage()
        if not 0 < self.lose < math.inf:
            raise ScnError(f"lose={self.lose:g} is no score that may be lost: say a small one, such as 0.002")

    @property
    def in_blob(self) -> bool:
        """Whether the weights are in a file of their own, however it is read."""
        return self.weights_in != "code"

    def _check_storage(self) -> None:
        """Through a function only mixing to RAM reads, a piece of each base model after the other."""
        if self.in_blob and self.input is not None:
            raise ScnError(
                "the tables of an input are made for weights in the code: leave out `input`, or `weights_in`"
            )
        if self.weights_in != "storage":
            return
        if self.theta != "ram":
            raise ScnError(
                f"with theta={self.theta} each inference reads the weights, which takes memory that is "
                "mapped: use `weights_in=blob`, or `theta=ram`"
            )
        if self.inference == "int8":
            raise ScnError(
                "whole numbers are mixed from base models that stand side by side in mapped memory: "
                "use `weights_in=blob`, or `inference=float`"
            )

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Report:
    """What a target wrote, and facts about it for people and for JSON."""

    files: list[Path]
    facts: dict[str, Any]


BLOB = "blob"  # the target that writes weights alone
# What a target is: it writes files for a subject into a folder.
Writer = Callable[["Subject", Options, Path], Report]
Check = Callable[["Subject", Options], None]
targets: Registry[Writer] = Registry("target")


def target(
    name: str,
    check: Check,
    *,
    shows_two: bool = False,
    packages: bool = False,
    has_blobs: bool = False,
    searches: bool = False,
) -> Callable[[Writer], Writer]:
    """Enter a target: `check` refuses options that it has no use for, before anything is done.

    One that `shows_two` takes a second network beside the first; one that `packages` writes a manifest, which
    says who made the package; one that `has_blobs` leaves the weights out of the code where that is asked
    for; one that `searches` writes code that finds alpha.
    What it writes is moved to the folder when all of it is complete; after an error nothing is there.
    """

    def enter(write: Writer) -> Writer:
        @targets.register(name)
        @functools.wraps(write)
        def whole(subject: Subject, options: Options, folder: Path) -> Report:
            if subject.beside is not None and not shows_two:
                raise ScnError(f"the target {name} takes one network: leave out `beside`")
            if subject.package != NOBODY and not packages:
                raise ScnError(f"the target {name} writes no package: leave out `package`")
            if options.in_blob and not has_blobs:
                raise ScnError(f"the target {name} has its weights in the code: leave out `weights_in`")
            if options.follows is not None and name != BLOB:
                raise ScnError(f"a blob that is to be replaced is for the target {BLOB}, not for {name}")
            if subject.search is not None and not searches:
                raise ScnError(f"the target {name} has no use for a search: leave out `search`, or use c")
            check(subject, options)
            with staged(folder) as place:
                report = write(subject, options, place)
                files = [folder / path.relative_to(place) for path in report.files]
            return Report(files, report.facts)

        return whole

    return enter
