"""What a network costs on an emulated Cortex-M4F, beside emlearn's C code and a plain loop for the same.

The network is the published one (MLP 1024-32-10, D=3) of SCN_REFERENCE_DIR. Instructions are counted, not
cycles. On the host, one inference against onnxruntime with one thread, interleaved.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from scn import SCN, methods, transforms
from scn.backbones import MLP
from scn.data import Normalisation
from scn.device import targets
from scn.device.build import Code, Footprint, build
from scn.device.emulate import DeviceOutputs, Group, emulate
from scn.device.measure import export, inputs_of
from scn.experiment.published import read_checkpoint
from scn.experiment.tasks import CHECKPOINTS
from scn.export import Options, Subject
from scn.export import targets as exports
from timing import medians

PROCESSOR, IMAGE, SMALL = targets.DEFAULT, (1, 32, 32), (1, 16, 16)
CHECKPOINT = "rotation_mlp_fmnist_d3_weights.npz"
SAMPLES, SETTINGS, UPRIGHT = 25, 8, torch.tensor([0.0])
CALLS = 200  # inferences that are timed at once
WAYS = {
    "scn, float32": Options(),
    "scn, float16 bases": Options(weights="float16"),
    "scn, int8 bases": Options(weights="int8"),
    "scn, int8 throughout": Options(weights="int8", inference="int8"),
    "scn, float32, row": Options(theta="row"),
    "scn, float32, fixed": Options(theta="fixed"),
    "scn, int8 throughout, fixed": Options(theta="fixed", weights="int8", inference="int8"),
}
LIMITS = {
    ("scn, float32", "infer"): 2.8,
    ("scn, float32", "configure"): 2.8,
    ("scn, int8 throughout", "infer"): 2.0,
}
FASTER = 5.0  # than onnxruntime
MAPS = (  # with their limits: of the map, and of the mixing at D=64 against D=2
    ("learned", 3),
    ("nodes", 2),
    ("nodes", 16),
    ("nodes", 64),
    ("experts", 64),
    ("fourier", 7),
)
MAP_LIMIT, MIX_LIMIT = 3072, 1.1

PLAIN_LOOP = """
#include "plain.h"
static const float bases[DIMS][WEIGHTS] = {BASES};
static float theta[WEIGHTS];
int plain_beta(const float *alpha, float *beta) {
    for (int d = 0; d < DIMS; d++) beta[d] = alpha[d];
    return 0;
}
int plain_mix(const float *beta) {
    for (int i = 0; i < WEIGHTS; i++) {
        theta[i] = 0;
        for (int d = 0; d < DIMS; d++) theta[i] += beta[d] * bases[d][i];
    }
    return 0;
}
static void linear(const float *w, const float *b, const float *x, float *y, int inputs, int outputs) {
    for (int o = 0; o < outputs; o++) {
        y[o] = b[o];
        for (int i = 0; i < inputs; i++) y[o] += w[o * inputs + i] * x[i];
    }
}
int plain_infer(const float *x, float *logits) {
    float hidden[HIDDEN];
    const float *w = theta;
    linear(w, w + INPUTS * HIDDEN, x, hidden, INPUTS, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
    w += INPUTS * HIDDEN + HIDDEN;
    linear(w, w + HIDDEN * CLASSES, hidden, logits, HIDDEN, CLASSES);
    return 0;
}
"""


def published() -> Subject | None:
    """The published network, as `scn import` reads it."""
    folder = os.environ.get("SCN_REFERENCE_DIR")
    if folder is None or not (Path(folder) / CHECKPOINT).is_file():
        return None
    transform = transforms.get(CHECKPOINTS.transform, "paper")
    net = read_checkpoint(Path(folder) / CHECKPOINT)
    told = methods.get("scn")(transform, dims=net.dims)
    return Subject("mlp", net, told, IMAGE, Normalisation(), CHECKPOINTS.data)


def fixed(subject: Subject) -> Subject:
    """The same, to be exported for one setting."""
    return Subject(
        subject.name,
        subject.network,
        subject.method,
        subject.shape,
        subject.normalisation,
        subject.data,
        UPRIGHT,
    )


def layers(net: nn.Module) -> list[nn.Linear]:
    return [module for module in net.modules() if isinstance(module, nn.Linear)]


def plain_loop(subject: Subject, folder: Path) -> Code:
    """What one writes without much thought, compiled by -O2."""
    net = subject.network
    assert isinstance(net, SCN)
    first, last = layers(subject.plain(UPRIGHT))
    sizes = {
        "DIMS": net.dims,
        "WEIGHTS": net.theta.shape[1],
        "INPUTS": first.in_features,
        "HIDDEN": first.out_features,
        "CLASSES": last.out_features,
    }
    folder.mkdir(parents=True)
    bases = ",\n".join("{" + ",".join(f"{v:#.9g}f" for v in row) + "}" for row in in_order(net).tolist())
    declared = "\n".join(f"#define {name} {value}" for name, value in sizes.items())
    functions = (
        "int plain_beta(const float *, float *);\nint plain_mix(const float *);\n"
        "int plain_infer(const float *, float *);\n"
    )
    (folder / "plain.h").write_text(f"{declared}\n{functions}")
    (folder / "plain.c").write_text(PLAIN_LOOP.replace("BASES", bases))
    header = subject_header("plain.h", "plain_infer(x, outputs)", sizes) + (
        "#define SUBJECT_BETA(alpha, beta) plain_beta(alpha, beta)\n"
        "#define SUBJECT_MIX(beta) plain_mix(beta)\n#define SUBJECT_CONFIGURE(alpha) plain_mix(alpha)\n"
    )
    return Code(
        "plain", (folder / "plain.c",), (folder,), header, sizes["INPUTS"], sizes["CLASSES"],
        net.dims, net.dims, flags=("-std=c99", "-O2"),
    )  # fmt: skip


def in_order(net: SCN) -> torch.Tensor:
    """The bases (D, L) with each weight before its bias, layer by layer."""
    sets = net.subspace.base_sets()
    names = [name for name, _ in net.configure(torch.zeros(net.alpha_dim)).named_parameters()]
    return torch.cat([sets[name].detach().flatten(1) for name in names], dim=1)


def subject_header(include: str, infer: str, sizes: dict[str, int], alphas: int | None = None) -> str:
    count = sizes["DIMS"] if alphas is None else alphas
    return (
        f'#include "{include}"\n#define SUBJECT_INPUT float\n#define SUBJECT_INPUTS {sizes["INPUTS"]}\n'
        f"#define SUBJECT_OUTPUTS {sizes['CLASSES']}\n#define SUBJECT_ALPHAS {count}\n"
        f"#define SUBJECT_DIMS {count}\n#define SUBJECT_INFER(x, outputs) {infer}\n"
    )


def emlearn_code(subject: Subject, folder: Path) -> Code | None:
    """emlearn's C code for the network of one setting; a regressor, which spends nothing on a softmax."""
    if importlib.util.find_spec("emlearn") is None:
        return None
    import emlearn
    from sklearn.neural_network import MLPRegressor

    found = layers(subject.plain(UPRIGHT))
    model = MLPRegressor(hidden_layer_sizes=[layer.out_features for layer in found[:-1]], activation="relu")
    model.coefs_ = [layer.weight.detach().double().numpy().T for layer in found]
    model.intercepts_ = [layer.bias.detach().double().numpy() for layer in found]
    model.out_activation_, model.n_outputs_ = "identity", found[-1].out_features
    model.n_layers_ = len(found) + 1
    folder.mkdir(parents=True)
    convert: Any = emlearn.convert
    with contextlib.chdir(folder):  # it leaves a folder `tmp` behind
        text = convert(model, method="loadable", return_type="regressor").save(name="peer")
    (folder / "peer.c").write_text(
        f"{text}\nint peer_infer(const float *x, float *logits);\n"
        "int peer_infer(const float *x, float *logits) {\n"
        f"    return (int)peer_regress(x, {found[0].in_features}, logits, {found[-1].out_features});\n}}\n"
    )
    (folder / "peer.h").write_text("int peer_infer(const float *x, float *logits);\n")
    sizes = {"INPUTS": found[0].in_features, "CLASSES": found[-1].out_features}
    header = subject_header("peer.h", "peer_infer(x, outputs)", sizes, 0)
    places = (folder, Path(str(emlearn.includedir)))
    return Code(
        "emlearn",
        (folder / "peer.c",),
        places,
        header,
        sizes["INPUTS"],
        sizes["CLASSES"],
        flags=("-std=gnu99",),
    )


class Table:
    """One line for each contestant, with the outputs of torch for the same inputs."""

    def __init__(self, macs: int, weights: int) -> None:
        self.macs, self.weights, self.failed = macs, weights, False
        print(
            f"\nCortex-M4F, MLP 1024-32-10 ({macs:,} multiply-accumulates, {weights:,} base weights): "
            "instructions for each, bytes"
        )
        print(
            f"  {'':<30}{'infer/MAC':>10}{'mix/weight':>11}{'hypernet':>9}{'flash':>9}{'RAM':>9}{'same':>8}"
        )

    def add(
        self, name: str, footprint: Footprint, given: DeviceOutputs, expected: torch.Tensor
    ) -> dict[str, int]:
        counts = {phase: int(found.mean()) for phase, found in (given.instructions or {}).items()}
        ratios = {
            "infer": counts["infer"] / self.macs,
            "configure": counts.get("configure", 0) / self.weights,
        }
        ram = footprint.static + max(given.stack.values())
        same = float((given.outputs.argmax(1) == expected.numpy().argmax(1)).mean())
        limits = {phase: limit for (who, phase), limit in LIMITS.items() if who == name}
        self.failed |= any(ratios[phase] > limit for phase, limit in limits.items())
        mixing = f"{ratios['configure']:.2f}" if "configure" in counts else "-"
        hypernet = f"{counts['hypernet']:,}" if "hypernet" in counts else "-"
        print(
            f"  {name:<30}{ratios['infer']:>10.2f}{mixing:>11}{hypernet:>9}{footprint.flash:>9,}{ram:>9,}"
            f"{same:>8.1%}" + "".join(f"   limit {limit:g} ({phase})" for phase, limit in limits.items())
        )
        return {"infer": counts["infer"], "flash": footprint.flash, "ram": ram}


def on_the_device(subject: Subject, folder: Path) -> bool:
    """All contestants in one emulator; whether every limit holds."""
    target, net = targets.get(PROCESSOR), subject.network
    assert isinstance(net, SCN)
    found = layers(subject.plain(UPRIGHT))
    table, results = Table(sum(layer.weight.numel() for layer in found), net.theta.numel()), {}
    for number, (name, options) in enumerate(WAYS.items()):
        own = fixed(subject) if options.theta == "fixed" else subject
        code = export(own, options, folder / f"c{number}")
        program, footprint = build(code, target, folder / f"b{number}")
        samples = SAMPLES * (SETTINGS if own.params is not None else 1)
        inputs = inputs_of(own, options, samples, SETTINGS)
        given = emulate(program, code, target, inputs.groups)
        results[name] = table.add(name, footprint, given, inputs.outputs)
    inputs = inputs_of(fixed(subject), Options(theta="fixed"), SAMPLES * SETTINGS, 1)
    beta = net.beta(subject.transform.encode(UPRIGHT)).detach().numpy()
    peers = {
        "emlearn": (emlearn_code(subject, folder / "emlearn"), np.zeros(0, np.float32)),
        "plain loop, -O2": (plain_loop(subject, folder / "plain"), beta),
    }
    for name, (peer, alpha) in peers.items():
        if peer is None:
            print(f"  {name:<30}skipped: `pip install emlearn`")
            continue
        program, footprint = build(peer, target, folder / f"build-{peer.name}")
        given = emulate(program, peer, target, [Group(alpha, inputs.groups[0].x)])
        results[name] = table.add(name, footprint, given, inputs.outputs)
    return _beats_emlearn(results) and not table.failed


def with_map(name: str, dims: int) -> Subject:
    """A smaller network, of which 64 fit into the emulated flash, with random weights."""
    transform = transforms.get(CHECKPOINTS.transform)
    method = methods.get("scn")(transform, dims=dims)
    net = SCN(MLP(SMALL, 10, 32), transform.alpha_dim, dims, map=name, space=transform.space(), seed=0)
    return Subject("mlp", net, method, SMALL, Normalisation(), CHECKPOINTS.data)


def maps_on_the_device(folder: Path) -> bool:
    """What alpha to beta and the mixing take, by map and D; whether the limits hold."""
    target, mixing, held = targets.get(PROCESSOR), {}, True
    print(f"\nCortex-M4F, MLP 256-32-10 by its map: instructions, bytes   limit of a map {MAP_LIMIT:,}")
    print(f"  {'':<30}{'map':>9}{'mixing':>10}{'infer':>9}{'RAM':>9}")
    for number, (name, dims) in enumerate(MAPS):
        for theta in ("ram", "row") if name == "experts" else ("ram",):
            subject, options = with_map(name, dims), Options(theta=theta)
            code = export(subject, options, folder / f"map{number}{theta}")
            program, footprint = build(code, target, folder / f"map-build{number}{theta}")
            alphas = subject.transform.encode(subject.transform.regular()).split(1)
            x = np.zeros((1, *SMALL), np.float32)
            given = emulate(program, code, target, [Group(alpha[0].numpy(), x) for alpha in alphas])
            counts = {phase: int(found.mean()) for phase, found in (given.instructions or {}).items()}
            held &= counts["hypernet"] <= MAP_LIMIT
            mixing[name, dims, theta] = counts["configure"]
            print(
                f"  {f'{name}, D={dims}, {theta}':<30}{counts['hypernet']:>9,}{counts['configure']:>10,}"
                f"{counts['infer']:>9,}{footprint.static + max(given.stack.values()):>9,}"
            )
    ratio = mixing["nodes", 64, "ram"] / mixing["nodes", 2, "ram"]
    print(f"  nodes: mixing at D=64 takes {ratio:.3f} times that at D=2   limit {MIX_LIMIT:g}")
    return held and ratio <= MIX_LIMIT


def _beats_emlearn(results: dict[str, dict[str, int]]) -> bool:
    """Fewer instructions, less RAM and no more flash for the same plain network."""
    if "emlearn" not in results:
        return True
    ours, theirs = results["scn, float32, fixed"], results["emlearn"]
    ratios = {what: theirs[what] / ours[what] for what in ours}
    said = ", ".join(f"{what} {ratio:.2f} times" for what, ratio in ratios.items())
    print(f"  emlearn takes of what the fixed network takes: {said}   limit: none below 1")
    return all(ratio >= 1 for ratio in ratios.values())


def on_the_host(subject: Subject, folder: Path) -> bool:
    """One inference through ctypes against one through onnxruntime's Python interface."""
    if importlib.util.find_spec("onnxruntime") is None:
        print("\nhost: skipped, there is no onnxruntime")
        return True
    import onnxruntime

    own = fixed(subject)
    code = export(own, Options(theta="fixed"), folder / "host")
    library = folder / "host.so"
    flags = ("-O3", "-march=native", "-ffp-contract=fast", "-std=c99", "-shared", "-fPIC")
    subprocess.run(["gcc", *flags, *map(str, code.sources), "-o", str(library)], check=True)
    infer = getattr(ctypes.CDLL(str(library)), f"{own.name}_infer")
    report = exports.get("onnx")(own, Options(theta="fixed"), folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(report.files[1]), options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(1, *own.shape)).astype(np.float32)
    logits = np.zeros((1, own.outputs), np.float32)
    places = (ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(logits.ctypes.data))
    contestants: dict[str, Callable[[], object]] = {
        "scn, C by ctypes": lambda: [infer(*places) for _ in range(CALLS)],
        "onnxruntime, one thread": lambda: [session.run(None, {"x": x}) for _ in range(CALLS)],
    }
    seconds = {name: value / CALLS for name, value in medians(contestants, rounds=30).items()}
    np.testing.assert_allclose(logits, session.run(None, {"x": x})[0], atol=1e-3)
    ours, theirs = seconds.values()
    print("\nOne inference on this machine, batch 1, interleaved")
    for name, value in seconds.items():
        print(f"  {name:<30}{value * 1e6:>9.2f} us")
    print(f"  {theirs / ours:.1f} times as fast   limit {FASTER:g}")
    return theirs / ours >= FASTER


def main() -> None:
    torch.set_num_threads(1)
    subject = published()
    if subject is None:
        print(f"device: skipped, SCN_REFERENCE_DIR does not name a folder with {CHECKPOINT}")
        return
    missing = targets.get(PROCESSOR).missing()
    if missing:
        print(f"device: skipped, there is no {', '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        held = [on_the_device(subject, folder), maps_on_the_device(folder), on_the_host(subject, folder)]
    if not all(held):
        print("\na limit does not hold")


if __name__ == "__main__":
    main()
