"""The learned map in C: the configuration network."""

from __future__ import annotations

from torch import Tensor

from scn.core.maps.learned import HIDDEN_UNITS, Learned
from scn.export.pack import packed
from scn.export.parts import Parts

LABEL = "configuration network"
DECLARED = [f"float hidden[{HIDDEN_UNITS}];", "float most, sum = 0.0f;", "int i;"]
SOFTMAX = """\
most = beta[0];
for (i = 1; i < SCN_DIMS; i++) {
    most = beta[i] > most ? beta[i] : most;
}
for (i = 0; i < SCN_DIMS; i++) {
    beta[i] = scn_exp(beta[i] - most);
    sum += beta[i];
}
for (i = 0; i < SCN_DIMS; i++) {
    beta[i] /= sum;
}"""


def add(parts: Parts, confignet: Learned, checks: list[str]) -> None:
    """Add its tables, and the statements that compute by them."""
    parts.need("exp")
    hidden, output = confignet.hidden, confignet.output
    calls = [
        add_layer(parts, "hidden", hidden.weight, hidden.bias, "alpha", "hidden", relu=True),
        add_layer(parts, "output", output.weight, output.bias, "hidden", "beta"),
    ]
    parts.map_label = LABEL
    parts.beta = [*DECLARED, *checks, *calls, *SOFTMAX.splitlines()]


def add_layer(
    parts: Parts, label: str, weight: Tensor, bias: Tensor, x: str, y: str, *, relu: bool = False
) -> str:
    """Add the tables of a linear layer; returns the call that computes y from x."""
    parts.need("store", "linear", "linear_ram")
    tables = {"weights": packed(weight.unsqueeze(0)), "bias": bias}
    names = [parts.add_floats(f"scn_{label}_{kind}", values, LABEL) for kind, values in tables.items()]
    return f"scn_linear({', '.join(names)}, {x}, {y}, {len(weight)}, {weight.shape[1]}, {int(relu)});"
