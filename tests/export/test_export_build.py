"""Generated C is clean under every compiler and checker, and takes the memory that its header says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

from generated import STRICT, compiled, subject
from needs import tool
from scn import SCN
from scn.backbones import MLP
from scn.export import LabelledSamples, Options, Subject, c

CORTEX_M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
CORTEX_M3 = ("-mcpu=cortex-m3", "-mthumb")
STRICTER = (*STRICT, "-Wpedantic", "-Wcast-align", "-Wundef")


def convolutions() -> nn.Module:
    """Small, with every kind of layer that the C code has a function for."""
    return nn.Sequential(
        nn.Conv2d(2, 6, 3, padding=1),
        nn.BatchNorm2d(6),
        nn.ReLU(),
        nn.MaxPool2d(2, padding=1),
        nn.Conv2d(6, 4, 3, stride=2, groups=2),
        nn.ReLU(),
        nn.AvgPool2d(2, padding=1),
        nn.Flatten(),
        nn.Linear(4, 3),
    ).eval()


SHAPES: dict[str, tuple[int, ...]] = {"mlp": (1, 5, 5), "conv": (2, 7, 7)}
OPTIONS = {
    "ram": Options(),
    "row": Options(theta="row"),
    "fixed": Options(theta="fixed"),
    "explicit": Options(state="explicit"),
    "double": Options(double_buffer=True),
    "half": Options(weights="float16"),
    "int8 weights": Options(weights="int8"),
    "int8 weights, row": Options(weights="int8", theta="row"),
    "int8 weights, fixed": Options(weights="int8", theta="fixed"),
    "int8": Options(weights="int8", inference="int8"),
    "int8 row": Options(weights="int8", inference="int8", theta="row"),
    "int8 fixed": Options(weights="int8", inference="int8", theta="fixed"),
    "int8 double": Options(weights="int8", inference="int8", double_buffer=True, state="explicit"),
}


class Noise(Subject):
    """Calibrated by noise."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        params = self.transform.sample(1) if self.params is None else self.params.view(1, -1)
        x = torch.randn(16, *self.shape, generator=torch.Generator().manual_seed(seed))
        return LabelledSamples(x, torch.zeros(16, dtype=torch.long), params.expand(16, -1))


def written(kind: str, options: Options, folder: Path, name: str = "net", dims: int = 3) -> Path:
    backbone = MLP((1, 5, 5), 3, 6, depth=2, norm=True).eval() if kind == "mlp" else convolutions()
    net = SCN(backbone, alpha_dim=2, dims=dims, seed=0).eval()
    params = torch.tensor([20.0]) if options.theta == "fixed" else None
    what = Noise(**vars(subject(net, SHAPES[kind], params=params, name=name)))
    c.write(what, options, folder)
    return folder / f"{name}.c"


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", ("-std=c99",)),
        ("clang", ("-std=c99",)),
        ("g++", ("-x", "c++", "-std=c++11")),
        ("arm-none-eabi-gcc", ("-std=c99", *CORTEX_M4F)),
        pytest.param("arm-none-eabi-gcc", ("-std=c99", *CORTEX_M3), marks=pytest.mark.slow),
        pytest.param(
            "arm-none-eabi-gcc", ("-std=c99", "-DSCN_PORTABLE", *CORTEX_M4F), marks=pytest.mark.slow
        ),
    ],
    ids=["gcc", "clang", "C++", "cortex-m4f", "cortex-m3", "portable"],
)
def test_no_compiler_warns(
    compiler: str, flags: tuple[str, ...], option: str, kind: str, tmp_path: Path
) -> None:
    program = tool(compiler)
    source = written(kind, OPTIONS[option], tmp_path)
    compiled(program, *flags, *STRICTER, "-O1", "-c", source, "-o", tmp_path / "net.o")


