"""The learned map in C: the configuration network."""

from __future__ import annotations

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
    parts.need("exp", "store", "linear", "linear_ram")
    calls = []
    for label, layer, x, y, size, relu in (
        ("hidden", confignet.hidden, "alpha", "hidden", HIDDEN_UNITS, 1),
        ("output", confignet.output, "hidden", "beta", "SCN_DIMS", 0),
    ):
        tables = {"weights": packed(layer.weight.unsqueeze(0)), "bias": layer.bias}
        names = [parts.add_floats(f"scn_{label}_{kind}", values, LABEL) for kind, values in tables.items()]
        calls.append(f"scn_linear({', '.join(names)}, {x}, {y}, {size}, {layer.in_features}, {relu});")
    parts.map_label = LABEL
    parts.beta = [*DECLARED, *checks, *calls, *SOFTMAX.splitlines()]
