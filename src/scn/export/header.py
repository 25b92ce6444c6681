"""NAME.h: how to call the network, what its input is, and where its memory goes."""

from __future__ import annotations

import textwrap
from typing import Any

from scn.export import guard, identity, requests, selftest
from scn.export.base import Options
from scn.export.blob import declared as blobs
from scn.export.calls import rule
from scn.export.graph import Graph
from scn.export.inputs.declared import declared
from scn.export.pack import exact
from scn.export.parts import Parts
from scn.export.predictions import Meaning
from scn.export.sensors.threshold import Threshold
from scn.export.state import FLAG, parameter, state_text
from scn.export.subject import Subject

STATUS = """\
#ifndef SCN_STATUS
#define SCN_STATUS
typedef enum {
    SCN_OK = 0,
    SCN_NOT_CONFIGURED, /* infer before the first configure */
    SCN_BAD_ALPHA,      /* not a number, or no setting has this alpha; the last good configuration stays */
    SCN_BAD_PARAMS,     /* not a number, or out of the range that the network was trained for */
    SCN_BUSY,           /* another call is using the state, nothing was changed; see above for what to do */
    SCN_BAD_INPUT,      /* x holds NaN, infinity or too large numbers, or an array is not aligned */
    SCN_FAILED,         /* of the self-test: an output is not the expected one */
    SCN_NOT_LOADED,     /* of a network whose weights are in a blob: there are none yet */
    SCN_BAD_BLOB,       /* a blob that is damaged, or could not be read */
    SCN_OTHER_NETWORK   /* a blob of a network of another structure */
} scn_status;
#endif
"""
MEANING = {
    "bases": "base models, const",
    "shared": "weights that do not depend on alpha, const",
    "scales": "of rows of 8-bit weights, const",
    "biases and gains": "const",
    "configuration network": "const",
    "map": "from alpha to the mixing coefficients, const",
    "targets": "their means and deviations, const",
    "theta": "the mixed weights",
    "beta": "the mixing coefficients",
    "activations": "values between layers, sharing memory",
    "scratch": "patches and strips of rows",
    "frames": "tables of the resize and of what bytes stand for, const",
    "lines": "of a frame, as far as they are needed at once",
    "sound": "samples at the edge of a step, const",
    "self-test": "the expected outputs",
    "calibration": "numbers of the arithmetic",
    "head and checksum": "of the blob",
    "where the weights are": "the blob that is loaded",
    "weights in memory": "what is small of the blob",
    "strips": "pieces of base models that are read",
    "search": "what finds alpha without a sensor",
    "wishes": "that requests leave; the linker drops them where nobody asks",
    "guard": "what it remembers of readings",
}
THETA = {
    "ram": "mixed to RAM once for each alpha: the fastest inference",
    "row": "never as a whole: no RAM for theta, but each inference reads every base model that counts",
    "fixed": "one configuration, const",
}


WHERE = {
    "blob": "They are in {name}.blob, which {name}_load uses in place: flash in the address space, or RAM.",
    "storage": "They are in {name}.blob, which {name}_load_from and each configuration read by a function.",
}


def header(
    subject: Subject,
    options: Options,
    graph: Graph,
    parts: Parts,
    meaning: Meaning,
    facts: dict[str, Any],
) -> str:
    name, guard = subject.name, f"{subject.name.upper()}_H"
    return "\n".join(
        [
            f"/*\n{_about(subject, options, graph, parts, meaning, facts)} */",
            f"#ifndef {guard}\n#define {guard}\n",
            _first(options),
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            STATUS,
            _sizes(subject, graph, meaning, facts, parts),
            _threshold(subject, facts),
            blobs.defines(name, facts) if options.in_blob else identity.defines(name, parts),
            f"typedef float {name}_input;\n",
            _functions(subject, options, parts, meaning),
            "#ifdef __cplusplus\n}\n#endif\n",
            f"#endif /* {guard} */\n",
        ]
    )


def _first(options: Options) -> str:
    if options.in_blob:
        return blobs.first(options)
    return "#include <stdint.h>\n" if options.state == "explicit" or options.input or options.guard else ""


