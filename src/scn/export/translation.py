"""The state of a translation from recorded nodes to a `Graph`: which value each node stands for.

What a layer or a function becomes is not known here but in the table of `operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, fx, nn

from scn.core.network import SCN
from scn.export.graph import CannotExport, Graph, Shape
from scn.export.operations.base import Operation


class Sets:
    """The parameters of a network by name, each (M, *shape): M base models, or 1 where it is shared."""

    def __init__(self, network: nn.Module) -> None:
        module = network
        self.dims, self._mixed = 1, {}
        self.entries: int | None = None
        if isinstance(network, SCN):
            module, self.dims, self.entries = network.backbone, network.dims, network.map.entries
            self._mixed = network.subspace.base_sets()
        self._shared = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers())

    def get(self, name: str) -> Tensor | None:
        if name in self._mixed:
            return self._mixed[name].detach().double()
        found = self._shared.get(name)
        return None if found is None else found.detach().double().unsqueeze(0)


@dataclass(frozen=True)
class LayerCall:
    """One use of a layer: its name, the layer, and the numbers of its inputs."""

    name: str
    layer: nn.Module
    sources: list[int]


LayerTranslator = Callable[["GraphTranslation", fx.Node, LayerCall], None]
FunctionTranslator = Callable[["GraphTranslation", fx.Node], None]


class GraphTranslation:
    """Translates one node after the other; `values` says which value of the graph each node stands for."""

    def __init__(
        self,
        plain: nn.Module,
        sets: Sets,
        shape: tuple[int, ...],
        layers: Mapping[type[nn.Module], LayerTranslator],
        functions: Mapping[Any, FunctionTranslator],
    ) -> None:
        self.modules = dict(plain.named_modules())
        self.layers, self.functions = layers, functions
        self.sets = sets
        self.graph = Graph([block_shape("the input", shape)], dims=sets.dims, entries=sets.entries)
        self.values: dict[fx.Node, int] = {}
        self.partial: dict[fx.Node, Any] = {}  # nodes that mean something only together with the next one
        self.users: dict[int, int] = {}  # how many nodes read a value

    def translate(self, node: fx.Node) -> None:
        if node.op == "placeholder":
            if self.values:
                raise CannotExport(f"the backbone takes a second input, {node.name}: only x is known")
            self.take(node, 0)
        elif node.op == "output":
            self._check_output(node)
        elif node.op == "call_module":
            self.translate_layer(node, str(node.target), self.modules[str(node.target)])
        elif node.op in ("call_function", "call_method"):
            self._translate_function(node)
        else:
            raise CannotExport(f"forward uses {node.target} itself, outside of a layer: put it into a layer")

    def take(self, node: fx.Node, value: int) -> None:
        """The node is a value that is there already."""
        self.values[node] = value
        self.users[value] = self.users.get(value, 0) + len(node.users)

    def add(self, node: fx.Node, op: Operation) -> None:
        """The node is what an operation makes."""
        self.graph.ops.append(op)
        self.take(node, op.target)

    def add_value(self, name: str, node: fx.Node) -> int:
        """A new value of the node's shape; returns its number."""
        self.graph.shapes.append(block_shape(name, sample_shape(node)))
        return len(self.graph.shapes) - 1

    def _check_output(self, node: fx.Node) -> None:
        output = node.args[0]
        if not isinstance(output, fx.Node) or output not in self.values or not self.graph.ops:
            raise CannotExport("the backbone must return one tensor of outputs")
        if self.values[output] != self.graph.output or self.graph.shapes[self.graph.output][1:] != (1, 1):
            raise CannotExport(f"the outputs must be a vector, but are {sample_shape(output)}")

    def translate_layer(self, node: fx.Node, name: str, layer: nn.Module) -> None:
        sources = [self.values[a] for a in node.args if isinstance(a, fx.Node)]
        for kind, translate in self.layers.items():
            if isinstance(layer, kind):
                translate(self, node, LayerCall(name, layer, sources))
                return
        known = ", ".join(sorted({kind.__name__.lstrip("_") for kind in self.layers}))
        raise CannotExport(f'the layer "{name}" is a {type(layer).__name__}: only these export: {known}')

    def _translate_function(self, node: fx.Node) -> None:
        translate = self.functions.get(node.target)
        if translate is None:
            called = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "?")
            known = sorted({f if isinstance(f, str) else f.__name__ for f in self.functions})
            raise CannotExport(
                f'forward calls "{called}" ({node.name}): only these export: {", ".join(known)}'
            )
        translate(self, node)

    def last(self, source: int) -> Operation | None:
        """The operation that made a value which nothing else reads."""
        made = next((op for op in self.graph.ops if op.target == source), None)
        return made if self.users.get(source, 0) == 1 else None


def as_layer(make: Callable[..., nn.Module]) -> FunctionTranslator:
    """A function that does what a layer does: its further arguments are those of the layer."""

    def translate(t: GraphTranslation, node: fx.Node) -> None:
        further = {name: value for name, value in node.kwargs.items() if name not in ("inplace", "training")}
        t.translate_layer(node, node.name, make(*node.args[1:], **further))

    return translate


def sample_shape(node: fx.Node) -> tuple[int, ...]:
    shape = tuple(node.meta["tensor_meta"].shape)
    if shape[0] != 2:
        raise CannotExport(f"{node.name} mixes the samples of a batch: its shape is {shape} for 2 of them")
    return shape[1:]


def block_shape(name: str, shape: tuple[int, ...]) -> Shape:
    if len(shape) > 3:
        raise CannotExport(f"{name} has shape {shape}: at most channels, height and width export")
    if len(shape) == 2:
        return (shape[0], 1, shape[1])
    return (*shape, *(1,) * (3 - len(shape)))  # type: ignore[return-value]
