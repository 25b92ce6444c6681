"""A wish is carried out by the next poll that can: the latest one, whole, and never lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from generated import compiled
from interrupting import COMMON, written
from needs import tool
from scn.export import Options

CASES = {
    "without a wish a poll does nothing": """
        if (net_poll(&own) != SCN_OK || net_infer(&own, x, y) != SCN_OK) { return 2; }
        return memcmp(y, known[1], sizeof y) != 0;
    """,
    "the latest wish wins": """
        if (net_request(&own, alphas[1]) || net_request(&own, alphas[0]) || net_poll(&own)) { return 2; }
        if (net_infer(&own, x, y) != SCN_OK || net_poll(&own) != SCN_OK) { return 3; }
        return memcmp(y, known[0], sizeof y) != 0;
    """,
    "a wish waits while the network is busy": """
        if (net_request(&own, alphas[0]) != SCN_OK) { return 2; }
        own.busy = 1;
        if (net_poll(&own) != SCN_BUSY || net_poll(&own) != SCN_BUSY) { return 3; }
        own.busy = 0;
        if (net_poll(&own) != SCN_OK || net_infer(&own, x, y) != SCN_OK) { return 4; }
        return memcmp(y, known[0], sizeof y) != 0;
    """,
    "a wish that waits gives way to a later one": """
        if (net_request(&own, alphas[1]) != SCN_OK) { return 2; }
        own.busy = 1;
        if (net_poll(&own) != SCN_BUSY || net_request(&own, alphas[0]) != SCN_OK) { return 3; }
        own.busy = 0;
        if (net_poll(&own) != SCN_OK || net_infer(&own, x, y) != SCN_OK) { return 4; }
        return memcmp(y, known[0], sizeof y) != 0;
    """,
    "a wish that is no alpha is refused once and changes nothing": """
        const float none[2] = {3.0f, 4.0f};
        if (net_request(&own, none) != SCN_OK || net_poll(&own) != SCN_BAD_ALPHA) { return 2; }
        if (net_poll(&own) != SCN_OK || net_infer(&own, x, y) != SCN_OK) { return 3; }
        return memcmp(y, known[1], sizeof y) != 0;
    """,
    "places do not run out": """
        int i;
        for (i = 0; i < 1000; i++) {
            if (net_request(&own, alphas[i & 1]) != SCN_OK) { return 2; }
            if (i % 3 == 0 && net_poll(&own) != SCN_OK) { return 3; }
        }
        return 0;
    """,
    "two requests that are interrupted leave room for a third": """
        int i;
        if (net_request(&own, alphas[0]) != SCN_OK) { return 2; }
        for (i = 1; i < 3; i++) { own.wishes.taken[i] = 1; }
        if (net_request(&own, alphas[0]) != SCN_OK) { return 3; }
        own.wishes.taken[0] = 1;
        return net_request(&own, alphas[0]) != SCN_BUSY;
    """,
}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gcc, folder = tool("gcc"), tmp_path_factory.mktemp("network")
    source = written(Options(state="explicit"), folder, dims=2, side=4)
    compiled(gcc, "-std=c99", "-O1", "-c", source, "-o", folder / "net.o")
    return folder


@pytest.mark.parametrize("case", CASES)
def test_requests(case: str, network: Path, tmp_path: Path) -> None:
    text = COMMON + "int main(void)\n{\n float y[NET_CLASSES];\n (void)y; (void)is_known;\n"
    (tmp_path / "main.c").write_text(f"{text} if (!learn()) {{ return 1; }}\n{CASES[case]}}}\n")
    files = (tmp_path / "main.c", network / "net.o")
    compiled(tool("gcc"), "-std=c99", "-DEXPLICIT", f"-I{network}", *files, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0
