"""The sum of two values of one shape: a residual connection."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, fx

from scn.export.fixed_point import Factor, factors_of
from scn.export.graph import CannotExport
from scn.export.operations.base import Operation
from scn.export.translation import FunctionTranslator, GraphTranslation

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code
    from scn.export.interpret import Float, Int8


def _added(t: GraphTranslation, node: fx.Node) -> None:
    first, second = node.args[:2]
    if not (isinstance(first, fx.Node) and isinstance(second, fx.Node)) or node.kwargs:
        raise CannotExport(f"forward adds a number ({node.name}): only two values of the network add")
    sources = [t.values[first], t.values[second]]
    if t.graph.shapes[sources[0]] != t.graph.shapes[sources[1]]:
        shapes = " and ".join(str(t.graph.shapes[s]) for s in sources)
        raise CannotExport(f"forward adds values of different shapes ({node.name}): {shapes}")
    t.add(node, Add(node.name, sources, t.add_value(node.name, node)))


@dataclass
class Add(Operation):
    """a + b, then ReLU if so."""

    relu: bool = False

    takes_relu: ClassVar[bool] = True
    in_place: ClassVar[bool] = True
    passes_on: ClassVar[bool] = False
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = dict.fromkeys(
        (operator.add, operator.iadd, torch.add, "add"), _added
    )
    float_snippets: ClassVar[Mapping[str, str]] = {
        "add": """\
static void scn_add(const float *a, const float *b, float *y, int count, int relu)
{
    int i;
    for (i = 0; i < count; i++) {
        const float sum = a[i] + b[i];
        y[i] = (relu && sum < 0.0f) ? 0.0f : sum;
    }
}
"""
    }
    int8_snippets: ClassVar[Mapping[str, str]] = {
        "int_add": """\
/* a and b by their factors, which have `shift` bits behind the point. */
static void scn_add_int@1@_int@2@_int@3@(const int@1@_t *a, int zero_a, int32_t factor_a, const int@2@_t *b, int zero_b, int32_t factor_b,
                         int@3@_t *y, int count, int shift, scn_out out)
{
    const int64_t half = (int64_t)1 << (shift - 1);
    int i;
    for (i = 0; i < count; i++) {
        const int64_t sum = (int64_t)(a[i] - zero_a) * factor_a + (int64_t)(b[i] - zero_b) * factor_b;
        y[i] = (int@3@_t)(scn_within((int32_t)((sum + half) >> shift), out) + out.zero);
    }
}
"""  # noqa: E501
    }

    @property
    def rescales(self) -> bool:
        return True

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        a, b = sources
        return (a + b).relu() if self.relu else a + b

    def _factors(self, scales: list[float]) -> tuple[Factor, ...]:
        """Of both sides, from the scales of both and of the sum."""
        return factors_of(*(scale / scales[2] for scale in scales[:2]))

    def run_int8(self, arithmetic: Int8, *sources: Tensor) -> Tensor:
        first, second = self._factors([arithmetic.scale(v) for v in (*self.sources, self.target)])
        sides = sources[0].long() * first.number + sources[1].long() * second.number
        steps = (sides + 2 ** (first.shift - 1)) >> first.shift
        return arithmetic.within(self.target, steps)

    def write_float(self, code: FloatCode) -> None:
        code.parts.need("add")
        a, b = (code.at(source) for source in self.sources)
        code.call("scn_add", a, b, code.at(self.target), code.graph.size(self.target), int(self.relu))

    def write_int8(self, code: Int8Code) -> None:
        types = [code.bits(value) for value in (*self.sources, self.target)]
        code.parts.need(f"int_add:{types[0]}:{types[1]}:{types[2]}")
        held = [code.quantisation[value] for value in (*self.sources, self.target)]
        factors = self._factors([one.scale for one in held])
        sides: list[str | int] = []
        for source, one, factor in zip(self.sources, held, factors, strict=False):
            number, shift = code.factor(factor)
            sides += [code.at(source), code.steps(one.zero), number]
        sizes = (code.at(self.target), code.graph.size(self.target), shift)
        code.call(
            f"scn_add_{'_'.join(f'int{bits}' for bits in types)}",
            *sides,
            *sizes,
            code.add_limits(self.target),
        )
