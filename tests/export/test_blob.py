"""Weights in a blob: used where they lie, exchanged for others, refused where they do not fit."""

from __future__ import annotations

import ctypes
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from test_export_build import OPTIONS, SHAPES, convolutions
from test_predictions import KNOWN, WEATHER, a_subject

from blobs import (
    BAD_BLOB,
    NOT_LOADED,
    OTHER_NETWORK,
    Loaded,
    apart,
    in_blob,
    with_weights,
)
from generated import BAD_ALPHA, NOT_CONFIGURED, OK, STRICT, built, compiled, subject
from interrupting import Noise
from mapped import MAPPED, Mapped
from needs import tool
from scn import SCN
from scn.backbones import MLP
from scn.core.errors import ScnError
from scn.data import Normalisation
from scn.export import Options, Subject, c
from scn.export.blob import format as form

ALPHAS = torch.tensor([[1.0, 0.0], [-0.6, 0.8], [0.0, -1.0]])
STREAMED = {"ram", "explicit", "double", "half", "int8 weights"}
WAYS = [(option, "blob") for option in OPTIONS] + [(option, "storage") for option in sorted(STREAMED)]
QUICK = {("ram", "blob"), ("row", "blob"), ("int8", "blob"), ("int8 row", "blob"), ("double", "storage")}
CASES = [
    pytest.param(*way, kind, marks=() if way in QUICK else pytest.mark.slow)
    for way in WAYS
    for kind in SHAPES
]


def network(kind: str, options: Options, seed: int = 0, dims: int = 3, name: str = "net") -> Subject:
    torch.manual_seed(seed)
    backbone = MLP((1, 5, 5), 3, 6, depth=2, norm=True).eval() if kind == "mlp" else convolutions()
    net = SCN(backbone, alpha_dim=2, dims=dims, seed=seed).eval()
    params = torch.tensor([20.0]) if options.theta == "fixed" else None
    return Noise(**vars(subject(net, SHAPES[kind], params=params, name=name)))


def answers(program: Loaded, kind: str, fixed: bool) -> torch.Tensor:
    torch.manual_seed(5)
    x, found = torch.randn(4, *SHAPES[kind]), []
    for alpha in ALPHAS:
        if not fixed:
            assert program.configure(alpha) == OK
        found.append(program.answers(x))
    return torch.stack(found)


@pytest.mark.parametrize(("option", "where", "kind"), CASES)
def test_answers_are_those_of_the_same_weights_in_the_code(
    option: str, where: str, kind: str, tmp_path: Path
) -> None:
    options, inputs = OPTIONS[option], int(np.prod(SHAPES[kind]))
    fixed, what = options.theta == "fixed", network(kind, options)
    program, content = in_blob(what, apart(options, where), tmp_path / "blob")
    x = torch.zeros(SHAPES[kind])
    assert program.infer(x)[0] == NOT_LOADED
    assert program.selftest(inputs) == NOT_LOADED
    assert program.identity()[0] == NOT_LOADED
    if not fixed:
        assert program.configure(ALPHAS[0]) == NOT_LOADED
        assert program.call("beta", ALPHAS[0].numpy(), np.zeros(3, np.float32)) == NOT_LOADED
        assert program.call("mix", np.ones(3, np.float32) / 3) == NOT_LOADED
    assert program.load(content) == OK
    assert program.infer(x)[0] == (OK if fixed else NOT_CONFIGURED)
    inside = built(what, options, tmp_path / "code")
    expected = answers(Loaded(**vars(inside)), kind, fixed)
    assert torch.equal(answers(program, kind, fixed), expected)
    assert program.selftest(inputs) == OK
    assert program.unload() == OK
    assert program.infer(x)[0] == NOT_LOADED


