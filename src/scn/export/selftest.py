"""Golden vectors: inputs that a few instructions make, and the outputs that every kernel must give for them.

The outputs are those of the interpreter in Python, in the arithmetic of the exported code. So the self-test
finds a compiler, a core or a flash that does not do what the tests of scn saw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.export.base import Options
from scn.export.graph import Graph
from scn.export.interpret import Float, run
from scn.export.pack import exact
from scn.export.parts import Parts, Table
from scn.export.predictions import Meaning
from scn.export.snippets import of_each
from scn.export.state import parameter
from scn.export.subject import Subject

TESTS = 3
NEAR = {"float": 1e-3, "int8": 2e-2}  # of the largest output
ABOUT = """\
/* Whether this board gives the expected outputs: SCN_OK, or SCN_FAILED. x and {outputs} are memory to work
   in, of their usual sizes. {after}*/
"""
AFTER = "Afterwards the network is configured for a setting of the test: configure it anew. "
Arithmetic = Callable[[Tensor], Float]  # from the mixing coefficients of a setting


@dataclass(frozen=True)
class Golden:
    """alphas: (T, S), empty where nothing is configured; outputs: (T, O); how far an output may be off."""

    alphas: Tensor
    outputs: Tensor
    near: float


def inputs(count: int) -> Tensor:
    """(TESTS, count): the numbers of a linear congruential generator, from -1 to 1, exact in float32."""
    found = []
    for test in range(TESTS):
        seed = test + 1
        for _ in range(count):
            seed = (seed * 1664525 + 1013904223) % 2**32
            found.append((seed >> 24) / 128 - 1)
    return torch.tensor(found, dtype=torch.float64).view(TESTS, count)


@torch.no_grad()
def golden(subject: Subject, options: Options, graph: Graph, arithmetic: Arithmetic) -> Golden:
    """What the exported code must give."""
    x, net = inputs(graph.size(0)), subject.network
    alphas, betas = torch.zeros(TESTS, 0), torch.ones(TESTS, graph.dims, dtype=torch.float64)
    if isinstance(net, SCN) and options.theta != "fixed":
        params = subject.transform.sample(TESTS, torch.Generator().manual_seed(0))
        alphas = subject.transform.encode(params).float()
        betas = net.beta(alphas).double()
    pairs = zip(x.unsqueeze(1), betas, strict=True)
    outputs = torch.cat([run(arithmetic(beta), one)[graph.output].flatten(1) for one, beta in pairs])
    return Golden(alphas, outputs, NEAR[options.inference] * max(1.0, float(outputs.abs().max())))


def _tables(found: Golden) -> str:
    """The vectors; where nobody calls the self-test, the linker drops them."""
    tables = {"alphas": found.alphas, "outputs": found.outputs}
    made = [Table("float", f"scn_test_{name}", values, "") for name, values in tables.items()]
    return "".join(table.text() for table in made if table.values.numel()) + "\n"


def declared(name: str, options: Options, parts: Parts, outputs: str) -> str:
    takes = parameter(name, options, f"{name}_input *x, float *{outputs}")
    about = ABOUT.format(outputs=outputs, after=AFTER if parts.configurable else "")
    return f"{about}scn_status {name}_selftest({takes});\n"


def defined(name: str, options: Options, parts: Parts, meaning: Meaning, found: Golden) -> str:
    outputs = meaning.outputs
    text, explicit = of_each("selftest"), options.state == "explicit"
    state = "s, " if explicit else ""
    configure = f"{name}_configure({state}scn_test_alphas + test * {parts.alphas})"
    for place, words in {
        "@HEAD@": parameter(name, options, f"{name}_input *x, float *{outputs}"),
        "@CONFIGURE@": configure if parts.configurable else "SCN_OK",
        "@INFER@": f"{name}_infer({state}x, {outputs})",
        "@NAME@": name,
        "@INPUTS@": f"{name.upper()}_INPUT_SIZE",
        "@OUTPUTS@": f"{name.upper()}_{meaning.size}",
        "@outputs@": outputs,
        "@TESTS@": str(TESTS),
        "@NEAR@": exact(found.near),
    }.items():
        text = text.replace(place, words)
    return _tables(found) + text
