"""The harness on every target: what it counts, paints and reads is right, on code whose cost is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from needs import emulated
from scn.core.errors import ScnError
from scn.device import targets
from scn.device.build import Code, build
from scn.device.emulate import Group, emulate
from scn.device.estimate import Assumptions, assumptions
from scn.device.targets import Target

HEADER = """
int toy_beta(const float *alpha, float *beta);
int toy_mix(const float *beta);
int toy_configure(const float *alpha);
int toy_infer(const float *x, float *logits);
"""
SUBJECT = """
#include "toy.h"
#define SUBJECT_INPUT float
#define SUBJECT_INPUTS 2
#define SUBJECT_OUTPUTS 2
#define SUBJECT_ALPHAS 1
#define SUBJECT_DIMS 2
#define SUBJECT_BETA(alpha, beta) toy_beta(alpha, beta)
#define SUBJECT_MIX(beta) toy_mix(beta)
#define SUBJECT_CONFIGURE(alpha) toy_configure(alpha)
#define SUBJECT_INFER(x, logits) toy_infer(x, logits)
"""
# Two bases of four weights, in a file of their own, so that the compiler does not make them part of the code.
BASES = "extern const float bases[2][4];\nconst float bases[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};\n"
SOURCE = """
#include "toy.h"
extern const float bases[2][4];
static float theta[4];
__attribute__((noinline)) static void wait(void) { __asm__ volatile(WAITING); }
int toy_beta(const float *alpha, float *beta) {
    beta[0] = alpha[0]; beta[1] = 1.0f - alpha[0];
    return 0;
}
int toy_mix(const float *beta) {
    for (int i = 0; i < 4; i++) theta[i] = beta[0] * bases[0][i] + beta[1] * bases[1][i];
    return 0;
}
int toy_configure(const float *alpha) {
    float beta[2];
    toy_beta(alpha, beta);
    return toy_mix(beta);
}
int toy_infer(const float *x, float *logits) {
    wait();
    BODY
    for (int i = 0; i < 2; i++) logits[i] = theta[2 * i] * x[0] + theta[2 * i + 1] * x[1];
    return 0;
}
"""
NOPS = 1000
GROUPS = [
    Group(np.array([alpha], np.float32), np.array([[1, 2], [3, 4]], np.float32)) for alpha in (0.25, 1.0)
]


def toy(folder: Path, body: str = "", waiting: str = "") -> Code:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.h").write_text(HEADER)
    (folder / "toy.c").write_text(SOURCE.replace("BODY", body).replace("WAITING", f'"{waiting}"'))
    (folder / "bases.c").write_text(BASES)
    sources = (folder / "toy.c", folder / "bases.c")
    return Code("toy", sources, (folder,), SUBJECT, 2, 2, 1, 2, flags=("-std=gnu99",))


@pytest.fixture(params=targets.TARGETS)
def target(request: pytest.FixtureRequest) -> Target:
    return emulated(request.param)


@pytest.fixture
def cortex() -> Target:
    return emulated("cortex-m4f")


def test_answers_are_right_and_instructions_are_counted_to_the_one(target: Target, tmp_path: Path) -> None:
    plain = toy(tmp_path / "plain")
    longer = toy(tmp_path / "longer", waiting=f".rept {NOPS}\\nnop\\n.endr")
    found = []
    for code in (plain, longer):
        program, _ = build(code, target, tmp_path / code.sources[0].parent.name / "build")
        found.append(emulate(program, code, target, GROUPS))
    for answers in found:
        assert answers.outputs.tolist() == [[14, 20], [32, 46], [5, 11], [11, 25]]
        assert answers.beta.tolist() == [[0.25, 0.75], [1, 0]]
    one, other = (answers.instructions for answers in found)
    if one is None or other is None:
        assert target.name == "host", "only a host without valgrind cannot count"
        return
    assert (other["infer"] - one["infer"] == NOPS).all()
    assert (other["hypernet"] == one["hypernet"]).all()
    assert (other["configure"] == one["configure"]).all()
    assert 0 < one["hypernet"][-1] < one["configure"][-1]


def test_counts_are_the_same_every_time(cortex: Target, tmp_path: Path) -> None:
    code = toy(tmp_path)
    program, _ = build(code, cortex, tmp_path / "build")
    first, second = (emulate(program, code, cortex, GROUPS).instructions for _ in range(2))
    assert first is not None
    assert second is not None
    assert all((first[phase] == second[phase]).all() for phase in first)
    assert len(set(first["infer"].tolist())) == 1


@pytest.mark.parametrize("size", [256, 4096])
def test_the_stack_at_its_deepest_is_found(cortex: Target, tmp_path: Path, size: int) -> None:
    body = f"volatile char deep[{size}]; deep[0] = 1; (void)deep[{size} - 1];"
    code = toy(tmp_path, body)
    program, _ = build(code, cortex, tmp_path / "build")
    stack = emulate(program, code, cortex, GROUPS).stack
    assert size <= stack["infer"] <= size + 32
    assert stack["hypernet"] <= 32


def test_more_stack_than_can_be_seen_is_an_error(cortex: Target, tmp_path: Path) -> None:
    body = "volatile char deep[100000]; for (int i = 0; i < 100000; i++) deep[i] = 1;"
    code = toy(tmp_path, body)
    program, _ = build(code, cortex, tmp_path / "build")
    with pytest.raises(ScnError, match=r"uses at least 65536 bytes of stack on cortex-m4f"):
        emulate(program, code, cortex, GROUPS)


def test_flash_and_ram_are_those_of_the_network(cortex: Target, tmp_path: Path) -> None:
    _, small = build(toy(tmp_path / "a"), cortex, tmp_path / "a" / "build")
    assert small.weights == 2 * 4 * 4
    assert small.static == 4 * 4
    assert small.flash == small.weights + small.code
    more = "static const float table[100] = {1}; static float held[25]; held[(int)x[0]] += table[(int)x[1]]; "
    _, large = build(toy(tmp_path / "b", more + "logits[0] = held[1];"), cortex, tmp_path / "b" / "build")
    assert large.weights == small.weights + 400
    assert large.static == small.static + 100


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 7;", "refused an input with status 7"),
        ("*(volatile int *)0xF0000000 = 1;", "the processor reported a fault"),
    ],
)
def test_failures_on_the_device_are_reported(cortex: Target, tmp_path: Path, body: str, message: str) -> None:
    code = toy(tmp_path, body)
    program, _ = build(code, cortex, tmp_path / "build")
    with pytest.raises(ScnError, match=message):
        emulate(program, code, cortex, GROUPS)


def test_code_that_does_not_compile_is_reported_with_the_compilers_words(
    cortex: Target, tmp_path: Path
) -> None:
    with pytest.raises(ScnError, match=r"arm-none-eabi-gcc failed:(.|\n)*error:"):
        build(toy(tmp_path, "nonsense;"), cortex, tmp_path / "build")


def test_inputs_of_another_size_are_refused(cortex: Target, tmp_path: Path) -> None:
    code = toy(tmp_path)
    program, _ = build(code, cortex, tmp_path / "build")
    with pytest.raises(ValueError, match="toy takes 1 alpha and 2 inputs, but was given 1 and 3"):
        emulate(program, code, cortex, [Group(np.zeros(1), np.zeros((1, 3)))])


def test_a_missing_tool_is_named_with_the_packages_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FileNotFoundError) as caught:
        targets.get("cortex-m4f").require()
    message = str(caught.value)
    assert "arm-none-eabi-gcc" in message
    assert "apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm" in message


def test_an_unknown_target_lists_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r'there is no target "cortex-m4"\. Did you mean "cortex-m4f"\? Known: '
    ):
        targets.get("cortex-m4")


def test_an_estimate_is_arithmetic_with_its_assumptions_beside_it() -> None:
    guess = Assumptions(clock=64, cycles_per_instruction=1.5, current=10, voltage=3.3)
    assert guess.milliseconds(64_000) == pytest.approx(1.5)
    assert guess.microjoules(64_000) == pytest.approx(1.5 * 33)
    assert str(guess) == "assuming 64 MHz and 1.5 cycles per instruction, 10 mA at 3.3 V"
    assert Assumptions(64, 1).microjoules(1) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((64, None, None, None), "needs `clock` and `cycles_per_instruction`"),
        ((None, 1.0, None, None), "needs `clock` and `cycles_per_instruction`"),
        ((None, None, 5.0, 3.3), "needs `clock` and `cycles_per_instruction`"),
        ((64, 1.0, 5.0, None), "needs `current` and `voltage` both"),
        ((0, 1.0, None, None), "the clock must be a positive number, but is 0"),
        ((64, float("nan"), None, None), "the cycles per instruction must be a positive number, but is nan"),
    ],
)
def test_an_estimate_without_its_assumptions_is_refused(
    given: tuple[float | None, float | None, float | None, float | None], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        assumptions(*given)


def test_no_assumptions_no_estimate() -> None:
    assert assumptions(None, None, None, None) is None
