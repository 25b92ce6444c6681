"""The guard in C decides what the one in Python decides, and inference does what was decided."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generated import STRICT, compiled, subject
from guarded import KINDS, NOT_CONFIGURED, guarded, library, run_c, stream
from needs import tool
from scn import web  # noqa: F401  (it enters itself as a target)
from scn.backbones import MLP
from scn.core.errors import ScnError
from scn.export import Options, c, targets
from scn.transforms import Rotation
from scn.transforms.guard import REFUSE, AlphaGuard, Policy
from scn.transforms.guard.decisions import RANGE, RATE, TIMEOUT, WAITING

M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
WARNING = {
    "gcc": ("gcc", "-std=c99"),
    "clang": ("clang", "-std=c99"),
    "C++": ("g++", "-x", "c++", "-std=c++11"),
    "cortex-m4f": ("arm-none-eabi-gcc", "-std=c99", *M4F),
    "cortex-m0": ("arm-none-eabi-gcc", "-std=c99", "-mcpu=cortex-m0", "-mthumb"),
}
STREAMS = {
    "rotation": "range=refuse,rate=2+90/s:keep,timeout=2s:neutral,step=1",
    "brightness": "range=neutral,rate=0.5/s:refuse,timeout=400ms:keep,recover=2",
    "translation": "rate=1+100/s:keep,rate.right=2+300/s:refuse,range.right=refuse,timeout=5s:neutral",
    "rotation+scaling": "rate.angle=5+200/s:keep,rate.factor=0.02+1/s:neutral,step.angle=2,recover=3",
    "rotation-3d": "range=refuse,rate=20+400/s:refuse,timeout=3s:neutral,recover=4",
    "light": "range=keep,timeout=1.5s:refuse,step=5",
    "clock": "rate=0.1+2/s:keep,recover=20",
}


@pytest.mark.parametrize("kind", STREAMS)
def test_c_decides_as_python_does(kind: str, tmp_path: Path) -> None:
    transform, text = KINDS[kind], STREAMS[kind]
    options = Options(guard=text)
    seen = stream(transform, 5000, seed=len(kind))
    found, wishes = run_c(library(guarded(transform), options, tmp_path), seen, transform.alpha_dim)
    guard = AlphaGuard(Policy.read(text, transform.parameters))
    decided = [
        guard.tick(int(now)) if is_tick else guard.reading(reading, int(now))
        for reading, now, is_tick in zip(seen.readings, seen.now, seen.is_tick, strict=True)
    ]
    assert [d.status for d in decided] == found[:, 0].tolist()
    assert [d.in_force for d in decided] == found[:, 1].tolist()
    wished = [i for i, d in enumerate(decided) if d.configure is not None]
    assert wished == np.flatnonzero(found[:, 2]).tolist()
    settings = torch.tensor(np.array([decided[i].configure for i in wished]))
    assert np.abs(wishes[wished] - transform.encode(settings).numpy()).max() < 1e-4
    assert set(found[:, 4]) == {0}
    statuses = {d.status for d in decided}
    assert statuses >= {0, RANGE}
    assert (RATE in statuses) == ("rate" in text)
    assert (TIMEOUT in statuses) == ("timeout" in text)
    assert len(wished) > 100
    refused = found[:, 1] == REFUSE
    assert (found[refused, 3] == NOT_CONFIGURED).all()
    assert refused.any() == ("refuse" in text)
    assert WAITING in statuses or text == STREAMS["brightness"]


MODES = {
    "explicit": Options(state="explicit"),
    "row": Options(theta="row"),
    "double": Options(double_buffer=True),
    "half": Options(weights="float16"),
    "int8": Options(weights="int8", inference="int8"),
    "int8, row, explicit": Options(weights="int8", inference="int8", theta="row", state="explicit"),
    "explicit, double": Options(state="explicit", double_buffer=True),
}
TEXT = STREAMS["rotation"]


@pytest.mark.parametrize("mode", MODES)
def test_the_guard_is_the_same_in_every_mode(mode: str, tmp_path: Path) -> None:
    what, seen = guarded(KINDS["rotation"]), stream(KINDS["rotation"], 1000, seed=3)
    wanted, _ = run_c(library(what, Options(guard=TEXT), tmp_path / "plain"), seen, 2)
    found, _ = run_c(library(what, replace(MODES[mode], guard=TEXT), tmp_path / "mode"), seen, 2)
    assert (found == wanted).all()


@pytest.mark.parametrize("flags", [("-Ofast",), ("-O0", "-DSCN_PORTABLE"), ("-O3", "-fsanitize=undefined")])
def test_flags_of_the_compiler_change_no_alarm(flags: tuple[str, ...], tmp_path: Path) -> None:
    what, seen = guarded(KINDS["rotation"]), stream(KINDS["rotation"], 2000, seed=4)
    wanted, _ = run_c(library(what, Options(guard=TEXT), tmp_path / "plain"), seen, 2)
    trap = ("-fsanitize-undefined-trap-on-error",) if "-fsanitize=undefined" in flags else ()
    found, _ = run_c(library(what, Options(guard=TEXT), tmp_path / "other", *flags, *trap), seen, 2)
    assert (found == wanted).all()


@pytest.mark.parametrize("compiler", WARNING)
@pytest.mark.parametrize(
    "level", ["-O3", *(pytest.param(level, marks=pytest.mark.slow) for level in ("-O0", "-Os"))]
)
def test_no_compiler_warns_of_a_guard(compiler: str, level: str, tmp_path: Path) -> None:
    program, *flags = WARNING[compiler]
    for name in ("static", "explicit, double", "int8, row, explicit"):
        mode = {"static": Options(), **MODES}[name]
        what = guarded(KINDS["rotation+scaling"], name=re.sub(r"\W+", "_", name) + "_net")
        report = c.write(what, replace(mode, guard=STREAMS["rotation+scaling"]), tmp_path)
        compiled(tool(program), *flags, *STRICT, level, "-c", report.files[1], "-o", tmp_path / "net.o")
        if level == "-O3" and program != "g++":
            undefined = compiled("nm", "-u", tmp_path / "net.o") if program in ("gcc", "clang") else ""
            assert not re.findall(r"mem\w+", undefined)


def test_cppcheck_has_nothing_to_say_about_a_guard(tmp_path: Path) -> None:
    cppcheck = tool("cppcheck")
    written = c.write(guarded(KINDS["translation"]), Options(guard=STREAMS["translation"]), tmp_path)
    how = (
        "--enable=warning,performance,portability",
        "--std=c99",
        "--error-exitcode=1",
        "--quiet",
        "--force",
    )
    compiled(cppcheck, *how, "-USCN_PORT_HEADER", f"-I{tmp_path}", written.files[1])


# Statements in a program that holds the network; each returns 0 if all is as it should be.
CASES = {
    "an older wish does not end a later refusal": """
        if (net_guard(&own, at, 0) != SCN_GUARD_OK || net_poll(&own) || net_infer(&own, x, y)) { return 1; }
        if (net_guard(&own, none, 10) != SCN_GUARD_RANGE) { return 2; }
        if (net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 7; }
        for (i = 0; i < 3; i++) { status = net_guard(&own, at, 20); }
        if (status != SCN_GUARD_OK || !own.wishes.latest) { return 3; }
        if (net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 4; } /* not before it is configured */
        if (net_guard(&own, none, 30) != SCN_GUARD_RANGE) { return 5; }
        if (net_poll(&own) || net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 6; }
        for (i = 0; i < 3; i++) { status = net_guard(&own, at, 40); }
        return status != SCN_GUARD_OK || net_poll(&own) || net_infer(&own, x, y);
    """,
    "a refusal holds while the network is busy, and what ends it is not lost": """
        if (net_guard(&own, at, 0) != SCN_GUARD_OK || net_poll(&own)) { return 1; }
        own.busy = 1;
        if (net_guard(&own, none, 10) != SCN_GUARD_RANGE) { return 2; }
        for (i = 0; i < 3; i++) { status = net_guard(&own, at, 20); }
        if (status != SCN_GUARD_OK || net_poll(&own) != SCN_BUSY) { return 3; }
        own.busy = 0;
        if (net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 4; }
        return net_poll(&own) || net_infer(&own, x, y);
    """,
    "what a program configures itself ends no refusal": """
        float alpha[NET_ALPHA_SIZE];
        if (net_guard(&own, none, 0) != SCN_GUARD_RANGE || net_encode(at, alpha)) { return 1; }
        if (net_configure(&own, alpha) || net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 2; }
        if (net_request(&own, alpha) || net_poll(&own)) { return 3; }
        return net_infer(&own, x, y) != SCN_NOT_CONFIGURED;
    """,
    "a call that meets another one changes nothing": """
        own.guarded.guarding = 1;
        if (net_guard(&own, none, 0) != SCN_GUARD_BUSY) { return 1; }
        if (net_guard_tick(&own, 9999) != SCN_GUARD_BUSY) { return 4; }
        own.guarded.guarding = 0;
        if (net_guard_policy(&own) != SCN_KEEP || own.guarded.started) { return 2; }
        return net_guard(&own, at, 0) != SCN_GUARD_OK;
    """,
    "a wish that finds no place is left by the next call": """
        for (i = 0; i < 4; i++) { own.wishes.taken[i] = 1; }
        if (net_guard(&own, at, 0) != SCN_GUARD_OK || own.wishes.latest) { return 1; }
        for (i = 0; i < 4; i++) { own.wishes.taken[i] = 0; }
        if (net_guard_tick(&own, 1) != SCN_GUARD_OK || !own.wishes.latest) { return 2; }
        return net_poll(&own) || net_infer(&own, x, y);
    """,
    "and not after a refusal": """
        for (i = 0; i < 4; i++) { own.wishes.taken[i] = 1; }
        if (net_guard(&own, at, 0) != SCN_GUARD_OK) { return 1; }
        if (net_guard(&own, none, 0) != SCN_GUARD_RANGE) { return 2; }
        for (i = 0; i < 4; i++) { own.wishes.taken[i] = 0; }
        return net_guard_tick(&own, 1) != SCN_GUARD_OK || own.wishes.latest;
    """,
    "a sensor that never answers leaves the network neutral": """
        if (net_guard_tick(&own, 0xFFFFFF00u) != SCN_GUARD_OK || net_poll(&own)) { return 1; }
        if (net_infer(&own, x, y) != SCN_NOT_CONFIGURED) { return 2; }
        if (net_guard_tick(&own, 2000) != SCN_GUARD_TIMEOUT) { return 3; }
        if (net_guard_policy(&own) != SCN_NEUTRAL) { return 4; }
        return net_poll(&own) || net_infer(&own, x, y);
    """,
    "a reading that is not aligned is none": """
        union { char bytes[2 * sizeof at]; float aligned; } wide = {{0}};
        return net_guard(&own, (const float *)(const void *)(wide.bytes + 1), 0) != SCN_GUARD_RANGE;
    """,
}


BEGIN = """
#include <stdint.h>
#include "net.h"
static net_state own;
int main(void)
{
    static const float x[NET_INPUT_SIZE], at[1] = {30.0f}, none[1] = {1e30f};
    float y[NET_CLASSES];
    scn_guard_status status = SCN_GUARD_OK;
    int i = 0;
    (void)x, (void)at, (void)none, (void)y, (void)status, (void)i;
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("network")
    options = Options(state="explicit", guard="range=refuse,timeout=2s:neutral,recover=3")
    source = c.write(guarded(KINDS["rotation"]), options, folder).files[1]
    compiled(tool("gcc"), "-std=c99", "-O1", "-c", source, "-o", folder / "net.o")
    return folder


@pytest.mark.parametrize("case", CASES)
def test_guards(case: str, network: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(f"{BEGIN}{CASES[case]}}}\n")
    files = (tmp_path / "main.c", network / "net.o")
    compiled(tool("gcc"), "-std=c99", f"-I{network}", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0


def test_networks_with_and_without_a_guard_share_a_program(tmp_path: Path) -> None:
    kinds = {"plain": Options(), "one": Options(guard=TEXT), "two": Options(guard="range=keep")}
    for name, options in kinds.items():
        c.write(guarded(KINDS["rotation"], name=name), options, tmp_path)
    includes = "".join(f'#include "{name}.h"\n' for name in kinds)
    body = "const float at[1] = {1.0f};\nreturn one_guard(at, 0) || two_guard(at, 0) || plain_poll();"
    (tmp_path / "main.c").write_text(f"{includes}int main(void)\n{{\n{body}\n}}\n")
    files = [tmp_path / f"{name}.c" for name in (*kinds, "main")]
    compiled(tool("gcc"), "-std=c99", *STRICT, "-O1", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0


def test_the_header_says_what_the_guard_does_and_what_it_takes(tmp_path: Path) -> None:
    written = c.write(guarded(KINDS["rotation"]), Options(guard=TEXT), tmp_path)
    header = " ".join(written.files[0].read_text().split())
    assert f"The guard of net: {TEXT}" in header
    assert "No good reading for 2,000 ms: neutral." in header
    assert "the shorter way round a circle of 360 degrees" in header
    assert written.facts["ram"]["guard"] == 64
    without = c.generate(guarded(KINDS["rotation"]), Options())
    assert "uard" not in without.source


class Unsaid(Rotation):
    """An encoding that only Python knows."""

    def encodings(self) -> Any:
        return None


def test_a_guard_is_refused_where_it_could_guard_nothing() -> None:
    asked = Options(guard="range=refuse")
    scn = guarded(KINDS["rotation"])
    with pytest.raises(ScnError, match="leave out `guard`"):
        c.generate(replace(scn, params=torch.tensor([30.0])), replace(asked, theta="fixed"))
    with pytest.raises(ScnError, match="leave out `guard`"):
        c.generate(subject(MLP((1, 3, 3), 2, 3), (1, 3, 3)), asked)
    with pytest.raises(ScnError, match="give it a method `encodings`, or leave out `guard`"):
        c.generate(guarded(Unsaid()), asked)
    for name, remedy in (("arduino", "export to c with `guard`"), ("web", "leave out `guard`")):
        with pytest.raises(ScnError, match=remedy):
            targets.get(name)(scn, asked, Path("nowhere"))
    with pytest.raises(ScnError, match='Did you mean "refuse"'):
        c.generate(scn, Options(guard="range=refuze"))
