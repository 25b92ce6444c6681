"""Mixing few of many base models: what the pieces of C say where beta names those that are mixed.

A template writes @...@ where a loop runs over base models. Where all are mixed, beta is an array with a
coefficient for each; where a map picks few of them, it is a `scn_few`, which lists them.
"""

from __future__ import annotations

ALL = {
    "@beta@": "const float *beta",
    "@dims@": "SCN_DIMS",
    "@i@": "i",
    "@share@": "beta[i]",
    "@with beta@": "",
    "@beta,@": "",
    "@count@": "m->bases",
    "@own@": "i",
    "@bases@": "m->bases",
    "@which@": "",
    "@of@": "i",
    "@next@": "a + stride",
}
FEW = {
    "@beta@": "const scn_few *beta",
    "@dims@": "beta->count",
    "@i@": "beta->which[i]",
    "@share@": "beta->share[i]",
    "@with beta@": "const scn_few *beta, ",
    "@beta,@": "beta, ",
    "@count@": "(m->bases > 1 ? beta->count : 1)",
    "@own@": "(m->bases > 1 ? beta->which[i] : 0)",
    "@bases@": "m->bases > 1 ? beta->count : 1, m->bases > 1 ? beta->which : scn_only",
    "@which@": ", const uint16_t *which",
    "@of@": "which[i]",
    "@next@": "base + which[i + 1] * stride",
}


def filled(text: str, few: bool) -> str:
    """A template as it is where all base models are mixed, or few."""
    for place, words in (FEW if few else ALL).items():
        text = text.replace(place, words)
    return text
