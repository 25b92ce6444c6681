"""The pages of docs/ build without a warning, and every code block on them runs.

Commands run as they stand but for their length: one epoch, one seed, the smallest budget.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from commands import run
from needs import lacking, real_file, tool
from scn import backbones, methods, transforms
from scn.experiment import engines
from scn.search.estimator import train_estimator

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# How commands are shortened: another value of an option, and options that are put behind.
SHORTER = {"--epochs": "1", "--seeds": "1", "--budget": "smoke", "--stream": "100", "--step": "30"}
SMALL = ["--epochs", "1", "--set", "train_samples=300", "--set", "compiled=false"]
BEHIND = {
    "train": SMALL,
    "compare": [*SMALL, "--dims", "2", "--methods", "scn,one4all", "--seeds", "1", "--step", "30"],
    "evaluate": ["--step", "30"],
    "search": ["--samples", "64"],
    "device": ["--samples", "2", "--settings", "2"],
    "plot": ["--samples", "20", "--frames", "2"],
}
# Why a command cannot run here: no data, no published checkpoint, no cross-compiler.
ABSENT = {
    r"`scn data get ([\w.-]+)": lambda found: real_file("SCN_DATA_DIR", f"{found[1]}.npz"),
    r"there is no checkpoint ([\w.]+)": lambda found: real_file("SCN_REFERENCE_DIR", found[1]),
    r"needs ([\w-]+)[^:]*: on Debian": lambda found: tool(found[1]),
    r"needs Optuna: (.*)": lambda found: lacking("optuna", found[1]),
}


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in BLOCK.findall(page.read_text()) if kind in languages]


def commands(text: str) -> Iterator[list[str]]:
    """The commands of a block of sh, shortened."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            shorter = [SHORTER.get(before, word) for before, word in pairwise(["", *words])]
            yield shorter + BEHIND.get(words[1], [])


def write_shorter(text: str) -> None:
    """The file that a block of TOML is, by the name in its first line, with little to do."""
    for name, value in {"epochs": 1, "seeds": 1, "trials": 2, "step": 90}.items():
        text = re.sub(rf"^{name} = \d+", f"{name} = {value}", text, flags=re.MULTILINE)
    Path(text.split()[1]).write_text(text)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `runs` that pages begin with: a small comparison, and three runs of it by themselves."""
    folder = tmp_path_factory.mktemp("trained") / "runs"
    chosen = ["--data", "digits", "--methods", "scn,one4all", "--dims", "3,8", "--seeds", "1", "--step", "30"]
    assert run("compare", *chosen, *SMALL, "-o", str(folder / "demo")).code == 0
    for name in ("scn-d3", "scn-d8", "one4all"):
        shutil.copytree(folder / "demo" / f"{name}-seed0", folder / name)
    return folder


def test_every_page_is_in_the_navigation() -> None:
    navigation = (DOCS.parent / "mkdocs.yml").read_text()
    assert [page.name for page in PAGES if page.name not in navigation] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_say_their_language(page: Path) -> None:
    """A block that is no code is `text`; code that is indented would escape the test."""
    text = page.read_text()
    assert {kind for kind, _ in BLOCK.findall(text)} <= {"python", "sh", "toml", "text", "c", "html"}
    outside = BLOCK.sub("", text)
    assert not re.findall(r"^ {4}(?:scn|python|import|make|from) .*$", outside, re.MULTILINE)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python", "sh")], ids=lambda p: p.stem
)
@pytest.mark.usefixtures("coarse_explorers", "without_processes")
def test_every_code_block_runs(
    page: Path,
    tmp_path: Path,
    few_samples: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "SCN_DATA_DIR" in os.environ:
        monkeypatch.setenv("SCN_DATA_DIR", str(few_samples))
    if re.search(r"runs/(demo|scn-d3|scn-d8)", page.read_text()):
        shutil.copytree(request.getfixturevalue("trained"), "runs")
    for published in Path(os.environ.get("SCN_REFERENCE_DIR", "nowhere")).glob("*_weights.npz"):
        Path(published.name).symlink_to(published)
    for registry in (transforms.registry, backbones.registry, methods.registry, engines.registry):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))  # what a page adds goes again
    monkeypatch.setattr(train_estimator, "__defaults__", (30, 0))  # steps, seed
    names: dict[str, object] = {"__name__": page.stem}
    for kind, text in blocks(page, "python", "sh", "toml"):
        if kind == "python":
            exec(compile(text, f"{page.name}", "exec"), names)
            continue
        if kind == "toml":
            write_shorter(text)
            continue
        for name, *arguments in commands(text):
            assert name == "scn", f"{name} is no command of scn"
            done = run(*arguments)
            for reason, look_for in ABSENT.items():
                found = re.search(reason, done.err)
                if found:
                    look_for(found)
            assert done.code == 0, f"scn {shlex.join(arguments)}: {done.err}"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs mkdocs (make venv installs it)")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=DOCS.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "index.html").is_file()
    assert 'id="scn.SCN.configure"' in (tmp_path / "api.html").read_text()  # made from docstrings
