"""A second way into a network, beside x: as a sensor sends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from scn.export.parts import Table


@dataclass(frozen=True)
class First:
    """What the first layer reads: numbers of this type, at this place while inference runs.

    `of_floats` makes them of normalised floats; `scale` is what a step of whole numbers stands for.
    """

    kind: str = "float"
    place: str = "x"
    scale: float = 1.0
    of_floats: Callable[[Tensor], Tensor] = field(default=lambda x: x)


@dataclass(frozen=True)
class Entrance:
    """How it is called, and the statements behind it.

    `tables` and `defined`: what it needs. `to_x` writes floats to x, `to_first` what the first layer reads.
    """

    function: str  # of inference: infer_frame
    takes: str  # its first parameters
    refuses: str  # a condition in C under which they are not taken
    uses_state: bool  # whether preparing x needs memory of the state
    tables: list[Table]  # which are no part of the network
    defined: str
    to_x: str
    to_first: str
    about: str  # for people, without the functions' names
    sizes: dict[str, int]  # constants of the header
