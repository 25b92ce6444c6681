"""The functions of a search keep to the rules of all others: states, wrong inputs, compilers, memory."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from generated import BAD_INPUT, NOT_CONFIGURED, OK, STRICT, compiled, subject
from interrupting import Noise
from needs import tool
from scn import SCN, search, transforms
from scn.backbones import MLP
from scn.backbones.estimator import Estimator
from scn.core.errors import ScnError
from scn.device import targets
from scn.experiment.device_search import candidates_plan, estimator_plan, tracker_plan
from scn.export import Options, Subject, c
from scn.export import targets as exports
from scn.export.search_plan import ByEstimator, Plan
from searched import Searcher, crossed, searcher

SHAPE = (1, 6, 6)
ROTATION = transforms.get("rotation")
X, OTHER = torch.randn(2, 36, generator=torch.Generator().manual_seed(1))


def network(dims: int = 3) -> SCN:
    torch.manual_seed(0)  # some networks find the same setting whatever is added
    net = SCN(MLP(SHAPE, 4, 9, depth=2), alpha_dim=2, dims=dims, seed=0).eval()
    with torch.no_grad():  # inputs differ in the setting that explains them
        net.theta.mul_(2)
        net.map.get_parameter("output.weight").mul_(5)
    return net


def plans(net: SCN) -> dict[str, Plan]:
    torch.manual_seed(0)
    given = search.Candidates(net, ROTATION, torch.tensor([[0.0], [90.0], [180.0], [270.0]]), "entropy")
    return {
        "grid": candidates_plan("grid", search.Grid(net, ROTATION, 36)),
        "candidates": candidates_plan("candidates", given),
        "tracker": tracker_plan(search.Tracker(net, ROTATION, 2.0, steps=36)),
        "estimator": estimator_plan(search.Estimated(net, ROTATION, Estimator(36, 2))),
    }


def searched(way: str, **more: Any) -> Subject:
    net = network()
    return Noise(**vars(subject(net, SHAPE, search=plans(net)[way], **more)))


@pytest.fixture(scope="module", params=["-O1", "-Ofast"])
def grid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return searcher(searched("grid"), Options(), tmp_path_factory.mktemp("grid"), request.param)


def check_left_out(found: Searcher, bad: torch.Tensor) -> None:
    """An input that is refused changes nothing, however often it comes."""
    assert found.begin() == OK
    assert found.add(X) == OK
    before = found.end()[1]
    assert [found.add(bad) for _ in range(50)] == [BAD_INPUT] * 50
    assert torch.equal(found.end()[1], before)
    assert [found.add(OTHER) for _ in range(3)] == [OK] * 3
    after = found.end()[1]
    found.begin()
    assert [found.add(x) for x in (OTHER, X, OTHER, OTHER)] == [OK] * 4
    assert torch.equal(found.end()[1], after)
    assert not torch.equal(after, before), "what was added later counts"


@pytest.mark.parametrize("place", [0, 17, 35])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_input_that_is_no_number_is_left_out(grid: Searcher, value: float, place: int) -> None:
    bad = X.clone()
    bad[place] = value
    check_left_out(grid, bad)


def test_an_input_too_large_for_the_sums_is_left_out(tmp_path: Path) -> None:
    check_left_out(searcher(searched("grid"), Options(), tmp_path), torch.full((36,), 3e38))


def test_an_end_without_inputs_is_refused(grid: Searcher) -> None:
    assert grid.begin() == OK
    assert grid.end()[0] == BAD_INPUT
    assert grid.add(X * math.nan) == BAD_INPUT
    assert grid.end()[0] == BAD_INPUT
    assert grid.add(X) == OK
    assert grid.end()[0] == OK
    assert grid.call("search_end", None, None) == OK, "both answers may be left out"


def test_a_misaligned_input_is_refused(grid: Searcher) -> None:
    bytes_ = torch.zeros(36 * 4 + 4, dtype=torch.uint8)
    assert grid.call("search_add", ctypes.c_void_p(bytes_.data_ptr() + 1)) == BAD_INPUT


@pytest.mark.parametrize("theta", ["ram", "row"])
@pytest.mark.parametrize("way", ["grid", "tracker", "estimator"])
def test_a_search_leaves_the_configuration_as_it_is(theta: str, way: str, tmp_path: Path) -> None:
    found = searcher(searched(way), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    look = found.track if way == "tracker" else found.add
    look(X)  # also before the first configuration
    assert found.program.infer(X)[0] == NOT_CONFIGURED
    assert found.program.configure(torch.tensor([0.6, 0.8])) == OK
    before = found.program.infer(X)[1]
    look(-X)
    assert torch.equal(found.program.infer(X)[1], before)


BUSY_CASES = {
    "grid": ["net_search_begin(&s)", "net_search_add(&s, x)", "net_search_end(&s, params, alpha)"],
    "estimator": ["net_search_begin(&s)", "net_search_add(&s, x)", "net_search_end(&s, params, alpha)"],
    "tracker": ["net_track_begin(&s)", "net_track(&s, x, params, 0, 0)"],
}
BUSY_PROGRAM = """
#include <string.h>
#include "net.h"
static net_state s, before;
int main(void)
{{
    float x[NET_INPUT_SIZE] = {{0.5f}}, params[1] = {{7.0f}}, alpha[2] = {{7.0f, 7.0f}};
    float logits[NET_CLASSES];
    (void)alpha; (void)logits;
    if ({look} != SCN_OK) {{ return 1; }}
    params[0] = 7.0f;
    s.{flag} = 1;
    before = s;
    {calls}
    if (memcmp(&s, &before, sizeof s) || params[0] != 7.0f) {{ return 3; }}
    s.{flag} = 0;
    if ({last} != SCN_OK || params[0] == 7.0f) {{ return 4; }}
    {beside}
    return 0;
}}
"""
BESIDE = """
    if (net_configure(&s, (const float[]){{1.0f, 0.0f}}) != SCN_OK) {{ return 5; }}
    s.mixing = 1;
    if ({last} != SCN_OK || net_infer(&s, x, logits) != SCN_OK) {{ return 6; }}