def test_gcc_does_not_warn_of_strips_when_it_unrolls(tmp_path: Path) -> None:
    source = written("mlp", OPTIONS["int8 weights, row"], tmp_path)
    compiled(tool("gcc"), "-std=c99", *STRICTER, "-O3", "-c", source, "-o", tmp_path / "net.o")


KEPT = ("-O0", "-ffixed-r9", "-ffixed-r10")  # registers that a system keeps for itself


@pytest.mark.parametrize("option", ["ram", "row", "half", "int8 weights", "int8", "int8 row"])
def test_the_instructions_of_the_core_leave_registers_to_others(option: str, tmp_path: Path) -> None:
    gcc = tool("arm-none-eabi-gcc")
    source = written("conv", OPTIONS[option], tmp_path)
    compiled(gcc, "-std=c99", *CORTEX_M4F, *STRICT, *KEPT, "-c", source, "-o", tmp_path / "net.o")


@pytest.mark.parametrize("option", ["half", "int8", "int8 row"])
def test_memory_is_used_as_what_it_was_declared(option: str, tmp_path: Path) -> None:
    gcc = tool("gcc")
    source = written("conv", OPTIONS[option], tmp_path)
    rules = ("-fstrict-aliasing", "-Wstrict-aliasing=1", "-Werror")
    compiled(gcc, "-std=c99", "-O2", *rules, "-c", source, "-o", tmp_path / "net.o")


def test_halves_are_converted_by_the_core(tmp_path: Path) -> None:
    """Whatever the compiler says in __ARM_FP: every unit with VFMA has VCVTB."""
    gcc, objdump = tool("arm-none-eabi-gcc"), tool("arm-none-eabi-objdump")
    source = written("mlp", OPTIONS["half"], tmp_path)
    compiled(gcc, "-std=c99", "-O2", *CORTEX_M4F, "-c", source, "-o", tmp_path / "net.o")
    text = compiled(objdump, "-d", tmp_path / "net.o")
    assert "vcvtb.f32.f16" in text
    assert "vcvtt.f32.f16" in text


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("option", ["ram", "row", "int8", "int8 row", "int8 weights, fixed"])
def test_cppcheck_finds_nothing(option: str, kind: str, tmp_path: Path) -> None:
    program = tool("cppcheck")
    source = written(kind, OPTIONS[option], tmp_path)
    compiled(
        program,
        "--enable=warning,performance,portability",
        "--std=c99",
        "--error-exitcode=1",
        "--quiet",
        "--suppress=nullPointer",  # of weights that are not mixed: beta is null, and not read
        "-USCN_PORT_HEADER",  # which names a file of the port's
        "--force",  # every configuration
        f"-I{tmp_path}",
        source,
    )


