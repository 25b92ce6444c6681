"""What a person may say about a figure beside its name and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import Tensor

SAMPLES = 500


@dataclass(frozen=True)
class FigureOptions:
    """`fixed` (P,) is the setting of a network that stays as it is; `samples` of the test data are used where
    a figure has to measure something itself."""

    fixed: Tensor | None = None
    samples: int = SAMPLES
    progress: Callable[[Tensor], Iterable[Tensor]] = iter