"""


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("way", BUSY_CASES)
def test_a_state_in_use_is_told_and_not_touched(way: str, double: bool, tmp_path: Path) -> None:
    calls = BUSY_CASES[way]
    c.write(searched(way), Options(state="explicit", double_buffer=double), tmp_path)
    refused = "\n    ".join(f"if ({call} != SCN_BUSY) {{ return 2; }}" for call in calls)
    said = {"look": calls[1], "last": calls[-1], "calls": refused}
    flag = "running" if double else "busy"
    text = BUSY_PROGRAM.format(flag=flag, beside=BESIDE.format(**said) if double else "", **said)
    (tmp_path / "main.c").write_text(text)
    files = (tmp_path / "net.c", tmp_path / "main.c")
    compiled(tool("gcc"), "-std=c99", "-O1", f"-I{tmp_path}", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0


WAYS = ("grid", "candidates", "tracker", "estimator")
BUILDS = {
    "ram": Options(),
    "row": Options(theta="row", state="explicit"),
    "half, double buffer": Options(weights="float16", double_buffer=True),
    "bytes": Options(weights="int8"),
    "whole numbers": Options(weights="int8", inference="int8"),
}
COMPILERS = {
    "clang": ("clang", "-std=c99", "-O3"),
    "gcc": ("gcc", "-std=c99", "-O3"),
    "g++": ("g++", "-x", "c++", "-Os"),
    "arm": ("arm-none-eabi-gcc", "-std=c99", "-Os", *targets.get("cortex-m4f").flags),
}


@pytest.mark.parametrize(
    ("option", "compiler"),
    crossed(BUILDS, COMPILERS, lambda option, compiler: option == "bytes" or compiler == "g++"),
)
def test_the_code_is_clean(option: str, compiler: str, tmp_path: Path) -> None:
    program, *flags = COMPILERS[compiler]
    found = tool(program)
    for way in WAYS if option != "whole numbers" else ("estimator",):
        c.write(searched(way), BUILDS[option], tmp_path / way)
        compiled(found, *flags, *STRICT, "-c", tmp_path / way / "net.c", "-o", tmp_path / "net.o")


@pytest.mark.parametrize("way", WAYS)
def test_cppcheck_finds_nothing(way: str, tmp_path: Path) -> None:
    program = tool("cppcheck")
    c.write(searched(way), Options(), tmp_path)
    flags = ("--enable=warning,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet")
    quiet = ("--suppress=nullPointer", "--suppress=toomanyconfigs", "-USCN_PORT_HEADER", "--max-configs=4")
    compiled(program, *flags, *quiet, f"-I{tmp_path}", tmp_path / "net.c")


MAIN = """
#include "eye.h"
#include "ear.h"
int main(void)
{
    static float x[36];
    float params[1], alpha[2], spread[1];
    int lost, i;
    for (i = 0; i < 36; i++) { x[i] = (float)i / 36.0f; }
    if (eye_search_add(x) || eye_search_end(params, alpha) || eye_search_begin()) { return 1; }
    for (i = 0; i < 20; i++) {
        if (ear_track(x, params, spread, &lost) || params[0] < 0.0f || params[0] >= 360.0f) { return 2; }
    }
    return eye_configure(alpha) || ear_configure(alpha) || ear_track_begin();
}
"""


@pytest.mark.parametrize("options", [Options(), Options(theta="row", weights="int8")], ids=["ram", "row"])
def test_two_searches_share_a_program_under_the_sanitizers(options: Options, tmp_path: Path) -> None:
    clang = tool("clang")
    c.write(searched("grid", name="eye"), options, tmp_path)
    c.write(searched("tracker", name="ear"), options, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    files = [tmp_path / f"{name}.c" for name in ("eye", "ear", "main")]
    checked = "-fsanitize=address,undefined,float-cast-overflow"
    flags = ("-std=c99", "-g", "-O1", checked, "-fno-sanitize-recover=all", f"-I{tmp_path}")
    compiled(clang, *flags, *files, "-o", tmp_path / "main")
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("way", WAYS)
def test_the_header_says_the_memory_and_the_rule(way: str, tmp_path: Path) -> None:
    what = searched(way)
    facts = c.write(what, Options(), tmp_path).facts
    plain = c.write(replace(what, search=None), Options(), tmp_path / "plain").facts
    header = (tmp_path / "net.h").read_text()
    assert facts["ram"]["search"] > 0
    assert facts["flash"]["search"] > 0
    assert facts["search"]["way"] == way
    assert {key: size for key, size in facts["flash"].items() if key not in ("search", "total")} == {
        key: size for key, size in plain["flash"].items() if key != "total"
    }
    assert "what finds alpha without a sensor" in header
    call = "net_track(" if way == "tracker" else "net_search_add("
    assert call in header
    rule = " ".join(header.split(" memory map")[0].replace("*", "").split())
    assert call.rstrip("(") in rule.split("One of these at a time")[1]


def test_without_a_search_nothing_of_it_is_written(tmp_path: Path) -> None:
    c.write(replace(searched("grid"), search=None), Options(), tmp_path)
    assert "search" not in (tmp_path / "net.c").read_text()
    assert "search" not in (tmp_path / "net.h").read_text()


def summaries() -> Plan:
    """An estimator that reads more than the input itself."""
    plan = plans(network())["estimator"]
    assert isinstance(plan, ByEstimator)
    return replace(plan, estimator=Estimator(512, 2))


REFUSED: dict[str, tuple[str, Callable[[], Subject], Options]] = {
    "one configuration": (
        "leave out `search`",
        lambda: replace(searched("grid"), params=torch.tensor([3.0])),
        Options(theta="fixed"),
    ),
    "without base models": (
        "without base models",
        lambda: replace(searched("grid"), network=MLP(SHAPE, 4, 9)),
        Options(),
    ),
    "one base model": ("one base model", lambda: replace(searched("grid"), network=network(1)), Options()),
    "whole numbers": (
        "inference=float",
        lambda: searched("grid"),
        Options(weights="int8", inference="int8"),
    ),
    "a tracker in whole numbers": (
        "search=estimator",
        lambda: searched("tracker"),
        Options(weights="int8", inference="int8"),
    ),
    "weights in a blob": ("leave out `weights_in`", lambda: searched("grid"), Options(weights_in="blob")),
    "an estimator of summaries": (
        "search=grid",
        lambda: replace(searched("estimator"), search=summaries()),
        Options(),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_searched_is_refused_and_leaves_nothing(case: str, tmp_path: Path) -> None:
    reason, make, options = REFUSED[case]
    with pytest.raises(ScnError, match=reason):
        c.write(make(), options, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_targets_that_have_no_use_for_a_search_say_so(tmp_path: Path) -> None:
    for name in ("onnx", "web"):
        if name in exports:
            with pytest.raises(ScnError, match="no use for a search"):
                exports.get(name)(searched("grid"), Options(), tmp_path)


def test_a_grid_or_distance_of_ones_own_has_no_tracker() -> None:
    class Own(type(ROTATION)):  # type: ignore[misc]
        def distance(self, params: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = super().distance(params, others)
            return found / 2

    with pytest.raises(ScnError, match="use grid"):
        tracker_plan(search.Tracker(network(), Own(), 2.0))


def test_candidates_beyond_the_range_are_refused() -> None:
    translation = transforms.get("translation")
    net = SCN(MLP(SHAPE, 4, 9), alpha_dim=2, dims=3).eval()
    far = search.Candidates(net, translation, torch.tensor([[0.0, 0.0], [99.0, 0.0]]))
    with pytest.raises(ScnError, match="99"):
        candidates_plan("candidates", far)


def test_the_call_in_the_documentation_compiles_and_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    (block,) = (text for text in re.findall(r"```c\n(.*?)```", page, re.DOTALL) if "finder.h" in text)
    c.write(searched("grid", name="finder"), Options(), tmp_path)
    begin = '#include "finder.h"\nint main(void)\n{\n    static float x[FINDER_INPUT_SIZE];\n'
    asked = block.replace("{ ... }", "{ return logits[0] - logits[0] != 0.0f; }")
    (tmp_path / "main.c").write_text(f"{begin}{asked}    return 1;\n}}\n")
    files = (tmp_path / "finder.c", tmp_path / "main.c")
    compiled(tool("gcc"), "-std=c99", "-O1", f"-I{tmp_path}", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0


# A signal adds an input while the main loop adds, infers and configures; then as many are added quietly.
SIGNALS = """
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "net.h"
static net_state own, quiet;
static float x[NET_INPUT_SIZE];
static volatile unsigned added, met, wrong;
static void add(void)
{
    const scn_status status = net_search_add(&own, x);
    if (status == SCN_OK) { added++; } else if (status == SCN_BUSY) { met++; } else { wrong++; }
}
static void interrupt(int number) { (void)number; add(); }
int main(void)
{
    struct itimerval once = {{0, 0}, {0, 0}};
    const float alpha[2] = {1.0f, 0.0f};
    float logits[NET_CLASSES];
    unsigned i, rounds;
    for (i = 0; i < NET_INPUT_SIZE; i++) { x[i] = (float)(i % 7) / 7.0f - 0.5f; }
    signal(SIGALRM, interrupt);
    for (rounds = 0; rounds < 20000 && met < 100; rounds++) {
        once.it_value.tv_usec = 1 + (int)(rounds * 7 % 60);
        setitimer(ITIMER_REAL, &once, 0);
        add();
        (void)net_configure(&own, alpha);
        (void)net_infer(&own, x, logits);
    }
    once.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &once, 0);
    for (i = 0; i < added; i++) { (void)net_search_add(&quiet, x); }
    if (wrong || own.search_count[0] != added) { return 2; }
    if (memcmp(own.search_sums, quiet.search_sums, sizeof own.search_sums)) { return 3; }
    return met ? 0 : 4;
}
"""


@pytest.mark.parametrize("double", [False, True])
def test_a_signal_handler_never_spoils_a_search(double: bool, tmp_path: Path) -> None:
    c.write(searched("grid"), Options(state="explicit", double_buffer=double), tmp_path)
    (tmp_path / "main.c").write_text(SIGNALS)
    files = (tmp_path / "net.c", tmp_path / "main.c")
    compiled(tool("gcc"), "-std=gnu99", "-O1", f"-I{tmp_path}", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0
