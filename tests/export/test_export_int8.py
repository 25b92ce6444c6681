"""Export in whole numbers: C computes what Python says it does, and trained networks keep their answers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from generated import OK, built, compiled, subject
from needs import emulated, tool
from scn import SCN, data, transforms
from scn.backbones import M5, MLP, LeNet5, ResNet18, ShallowCNN, ShiftInvariantCNN
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.export import LabelledSamples, Options, Subject, c, calibrate, interpret, rounding
from scn.export.c import graph_of
from scn.export.operations.affine import layers_of
from scn.export.quantisation import quantised_rows

INT8 = Options(weights="int8", inference="int8")
ROTATION = transforms.get("rotation")


@pytest.fixture(scope="module")
def data_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Handwritten digits as a user's own file."""
    arrays = data.load("digits").arrays
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(
        path, allow_pickle=False, **{key: arrays[key] for key in ("x_train", "y_train", "x_test", "y_test")}
    )
    return str(path)


def tones(path: Path, samples: int = 1600, length: int = 1200) -> str:
    """Short sounds of four pitches with noise, as a data file of waveforms."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, samples)
    time = np.arange(length) / 8000
    pitch = 300.0 * 1.6 ** y[:, None] * rng.uniform(0.95, 1.05, (samples, 1))
    wave = np.sin(2 * math.pi * pitch * time + rng.uniform(0, 7, (samples, 1)))
    loud = rng.uniform(0.2, 0.6, (samples, 1))
    x = (32767 * loud * (wave + 0.3 * rng.normal(size=wave.shape)) / 2).clip(-32767, 32767).astype(np.int16)
    cut = samples * 3 // 4
    np.savez(path, x_train=x[:cut], y_train=y[:cut], x_test=x[cut:], y_test=y[cut:], sample_rate=8000)
    return str(path)


def trained(net: SCN, what: Subject, steps: int) -> None:
    """A few steps on the training samples, each batch under four settings."""
    found = what.samples("train", 1200, settings=24)
    alpha = what.transform.encode(found.params)
    optimiser = torch.optim.Adam(net.parameters(), 4e-3)
    net.train()
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(found.x), (64,), generator=generator)
        loss = nn.functional.cross_entropy(net(found.x[rows], alpha[rows]), found.y[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    net.eval()


KINDS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], str, int]] = {
    "MLP": (lambda: MLP((1, 32, 32), 10, 24), (1, 32, 32), "rotation", 150),
    "LeNet-5": (LeNet5, (1, 32, 32), "rotation", 120),
    "ShallowCNN": (lambda: ShallowCNN((1, 32, 32), 10, width=6), (1, 32, 32), "rotation", 400),
    "M5": (lambda: M5((1, 1200), 4, width=8, stride=2), (1, 1200), "pitch", 60),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[] if kind in ("MLP", "LeNet-5") else pytest.mark.slow) for kind in KINDS],
)
def test_a_trained_network_keeps_its_answers(kind: str, data_file: str, tmp_path: Path) -> None:
    """At least 98 % of the classes, and at most one point of accuracy less; C as Python computes it."""
    make, shape, transform, steps = KINDS[kind]
    size = transforms.get(transform).alpha_dim
    net = SCN(make(), alpha_dim=size, dims=3, init="pretrained", noise=0.3, seed=1)
    file = tones(tmp_path / "tones.npz") if kind == "M5" else data_file
    what = subject(net, shape, transform, data=file)
    trained(net, what, steps)
    program = built(what, INT8, tmp_path)
    found = what.samples("test", 200, settings=8)
    exact, ours = [], []
    for params in found.params.unique(dim=0):
        rows = (found.params == params).all(dim=1)
        alpha = what.transform.encode(params)
        assert program.configure(alpha) == OK
        with torch.no_grad():
            exact.append(net.configure(alpha)(found.x[rows]).argmax(dim=1))
        ours.append(program.answers(found.x[rows]).argmax(dim=1))
    labels = torch.cat([found.y[(found.params == p).all(dim=1)] for p in found.params.unique(dim=0)])
    before, after = torch.cat(exact), torch.cat(ours)
    accuracy = (before == labels).double().mean()
    assert accuracy > 0.6  # trained for real
    assert (before == after).double().mean() >= 0.98
    assert (after == labels).double().mean() >= accuracy - 0.01


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP": (lambda: MLP((1, 6, 6), 5, 9, depth=2, norm=True), (1, 6, 6)),
    "ShallowCNN": (lambda: ShallowCNN((3, 26, 26), 10, width=3, depth=4), (3, 26, 26)),
    "M5": (lambda: M5((1, 1200), 7, width=4, stride=2), (1, 1200)),
    "ResNet18": (lambda: ResNet18((3, 8, 8), 10, width=3), (3, 8, 8)),
    "shift-invariant": (lambda: ShiftInvariantCNN((1, 12, 12), 10, width=5), (1, 12, 12)),
}


class Calibrated(Subject):
    """Noise instead of data."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0):  # type: ignore[no-untyped-def]
        generator = torch.Generator().manual_seed(seed)
        params = self.transform.sample(4, generator) if self.params is None else self.params.expand(4, -1)
        x = torch.randn(16, *self.shape, generator=generator)
        return LabelledSamples(x, torch.zeros(16, dtype=torch.long), params.repeat_interleave(4, dim=0))


def expected(what: Subject, net: nn.Module, beta: Tensor, x: Tensor, theta: str) -> Tensor:
    """What the whole numbers give in Python."""
    whole = what.plain(what.params) if what.params is not None else net
    graph = graph_of(what, whole)
    quantisation = rounding.quantisation_of(what, graph)
    stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
    arithmetic = interpret.Int8(graph, beta, quantisation, stored, by_rows=theta == "row")
    return interpret.run(arithmetic, x.double())[graph.output].flatten(1).float()