@pytest.mark.parametrize(("option", "where", "kind"), CASES)
def test_a_retrained_network_is_loaded_by_the_same_code(
    option: str, where: str, kind: str, tmp_path: Path
) -> None:
    options, inputs = OPTIONS[option], int(np.prod(SHAPES[kind]))
    fixed, chosen = options.theta == "fixed", apart(options, where)
    old, new = network(kind, options), network(kind, options, seed=1, name="newer")
    program, content = in_blob(old, chosen, tmp_path / "old")
    made = c.generate(new, chosen)
    assert made.blob is not None
    assert made.source.replace("newer", "net").replace("NEWER", "NET") == program.source.read_text()
    assert program.load(content) == OK
    before, hash_before = answers(program, kind, fixed), program.identity()[1].model_hash
    assert program.load(made.blob) == OK
    if not fixed:
        assert program.infer(torch.zeros(SHAPES[kind]))[0] == NOT_CONFIGURED
    after = answers(program, kind, fixed)
    expected = answers(Loaded(**vars(built(new, options, tmp_path / "new"))), kind, fixed)
    assert torch.equal(after, expected)
    assert not torch.equal(after, before)
    assert program.selftest(inputs) == OK
    hash_after = program.identity()[1].model_hash
    assert hash_after == str(made.facts["model_hash"]).encode() != hash_before


def test_the_self_test_finds_a_kernel_that_disagrees_with_the_blob(tmp_path: Path) -> None:
    """Golden vectors that belong to other weights are not met."""
    options = apart(Options())
    program, content = in_blob(network("mlp", options), options, tmp_path)
    blob = form.parse(content)
    spoilt = bytearray(content)
    last = 4 * len(blob.floats) + form.HEAD.itemsize - 8  # an expected output, before how far it may be off
    spoilt[last : last + 4] = np.float32(100.0).tobytes()
    assert program.load(sealed(spoilt)) == OK
    assert program.selftest(25) == 6


def sealed(content: bytes | bytearray) -> bytes:
    """With the checksum that fits."""
    return bytes(content[:-4]) + zlib.crc32(content[:-4]).to_bytes(4, "little")


def changed(content: bytes, at: int, value: bytes, *, seal: bool = True) -> bytes:
    made = content[:at] + value + content[at + len(value) :]
    return sealed(made) if seal else made