FUZZ = """
#include <float.h>
#include <stdint.h>
#include <string.h>
#include "net.h"
static uint32_t seed = 1;
static uint32_t word(void) { seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; return seed; }
static void fill(float *to, int count, int sane)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits = word();
        if (sane) { to[i] = (float)(bits % 2001u) / 1000.0f - 1.0f; } else { memcpy(to + i, &bits, 4); }
    }
}
int main(void)
{
    float x[NET_INPUT_SIZE], logits[NET_CLASSES];
    int good = 0;
    for (int round = 0; round < 10000; round++) {
#ifndef NET_FIXED
        float alpha[NET_ALPHA_SIZE], params[NET_PARAMS], angle = (float)(word() % 360u);
        fill(alpha, NET_ALPHA_SIZE, 0);
        (void)net_configure(alpha);
        fill(params, NET_PARAMS, 0);
        (void)net_encode(params, alpha);
        if (net_encode(&angle, alpha) != SCN_OK || net_configure(alpha) != SCN_OK) { return 2; }
#endif
        fill(x, NET_INPUT_SIZE, round & 1);
        const scn_status status = net_infer(x, logits);
        if (status != SCN_OK && (status != SCN_BAD_INPUT || round & 1)) { return 3; }
        for (int i = 0; status == SCN_OK && i < NET_CLASSES; i++) {
            if (!(logits[i] <= FLT_MAX && logits[i] >= -FLT_MAX)) { return 5; }
        }
        good += status == SCN_OK;
    }
    return good >= 5000 ? 0 : 4;
}
"""


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("option", ["ram", "row", "int8", "int8 row", "half"])
def test_ten_thousand_inputs_of_random_bytes_do_no_harm(option: str, kind: str, tmp_path: Path) -> None:
    gcc = tool("gcc")
    source = written(kind, OPTIONS[option], tmp_path)
    (tmp_path / "fuzz.c").write_text(FUZZ)
    sanitizers = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
    executable = tmp_path / "fuzz"
    compiled(gcc, "-std=c99", "-O1", "-g", *sanitizers, source, tmp_path / "fuzz.c", "-o", executable)
    result = subprocess.run([str(executable)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize(
    "option", ["ram", "row", "fixed", "half", "int8 weights", "int8", "int8 row", "int8 fixed"]
)
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2", "-O3"])
def test_no_library_is_needed(level: str, option: str, kind: str, tmp_path: Path) -> None:
    gcc, nm = tool("arm-none-eabi-gcc"), tool("arm-none-eabi-nm")
    source = written(kind, OPTIONS[option], tmp_path)
    compiled(gcc, "-std=c99", level, *CORTEX_M4F, "-c", source, "-o", tmp_path / "net.o")
    assert compiled(nm, "-u", tmp_path / "net.o").split() == []


def test_clang_needs_no_library_either(tmp_path: Path) -> None:
    clang, nm = tool("clang"), tool("nm")
    for option in ("row", "int8 row"):
        folder = tmp_path / option
        folder.mkdir()
        source = written("conv", OPTIONS[option], folder)
        compiled(clang, "-std=c99", "-O2", "-c", source, "-o", folder / "net.o")
        assert not {"memcpy", "memset", "memmove"} & set(compiled(nm, "-u", folder / "net.o").split())


def test_cppcheck_reads_the_file(tmp_path: Path) -> None:
    """It finds a fault that is put there; a file that it skips would be without one."""
    program = tool("cppcheck")
    source = written("mlp", OPTIONS["ram"], tmp_path)
    fault = (
        "\nint scn_fault(void);\nint scn_fault(void)\n{\n    int a[2];\n    a[5] = 1;\n    return a[5];\n}\n"
    )
    source.write_text(source.read_text() + fault)
    found = subprocess.run(
        [program, "--error-exitcode=1", "--quiet", str(source)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "arrayIndexOutOfBounds" in found.stderr or "out of bounds" in found.stderr


def test_two_models_share_a_program_and_an_unconfigured_one_says_so(tmp_path: Path) -> None:
    gcc = tool("gcc")
    sources = [
        written("mlp", OPTIONS["ram"], tmp_path, "one"),
        written("conv", OPTIONS["int8"], tmp_path, "two"),
    ]
    (tmp_path / "main.c").write_text(
        """
        #include "one.h"
        #include "two.h"
        int main(void)
        {
            static float x[TWO_INPUT_SIZE], y[TWO_CLASSES];
            const float alpha[2] = {1.0f, 0.0f};
            if (one_configure(alpha) != SCN_OK || two_infer(x, y) != SCN_NOT_CONFIGURED) { return 1; }
            return two_configure(alpha) || one_infer(x, y) || two_infer(x, y);
        }
        """
    )
    compiled(gcc, "-std=c99", *STRICT, *sources, tmp_path / "main.c", "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False).returncode == 0


def test_a_call_that_interrupts_another_is_told_so(tmp_path: Path) -> None:
    """The flags of an interrupted call, as an interrupt would find them."""
    gcc = tool("gcc")
    single = written("mlp", Options(state="explicit"), tmp_path, "one")
    double = written("mlp", Options(state="explicit", double_buffer=True), tmp_path, "two")
    (tmp_path / "main.c").write_text(
        """
        #include <stdint.h>
        #include "one.h"
        #include "two.h"
        int main(void)
        {
            static one_state s;
            static two_state t;
            static float x[ONE_INPUT_SIZE], y[ONE_CLASSES];
            const float alpha[2] = {1.0f, 0.0f};
            if (one_configure(&s, alpha) || two_configure(&t, alpha)) { return 1; }
            s.busy = 1;
            if (one_configure(&s, alpha) != SCN_BUSY || one_infer(&s, x, y) != SCN_BUSY) { return 2; }
            s.busy = 0;
            if (one_infer(&s, x, y) != SCN_OK) { return 3; }
            t.running = 1;
            t.used = t.ready;
            if (two_infer(&t, x, y) != SCN_BUSY || two_configure(&t, alpha) != SCN_OK) { return 4; }
            if (two_configure(&t, alpha) != SCN_BUSY) { return 5; }
            t.running = t.used = 0;
            t.mixing = 1;
            if (two_configure(&t, alpha) != SCN_BUSY || two_infer(&t, x, y) != SCN_OK) { return 6; }
            t.mixing = 0;
            return two_configure(&t, alpha) || two_infer(&t, x, y);
        }
        """
    )
    compiled(gcc, "-std=c99", *STRICT, single, double, tmp_path / "main.c", "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False).returncode == 0


def sections(options: Options, dims: int, folder: Path) -> tuple[int, int]:
    """Bytes of constants and code, and of RAM, on a Cortex-M4F."""
    gcc, size = tool("arm-none-eabi-gcc"), tool("arm-none-eabi-size")
    folder.mkdir()
    net = SCN(MLP((1, 16, 16), 10, 32), alpha_dim=2, dims=dims, seed=0).eval()
    what = Noise(**vars(subject(net, (1, 16, 16))))
    c.write(what, options, folder)
    compiled(gcc, "-std=c99", "-Os", *CORTEX_M4F, "-c", folder / "net.c", "-o", folder / "net.o")
    text, data, bss = map(int, compiled(size, folder / "net.o").splitlines()[1].split()[:3])
    assert data == 0
    return text, bss


def test_ram_does_not_depend_on_d_and_flash_grows_by_one_base_each(tmp_path: Path) -> None:
    weights = 256 * 32 + 32 + 32 * 10 + 10
    found = {dims: sections(Options(), dims, tmp_path / str(dims)) for dims in (3, 16)}
    assert found[3][1] == found[16][1]
    assert abs((found[16][0] - found[3][0]) - 13 * 4 * (weights + 65)) < 400  # h has 65 more for each


@pytest.mark.parametrize("options", [Options(weights="int8"), Options(weights="int8", inference="int8")])
def test_bases_of_8_bits_take_a_quarter(options: Options, tmp_path: Path) -> None:
    found = {dims: sections(options, dims, tmp_path / str(dims))[0] for dims in (3, 16)}
    matrix, rows = 256 * 32 + 32 * 10, 42
    grown = found[16] - found[3]
    assert abs(grown - 13 * (matrix + 4 * (2 * rows + 65))) < 400  # with a scale and a bias for each row


def test_rows_mixed_during_inference_need_no_theta(tmp_path: Path) -> None:
    _, ram = sections(Options(), 3, tmp_path / "ram")
    _, row = sections(Options(theta="row"), 3, tmp_path / "row")
    assert ram > 4 * (256 * 32 + 32 * 10)
    assert row < 1600


def test_the_header_states_the_memory_that_the_compiler_finds(tmp_path: Path) -> None:
    _, ram = sections(Options(), 3, tmp_path / "ram")
    said = re.search(r"NET_RAM_BYTES (\d+)", (tmp_path / "ram" / "net.h").read_text())
    assert said is not None
    assert 0 <= ram - int(said[1]) <= 8  # the flags
