"""What the code of a network in floating point and in whole numbers share: values, windows and calls."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scn.export.base import Options
from scn.export.graph import Graph, Window
from scn.export.layers import Arrangement
from scn.export.memory import Layout
from scn.export.operations import windows
from scn.export.operations.base import Operation
from scn.export.parts import Field, Parts


class Builder(ABC):
    """Builds the parts for one graph: operations add what they need to `parts`."""

    arrangement: Arrangement
    layout: Layout

    def __init__(self, graph: Graph, options: Options, output: str) -> None:
        self.graph, self.options = graph, options
        self.output = output  # the parameter that the last value is written to
        self.parts = Parts(copies=2 if options.double_buffer else 1, few=graph.few, in_blob=options.in_blob)
        if graph.few:
            self.parts.need("few", "collect")
            self.parts.in_place = options.weights == "float32" or options.inference == "int8"

    @abstractmethod
    def build(self) -> Parts:
        """The parts, complete."""

    @abstractmethod
    def at(self, value: int) -> str:
        """Where a value lies, as a C expression."""

    @abstractmethod
    def _write(self, op: Operation) -> None: ...

    def _write_operations(self) -> None:
        for op in self.graph.ops:
            self.write_operation(op)

    def write_operation(self, op: Operation) -> None:
        """Add one operation to inference."""
        if not op.is_view:
            self.parts.infer.append(f"/* {op.name.replace('*', '')} */")
            self._write(op)

    @property
    def beta(self) -> str:
        """The mixing coefficients while inference mixes, as a C expression."""
        return "&few" if self.graph.few else "s->beta"

    def call(self, function: str, *arguments: str | int) -> None:
        """Add a call to inference."""
        self.parts.infer.append(f"{function}({', '.join(map(str, arguments))});")

    def add_window(self, name: str, source: int, target: int, window: Window, groups: int = 1) -> str:
        """Add a constant that says where an operation looks; returns its address."""
        self.parts.need("patch")
        numbers = windows.numbers(self.graph, source, target, window, groups)
        self.parts.constants.append(f"static const scn_window scn_{name} = {numbers};\n")
        return f"&scn_{name}"

    def add_pooled(
        self,
        name: str,
        source: int,
        target: int,
        window: Window,
        pool: Window,
        groups: int,
        width: int | None = None,
    ) -> str:
        """The same for a convolution that is pooled at once. `width`: of a strip of its input."""
        self.parts.need("patch", "pooled")
        numbers = windows.numbers(self.graph, source, target, window, groups, width)
        both = f"{{{numbers}, {pool.kernel[0]}, {pool.kernel[1]}}}"
        self.parts.constants.append(f"static const scn_pooled scn_{name} = {both};\n")
        return f"&scn_{name}"

    def _add_state(self, theta: list[tuple[str, str, int]], state: list[tuple[str, str, int]]) -> None:
        """Fields (type, name, how many); those without elements are left out.

        Numbers of 16 bits are read and written as such, and as bytes; a kernel may take them by words.
        """
        beta = [("float", "beta", self.graph.dims)] if self.options.theta == "row" else []
        self.parts.theta += [Field(*field, "theta") for field in theta if field[2]]
        self.parts.state += [
            Field(*field, field[1], words=field[0] == "int16_t") for field in (*beta, *state) if field[2]
        ]