def _about(
    subject: Subject, options: Options, graph: Graph, parts: Parts, meaning: Meaning, facts: dict[str, Any]
) -> str:
    mean, deviation = (
        ", ".join(f"{v:.9g}" for v in values)
        for values in (subject.normalisation.mean, subject.normalisation.deviation)
    )
    shape = " x ".join(map(str, subject.shape))
    setting = "" if subject.params is None else f", for params {subject.params.tolist()}"
    lines = [
        f"{subject.name}: made by `scn export`. C99, no heap, no library. (A core without floating point",
        "has it from the compiler's own, such as __aeabi_fadd.)",
        "",
        f"x: {graph.size(0)} floats, {shape} in this order, normalised: (value - mean) / deviation, where an",
        f"   image has values from 0 to 1, a sound from -1 to 1. mean {mean}; deviation {deviation}.",
        *meaning.about.splitlines(),
        "",
        f"theta: {options.theta}{setting}: {THETA[options.theta]}.",
        f"weights: {options.weights}; arithmetic of inference: {options.inference}.",
        *([WHERE[options.weights_in].format(name=subject.name)] if options.in_blob else []),
        "",
        *rule(subject.name, options, parts),
        "",
        "memory map, in bytes (without code and stack):",
    ]
    for place in ("flash", "ram"):
        for label, size in facts[place].items():
            said = MEANING.get(label, "")
            twice = ", twice: a double buffer" if options.double_buffer and label == "theta" else ""
            lines.append(f"   {place:5} {size:>9,}  {label}{f' ({said}{twice})' if said else ''}")
    return "".join(f" * {line}".rstrip() + "\n" for line in lines)


def _sizes(subject: Subject, graph: Graph, meaning: Meaning, facts: dict[str, Any], parts: Parts) -> str:
    sizes = {
        "INPUT_SIZE": graph.size(0),
        meaning.size: graph.size(graph.output),
        "DIMS": graph.dims,
        "FLASH_BYTES": facts["flash"]["total"],
        "RAM_BYTES": facts["ram"]["total"],
    }
    if facts["theta"] == "fixed":
        sizes["FIXED"] = 1
    else:
        sizes |= {"ALPHA_SIZE": subject.transform.alpha_dim, "PARAMS": len(subject.transform.parameters)}
    if parts.entrance is not None:
        sizes |= parts.entrance.sizes
    return "".join(_defined(subject, key, value) for key, value in sizes.items())


def _defined(subject: Subject, key: str, value: object) -> str:
    return f"#define {subject.name.upper()}_{key} {value}\n"


def _threshold(subject: Subject, facts: dict[str, Any]) -> str:
    """What the sensor's adapter is to be given, where there is one."""
    if "threshold" not in facts:
        return ""
    found = Threshold(**facts["threshold"])
    said = textwrap.fill(f"For the sensor's adapter, {found.unit}: {found.about()}.", 100)
    return (
        f"/* {said.replace(chr(10), chr(10) + '   ')} */\n{_defined(subject, 'THRESHOLD', exact(found.step))}"
    )


def _functions(subject: Subject, options: Options, parts: Parts, meaning: Meaning) -> str:
    name, upper = subject.name, subject.name.upper()
    infer = f"const {name}_input *x, float *{meaning.outputs}"
    found = []
    if options.state == "explicit":
        found.append(
            "/* All that a network changes. Set it to zero before the first call (a static one is). */\n"
            + FLAG
            + (requests.wishes_text(name, parts) if parts.configurable else "")
            + (guard.type_text(name, options, parts.guard) if parts.guard else "")
            + state_text(name, options, parts, _more_state(name, parts))
        )
    if options.in_blob:
        found += blobs.functions(name, options)
    if parts.configurable:
        found += _configuration(subject, options, parts)
    found += [
        f"/* x: {upper}_INPUT_SIZE values, {meaning.outputs}: {upper}_{meaning.size}. */\n"
        f"scn_status {name}_infer({parameter(name, options, infer)});\n",
        *([declared(name, options, parts.entrance, meaning.outputs)] if parts.entrance is not None else []),
        *meaning.declared,
        *parts.search.declared,
        selftest.declared(name, options, parts, meaning.outputs),
        blobs.identity(name, options) if options.in_blob else identity.declared(name),
    ]
    return "\n".join(found)


def _configuration(subject: Subject, options: Options, parts: Parts) -> list[str]:
    name = subject.name
    listed = ", ".join(f"{p.name}{f' in {p.unit}' if p.unit else ''}" for p in subject.transform.parameters)
    found = []
    if parts.encode is not None:
        found.append(
            f"/* params ({listed}) to alpha. */\n"
            f"scn_status {name}_encode(const float *params, float *alpha);\n"
        )
    takes = parameter(name, options if options.in_blob else Options(), "const float *alpha, float *beta")
    alone = f"/* The {parts.map_label} alone: the mixing coefficients of alpha. */"
    mixing = "/* Configuration alone, from any mixing coefficients. */"
    both = "/* The network for this alpha: mixing coefficients, then weights. */"
    return [
        *found,
        f"{alone}\nscn_status {name}_beta({takes});\n",
        f"{mixing}\nscn_status {name}_mix({parameter(name, options, 'const float *beta')});\n",
        f"{both}\nscn_status {name}_configure({parameter(name, options, 'const float *alpha')});\n",
        *requests.declared(name, options),
        *guard.declared(name, options, subject, parts.guard),
    ]


def _more_state(name: str, parts: Parts) -> list[str]:
    """Fields of an explicit state behind those of the network itself."""
    wishes = [f"{name}_wishes wishes"] if parts.configurable else []
    return [*wishes, *([f"{name}_guarded guarded"] if parts.guard else [])]
