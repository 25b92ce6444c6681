"""Mixing few of many base models: what the pieces of C say where beta names those that are mixed.

A template writes @...@ where a loop runs over base models. Where all are mixed, beta is an array with a
coefficient for each; where a map picks few of them, it is a `scn_few`, which lists them.
"""

from __future__ import annotations

ALIKE = """\
    if (!m->gain && !m->scale) { /* the same for every row */
        for (i = 0; i < (m->bases > 1 ? beta->count : 1); i++) {
            const float share = m->bases > 1 ? beta->share[i] : 1.0f;
            out[4 * i] = out[4 * i + 1] = out[4 * i + 2] = out[4 * i + 3] = share;
        }
        return;
    }
"""
ONE_BY_ONE = """\
    if (!m->gain) {
        int i;
        for (i = 0; i < beta->count; i++) {
            const float *const from = m->bias + beta->which[i] * all;
            const float share = beta->share[i];
            for (r = 0; r < all; r++) {
                out[r] = (i ? out[r] : 0.0f) + share * from[r];
            }
        }
        return;
    }
"""
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
    "@only@": "",
    "@which@": "",
    "@pass which@": "",
    "@of@": "i",
    "@next@": "a + stride",
    "@alike@": "",
    "@one by one@": "",
    "@n@": "SCN_DIMS",
    "@with which@": "",
    "@which,@": "",
    "@inline@": "",
    "@each@": "",
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
    "@only@": ", scn_only",
    "@which@": ", const uint16_t *which",
    "@pass which@": ", which",
    "@of@": "which[i]",
    "@next@": "base + which[i + 1] * stride",
    "@alike@": ALIKE,
    "@one by one@": ONE_BY_ONE,
    "@n@": "n",
    "@with which@": "const uint16_t *which, int n, ",
    "@which,@": "which, n, ",
    "@inline@": "SCN_INLINE ",
    "@each@": "_each",
}
MIXED = dict.fromkeys(("@alone@", "@unless alone@", "@alone + block * k@", "@alone?@"), "") | {
    "@rows in scratch@": "scratch",
}
ALONE = {  # where weights are used as they are stored, a single base model is not copied
    "@alone@": "        const SCN_BASE *const alone = scn_alone(m, beta, base);\n",
    "@unless alone@": "if (!alone) ",
    "@alone + block * k@": "alone ? alone + block * k : ",
    "@alone?@": "alone ? alone : ",
    "@rows in scratch@": "(alone ? alone : scratch)",
}


def filled(text: str, few: bool, alone: bool) -> str:
    """A template as it is where all base models are mixed, or few, and where one alone is used in place."""
    for place, words in {**(FEW if few else ALL), **(ALONE if alone else MIXED)}.items():
        text = text.replace(place, words)
    return text