SECTIONS_AT = form.HEAD.fields["sections"][1]  # type: ignore[index]
REFUSED = {
    "nothing": (lambda b: b"", BAD_BLOB),
    "a head alone": (lambda b: b[: form.HEAD.itemsize], BAD_BLOB),
    "cut off": (lambda b: b[:-4], BAD_BLOB),
    "no magic": (lambda b: changed(b, 0, b"X"), BAD_BLOB),
    "the other order of bytes": (lambda b: changed(b, 8, bytes([1, 2, 3, 4])), BAD_BLOB),
    "one bit": (lambda b: changed(b, len(b) // 2, bytes([b[len(b) // 2] ^ 1]), seal=False), BAD_BLOB),
    "a later format": (lambda b: changed(b, 12, b"\x02"), OTHER_NETWORK),
    "other tables": (lambda b: changed(b, 16, b"\x63"), OTHER_NETWORK),
    "another structure": (lambda b: changed(b, 24, b"z"), OTHER_NETWORK),
    "a longer hash": (lambda b: changed(b, 56, b"abcd"), OTHER_NETWORK),
    "another offset": (lambda b: changed(b, SECTIONS_AT + 4, b"\xa0"), OTHER_NETWORK),
    "a size that is no multiple": (lambda b: changed(b, 20, bytes([b[20] + 1])), BAD_BLOB),
    "a size of nothing": (lambda b: changed(b, 20, bytes(4)), BAD_BLOB),
    "a size beyond everything": (lambda b: changed(b, 20, b"\xfc\xff\xff\xff"), BAD_BLOB),
    "NaN": (lambda b: changed(b, form.HEAD.itemsize, b"\x00\x00\xc0\x7f"), BAD_BLOB),
    "an infinite weight": (lambda b: changed(b, len(b) - 8, b"\x00\x00\x80\x7f"), BAD_BLOB),
}


@pytest.mark.parametrize("where", ["blob", "storage"])
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_leaves_the_old_weights_at_work(what: str, where: str, tmp_path: Path) -> None:
    options = apart(Options(), where)
    program, content = in_blob(network("mlp", options), options, tmp_path)
    change, status = REFUSED[what]
    assert program.load(change(content)) == status
    assert program.infer(torch.zeros(1, 5, 5))[0] == NOT_LOADED
    assert program.load(content) == OK
    assert program.configure(ALPHAS[1]) == OK
    x = torch.randn(1, 5, 5)
    before = program.infer(x)[1]
    assert program.load(change(content)) == status
    assert torch.equal(program.infer(x)[1], before)


def test_memory_that_is_not_aligned_or_not_there_is_refused(tmp_path: Path) -> None:
    options = apart(Options())
    program, content = in_blob(network("mlp", options), options, tmp_path)
    assert [program.load(content, offset=offset) for offset in range(5)] == [0, *[BAD_BLOB] * 3, 0]
    assert program.library.net_load(None, len(content)) == BAD_BLOB
    assert program.load(content, size=len(content) - 1) == BAD_BLOB
    assert program.load(content + b"\xff" * 100) == OK  # the rest of a partition


@pytest.mark.parametrize("option", ["int8", "int8 row", "half", "int8 weights"])
def test_numbers_that_the_code_is_not_made_for_are_refused(option: str, tmp_path: Path) -> None:
    options = apart(OPTIONS[option])
    program, content = in_blob(network("conv", options), options, tmp_path)
    head = np.frombuffer(content, form.HEAD, 1)[0]
    (_, floats, _), (_, numbers, count), _, (_, bases, _) = head["sections"].tolist()
    assert program.load(changed(content, floats, b"\x00\x00\x80\xff")) == BAD_BLOB
    lowest = b"\x00\x7c" if option == "half" else b"\x80"
    assert program.load(changed(content, bases + 2, lowest)) == BAD_BLOB
    if "weights" not in option and option != "half":
        refused = [program.load(changed(content, numbers + 4 * i, b"\x00\x00\x00\x70")) for i in range(count)]
        assert BAD_BLOB in refused
    assert program.load(content) == OK


@pytest.mark.parametrize(
    ("theta", "where"),
    [("ram", "blob"), pytest.param("row", "blob", marks=pytest.mark.slow), ("ram", "storage")],
)
@pytest.mark.parametrize(
    "case",
    [
        "many nodes on a circle",
        "given nodes on a line",
        "experts among turns",
        "nodes on a plane",
        "fourier on a plane",
        "categories that share",
        "generated",
    ],
)
def test_every_map_is_loaded(case: str, theta: str, where: str, tmp_path: Path) -> None:
    mapped, shape = MAPPED[case], (1, 6, 6)
    torch.manual_seed(0)
    net = mapped.network(MLP(shape, 5, 9, depth=2, norm=True))
    what, options = mapped.subject(net, shape), Options(theta=theta)  # type: ignore[arg-type]
    program = with_weights(what, apart(options, where), tmp_path / "blob")
    inside = built(what, options, tmp_path / "code")
    x = torch.randn(3, *shape)
    for params in what.transform.sample(4, torch.Generator().manual_seed(1)):
        alpha = what.transform.encode(params)
        assert program.configure(alpha) == inside.configure(alpha) == OK
        assert torch.equal(program.beta(alpha, net.dims), inside.beta(alpha, net.dims))
        assert torch.equal(program.answers(x), inside.answers(x))
    assert program.configure(torch.full_like(alpha, float("nan"))) == BAD_ALPHA
    mixed = np.full(net.dims, 1 / net.dims, np.float32)
    assert program.call("mix", mixed) == inside.call("mix", mixed) == OK
    assert torch.equal(program.answers(x), inside.answers(x))


@pytest.mark.parametrize("inference", ["float", "int8"])
@pytest.mark.parametrize("subspace", ["factored:4", "gains", "shared:layers.1.weight"])
def test_shared_weights_are_in_the_blob_as_well(subspace: str, inference: str, tmp_path: Path) -> None:
    mapped = Mapped("nodes", "rotation", 5)
    torch.manual_seed(0)
    what = mapped.subject(mapped.network(MLP((1, 8, 8), 5, 9), subspace=subspace), (1, 8, 8))
    weights = "int8" if inference == "int8" else "float32"
    options = Options(weights=weights, inference=inference)  # type: ignore[arg-type]
    program = with_weights(what, apart(options), tmp_path / "blob")
    inside = built(what, options, tmp_path / "code")
    for one in (program, inside):
        assert one.configure(ALPHAS[1]) == OK
    x = torch.randn(5, 1, 8, 8)
    assert torch.equal(program.answers(x), inside.answers(x))
    if inference == "float":
        with pytest.raises(ScnError, match=r"each inference reads the [\d,]+ bytes of weights"):
            c.generate(what, apart(options, "storage"))


@pytest.mark.parametrize("state", ["static", "explicit"])
def test_values_in_units_need_the_blob(state: str, tmp_path: Path) -> None:
    options = Options(state=state, weights_in="blob")  # type: ignore[arg-type]
    program, content = in_blob(a_subject(WEATHER, KNOWN), options, tmp_path)
    outputs, values = np.array([0.5, -1.0], np.float32), np.zeros(2, np.float32)
    assert program.call("values", outputs, values) == NOT_LOADED
    assert program.load(content) == OK
    assert program.call("values", outputs, values) == OK
    expected = WEATHER.predictions(torch.from_numpy(outputs).unsqueeze(0))[0]
    torch.testing.assert_close(torch.from_numpy(values), expected, rtol=1e-6, atol=1e-4)


def test_a_network_without_base_models_is_loaded(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = MLP((1, 5, 5), 3, 6).eval()
    what, x = subject(net, (1, 5, 5)), torch.randn(5, 1, 5, 5)
    program = with_weights(what, Options(weights_in="blob"), tmp_path)
    with torch.no_grad():
        torch.testing.assert_close(program.answers(x), net(x), rtol=1e-5, atol=1e-5)
    assert program.selftest(25) == OK
    with pytest.raises(ScnError, match="without base models reads its weights in each inference"):
        c.generate(what, Options(weights_in="storage"))


def test_reading_that_fails_is_told_and_can_be_repeated(tmp_path: Path) -> None:
    for doubled in (False, True):
        options = Options(weights_in="storage", double_buffer=doubled)
        program, content = in_blob(network("mlp", options), options, tmp_path / str(doubled))
        for reading in range(1, 20):
            program.fails_at = reading
            if program.load(content) == OK:
                break
            assert program.infer(torch.zeros(1, 5, 5))[0] == NOT_LOADED
        program.fails_at = -1
        assert program.load(content) == OK
        assert program.configure(ALPHAS[0]) == OK
        x = torch.randn(1, 5, 5)
        before = program.infer(x)[1]
        program.fails_at = 4
        assert program.configure(ALPHAS[1]) == BAD_BLOB
        status, after = program.infer(x)
        assert status == (OK if doubled else NOT_CONFIGURED)
        assert not doubled or torch.equal(after, before)
        assert program.configure(ALPHAS[1]) == OK
        assert program.infer(x)[0] == OK


def test_a_wish_waits_for_the_weights(tmp_path: Path) -> None:
    options = Options(weights_in="blob")
    program, content = in_blob(network("mlp", options), options, tmp_path)
    assert program.call("request", ALPHAS[1].numpy()) == OK
    assert program.call("poll") == NOT_LOADED
    assert program.load(content) == OK
    assert program.call("poll") == OK
    assert program.infer(torch.zeros(1, 5, 5))[0] == OK


def test_states_of_the_caller_have_blobs_of_their_own(tmp_path: Path) -> None:
    options = Options(state="explicit", weights_in="blob")
    program, content = in_blob(network("mlp", options), options, tmp_path)
    other = replace(program, state=type(program.state)())  # type: ignore[misc]
    newer = c.generate(network("mlp", options, seed=1), options).blob
    assert newer is not None
    assert program.load(content) == other.load(newer) == OK
    assert program.configure(ALPHAS[0]) == other.configure(ALPHAS[0]) == OK
    x = torch.randn(1, 5, 5)
    assert not torch.equal(program.infer(x)[1], other.infer(x)[1])
    assert program.selftest(25) == other.selftest(25) == OK


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"theta": "row"}, "theta=row each inference reads the weights"),
        ({"weights": "int8", "inference": "int8"}, "stand side by side in mapped memory"),
        ({"weights_in": "flash"}, 'no weights_in "flash"'),
    ],
)
def test_what_cannot_be_read_by_a_function_is_refused_at_once(given: dict[str, str], message: str) -> None:
    with pytest.raises(ScnError, match=message):
        Options(**{"weights_in": "storage", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["classes", "normalisation", "D", "options"])
def test_code_tells_networks_apart_that_it_cannot_serve(what: str, tmp_path: Path) -> None:
    options = Options(weights_in="blob")
    program, _ = in_blob(network("mlp", options), options, tmp_path)
    other = network("mlp", options, dims=4 if what == "D" else 3)
    if what == "classes":
        vars(other)["_dataset"] = SimpleNamespace(classes=["a", "b", "c"], targets=[], target_units=[])
    if what == "normalisation":
        other = replace(other, normalisation=Normalisation((0.4,), (0.5,)))
    made = c.generate(other, replace(options, theta="row") if what == "options" else options)
    assert made.blob is not None
    assert program.load(made.blob) == OTHER_NETWORK


def test_networks_share_a_program_wherever_their_weights_are(tmp_path: Path) -> None:
    gcc, headers = tool("gcc"), ""
    ways = {
        "a": Options(),
        "b": Options(weights_in="blob"),
        "d": Options(weights_in="storage", state="explicit"),
    }
    for name, options in ways.items():
        c.write(network("mlp", options, name=name), options, tmp_path)
        headers += f'#include "{name}.h"\n'
    main = "int main(void) { static d_state s; return b_unload() != SCN_OK || d_unload(&s) != SCN_OK; }\n"
    (tmp_path / "main.c").write_text(headers + main)
    files = [tmp_path / f"{name}.c" for name in (*ways, "main")]
    compiled(gcc, "-std=c99", *STRICT, *files, "-o", tmp_path / "main")
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_a_guard_and_a_blob_go_together(tmp_path: Path) -> None:
    options = Options(weights_in="blob", guard="range=refuse,timeout=2s:neutral")
    program, content = in_blob(network("mlp", options), options, tmp_path)
    assert program.load(content) == OK
    assert program.configure(ALPHAS[0]) == OK
    assert program.infer(torch.zeros(1, 5, 5))[0] == OK
    with pytest.raises(ScnError, match="the tables of an input are made for weights in the code"):
        Options(weights_in="blob", input="pcm16")


@pytest.mark.parametrize("state", ["static", "explicit"])
@pytest.mark.parametrize("where", ["blob", "storage"])
@pytest.mark.parametrize("action", ["keep", "neutral"])
def test_a_guard_configures_other_weights_although_the_reading_stays(
    action: str, where: str, state: str, tmp_path: Path
) -> None:
    guarded = Options(state=state, weights_in=where, guard=f"range={action},step=5")  # type: ignore[arg-type]
    program, content = in_blob(network("mlp", guarded), guarded, tmp_path)
    now = ctypes.c_uint32(10)

    def reading(angle: float) -> None:
        given = (ctypes.c_float * 1)(angle)
        program.library.net_guard(*program.own, given, now)

    assert program.load(content) == OK
    reading(30.0)
    assert program.call("poll") == OK
    if action == "neutral":
        reading(float("nan"))
        assert program.call("poll") == OK
    x = torch.zeros(1, 5, 5)
    before = program.infer(x)[1]
    assert program.load(content) == OK
    assert program.infer(x)[0] == NOT_CONFIGURED
    program.library.net_guard_tick(*program.own, now)
    assert program.call("poll") == OK
    status, after = program.infer(x)
    assert (status, torch.equal(after, before)) == (OK, True)


@pytest.mark.parametrize("doubled", [False, True])
def test_a_wish_waits_for_storage_that_can_be_read(doubled: bool, tmp_path: Path) -> None:
    options = Options(weights_in="storage", double_buffer=doubled)
    program, content = in_blob(network("mlp", options), options, tmp_path)
    assert program.load(content) == OK
    assert program.call("request", ALPHAS[0].numpy()) == OK
    program.fails_at = 2
    assert program.call("poll") == BAD_BLOB
    assert program.infer(torch.zeros(1, 5, 5))[0] == NOT_CONFIGURED
    assert program.call("poll") == OK
    assert program.infer(torch.zeros(1, 5, 5))[0] == OK