WAYS = [("ram", 0.0), ("row", 0.0), ("fixed", 0.0), ("ram", 2.0), ("row", 2.0)]
CASES = [
    pytest.param(kind, *way, marks=pytest.mark.slow if kind == "ResNet18" and way[1] else [])
    for kind in NETWORKS
    for way in WAYS
]


@pytest.mark.parametrize(("kind", "theta", "enough"), CASES)
def test_c_computes_the_whole_numbers_that_python_does(
    kind: str, theta: str, enough: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To the last bit: with values of 8 bits throughout, and of 16 where there may be."""
    monkeypatch.setattr(calibrate, "ENOUGH", enough)
    make, shape = NETWORKS[kind]
    net = SCN(make().eval(), alpha_dim=2, dims=3, seed=1).eval()
    with torch.no_grad():
        net.theta.mul_(1 + 0.3 * torch.randn_like(net.theta))
    plain = subject(net, shape, params=torch.tensor([30.0]) if theta == "fixed" else None)
    what = Calibrated(**vars(plain))
    options = Options(theta=theta, weights="int8", inference="int8")  # type: ignore[arg-type]
    program = built(what, options, tmp_path)
    x = torch.randn(6, *shape)
    beta = torch.ones(1)
    if theta != "fixed":
        alpha = ROTATION.encode(torch.tensor([30.0]))
        assert program.configure(alpha) == OK
        beta = program.beta(alpha, 3)
    assert torch.equal(program.answers(x), expected(what, net, beta, x, theta))


@pytest.mark.parametrize("theta", ["ram", "row", "fixed"])
@pytest.mark.parametrize(
    "target",
    ["cortex-m4f", "cortex-m3", *(pytest.param(t, marks=pytest.mark.slow) for t in ("cortex-m7", "rv32"))],
)
def test_every_processor_computes_the_same_whole_numbers(target: str, theta: str, tmp_path: Path) -> None:
    """With instructions of the core or without, with floating point in hardware or in software."""
    processor = emulated(target)
    make, shape = NETWORKS["M5"]
    net = SCN(make().eval(), alpha_dim=2, dims=3, seed=1).eval()
    plain = subject(net, shape, params=torch.tensor([30.0]) if theta == "fixed" else None)
    what = Calibrated(**vars(plain))
    code = export(what, Options(theta=theta, weights="int8", inference="int8"), tmp_path / "c")  # type: ignore[arg-type]
    program, _ = build(code, processor, tmp_path / "build")
    x = torch.randn(3, *shape)
    alpha = np.zeros(0) if theta == "fixed" else ROTATION.encode(torch.tensor([30.0])).numpy()
    found = emulate(program, code, processor, [Group(alpha, x.numpy())])
    beta = torch.ones(1) if theta == "fixed" else torch.from_numpy(found.beta[0].copy())
    whole = expected(what, net, beta, x, theta)
    assert np.array_equal(found.outputs, whole.numpy())


def test_inference_in_whole_numbers_calls_no_floating_point(tmp_path: Path) -> None:
    """On a core without it: one multiplication of an output, by a power of two, and nothing else."""
    gcc, objdump = tool("arm-none-eabi-gcc"), tool("arm-none-eabi-objdump")
    make, shape = NETWORKS["ShallowCNN"]
    net = SCN(make().eval(), alpha_dim=2, dims=3, seed=1).eval()
    what = Calibrated(**vars(subject(net, shape, params=torch.tensor([30.0]))))
    c.write(what, Options(theta="fixed", weights="int8", inference="int8"), tmp_path)
    core = ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")
    flags = ("-std=c99", "-O0", *core, "-c")
    compiled(gcc, *flags, tmp_path / "net.c", "-o", tmp_path / "net.o")
    calls: dict[str, set[str]] = {}
    function = ""
    for line in compiled(objdump, "-dr", tmp_path / "net.o").splitlines():
        if named := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            function = named[1]
        elif called := re.search(r"__aeabi_([fid]\w+)", line):
            calls.setdefault(function, set()).add(called[1])
    calls.pop("net_selftest")  # compares outputs, and is no part of an answer
    assert calls == {"scn_last_int8": {"fmul", "i2f"}}


@pytest.mark.parametrize("enough", [0.0, 2.0])
def test_values_that_8_bits_harm_get_16(enough: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never where 8 bits are enough, everywhere but in the answer where nothing is."""
    monkeypatch.setattr(calibrate, "ENOUGH", enough)
    make, shape = NETWORKS["M5"]
    net = SCN(make().eval(), alpha_dim=2, dims=3, seed=1).eval()
    graph = graph_of(subject(net, shape), net)
    x, beta = torch.randn(8, *shape), net.beta(torch.tensor([0.6, 0.8])).detach()
    found = calibrate.calibrate(graph, x, beta.unsqueeze(0), lambda logits: logits.argmax(dim=1))
    assert found[0].bits == 16  # the input costs no time
    assert {found[op.target].bits for op in graph.ops if op.target != graph.output} == {16 if enough else 8}


def test_a_network_that_does_not_end_in_a_linear_layer_is_refused(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    what = Calibrated(**vars(subject(net, (1, 6, 6))))
    with pytest.raises(ValueError, match="is not linear: use `inference=float`"):
        built(what, INT8, tmp_path)


def test_without_data_there_is_nothing_to_calibrate_by(tmp_path: Path) -> None:
    net = SCN(MLP((1, 4, 4), 3, 4), alpha_dim=2, dims=2)
    with pytest.raises(FileNotFoundError, match="no such file"):
        built(subject(net, (1, 4, 4)), INT8, tmp_path)
