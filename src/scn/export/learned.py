"""The configuration network in C: params to alpha, alpha to the mixing coefficients."""

from __future__ import annotations

from scn.core.maps.learned import HIDDEN_UNITS, Learned
from scn.export import encode
from scn.export.pack import packed
from scn.export.parts import Parts
from scn.transforms import Transform

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


def add_confignet(parts: Parts, transform: Transform, confignet: Learned) -> None:
    """Add its tables, and the statements that compute by them."""
    parts.need("exp", "store", "linear", "linear_ram", *encode.snippets(transform))
    calls = []
    for label, layer, x, y, size, relu in (
        ("hidden", confignet.hidden, "alpha", "hidden", HIDDEN_UNITS, 1),
        ("output", confignet.output, "hidden", "beta", "SCN_DIMS", 0),
    ):
        tables = {"weights": packed(layer.weight.unsqueeze(0)), "bias": layer.bias}
        names = [
            parts.add_floats(f"scn_{label}_{kind}", values, "configuration network")
            for kind, values in tables.items()
        ]
        calls.append(f"scn_linear({', '.join(names)}, {x}, {y}, {size}, {layer.in_features}, {relu});")
    parts.encode = encode.encode_statements(transform)
    parts.beta = [*DECLARED, *encode.check_statements(transform), *calls, *SOFTMAX.splitlines()]
