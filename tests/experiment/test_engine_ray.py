"""The engine of many machines: what it sends, what it brings back, and what it says where it cannot."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drills import (
    KILLS,
    at_work,
    carried_out,
    contents,
    descendants,
    die,
    small_jobs,
    wait_for,
    workers_killed,
)

import scn
from commands import in_this_process, run
from scn.core.errors import Failed, ScnError
from scn.core.registry import allow
from scn.experiment import engines
from scn.experiment.compare import compare
from scn.experiment.engines import on_ray
from scn.experiment.engines.ray import _attempt, _modules, _put
from scn.experiment.jobs import Job

Sweep = tuple[list[Job], dict[str, bytes]]

CALL = ("compare", "--data", "digits", "--methods", "one4all", "--seeds", "1", "--width", "4", "--quiet")


def work(folder: Path, job: str) -> str:
    return job


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def _installed() -> None:
    pytest.importorskip("ray", reason="needs ray (pip install 'scn[ray]')")


def test_the_engine_of_this_computer_takes_no_address(tmp_path: Path) -> None:
    result = run(*CALL, "-o", str(tmp_path / "c"), "--address", "auto")
    assert result.code == 2
    assert "--engine local works on this computer alone and takes no --address" in result.err
    assert not (tmp_path / "c").exists()


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ScnError, match=r"needs Ray: pip install 'scn\[ray\]'"):
        list(on_ray(work, ["a"], tmp_path, 1))


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_an_address_where_nothing_answers_is_an_error_at_once(form: str, tmp_path: Path) -> None:
    address, began = form.format(closed_port()), time.monotonic()
    result = run(*CALL, "-o", str(tmp_path / "c"), "--engine", "ray", "--address", address)
    assert result.code == 1
    assert f"no Ray cluster is reached at {address}" in result.err
    assert "`ray start --head` begins one" in result.err
    assert time.monotonic() - began < 20


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("address", ["cluster", "host:", ":6379", "ray://host"])
def test_what_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match="`address` must be auto, HOST:PORT or ray://HOST:PORT, but is"):
        list(engines.get("ray", address)(work, ["a"], tmp_path, 1))


def test_one_at_a_time_is_the_least(tmp_path: Path) -> None:
    with pytest.raises(ScnError, match="`jobs` must be at least 1, but is 0"):
        list(on_ray(work, ["a"], tmp_path, 0))


def test_a_new_run_appears_as_a_whole_and_another_is_brought_up_to_date(tmp_path: Path) -> None:
    _put({"run/a": b"1", "run/checkpoint/b": b"2"}, tmp_path)
    _put({"run/a": b"3", "run/c": b"4", "run/checkpoint/b": None}, tmp_path)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert found == {"run", "run/a", "run/c"}
    assert (tmp_path / "run" / "a").read_bytes() == b"3"


def test_a_full_disk_is_named_and_nothing_half_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put({"run/a": b"old"}, tmp_path)
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "b":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    for changes in ({"run/a": b"new", "run/b": b""}, {"other/a": b"", "other/b": b""}):
        with pytest.raises(Failed, match=f"{tmp_path} cannot be written: No space left"):
            _put(dict(changes), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert (tmp_path / "run" / "a").read_bytes() == b"old"


def go_on(folder: Path, job: str) -> str:
    """Read what is there, and change all of it but one file."""
    place = folder / job
    found = sorted(path.name for path in place.iterdir())
    (place / "gone").unlink()
    (place / "changed").write_text("new")
    (place / "made").write_text("")
    return " ".join(found)


def test_a_job_goes_on_with_what_was_sent_and_brings_back_what_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    begun: dict[str, bytes | None] = {f"run/{name}": b"old" for name in ("changed", "gone", "kept")}
    changes, (result, error) = _attempt(go_on, "run", begun, "place")
    assert (result, error) == ("changed gone kept", None)
    assert changes == {"run/changed": b"new", "run/made": b"", "run/gone": None}
    assert list(tmp_path.iterdir()) == []


def test_a_second_attempt_on_a_machine_goes_on_with_what_the_first_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "place" / "run").mkdir(parents=True)
    for name in ("changed", "gone", "checkpoint"):
        (tmp_path / "place" / "run" / name).write_text("of the first")
    changes, (result, _) = _attempt(go_on, "run", {"run/gone": b"old", "run/kept": b"old"}, "place")
    assert result == "changed checkpoint gone"
    assert changes.keys() == {"run/changed", "run/made", "run/checkpoint", "run/gone", "run/kept"}


def test_code_of_the_users_own_is_sent_with_what_it_imports_from_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part_of_mine").mkdir()
    (tmp_path / "part_of_mine" / "__init__.py").touch()
    (tmp_path / "mine_with_part.py").write_text("import part_of_mine, numpy")
    (tmp_path / "never_imported.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("mine_with_part")
    (package,) = _modules(len)
    assert Path(package).name == "scn"
    with allow("mine_with_part:Net"):
        _, *own = _modules(len)
    assert own == [str(tmp_path / "mine_with_part.py"), str(tmp_path / "part_of_mine")]
    for name in ("mine_with_part", "part_of_mine"):
        del sys.modules[name]


@pytest.fixture(scope="module")
def undisturbed(small_data: str, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Twelve small runs, one after the other in this process, and what they wrote."""
    jobs, folder = small_jobs(small_data, 12, epochs=20), tmp_path_factory.mktemp("undisturbed")
    with in_this_process():
        carried_out(jobs, folder)
    return jobs, contents(folder)


@pytest.fixture
def cluster(_installed: None) -> Iterator[Any]:
    """A head that carries out nothing, and two nodes."""
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        started.add_node(num_cpus=1)
    yield started
    started.shutdown()


@pytest.mark.slow
@pytest.mark.usefixtures("_installed")
def test_runs_on_ray_equal_those_of_this_process_bit_for_bit(small_data: str, tmp_path: Path) -> None:
    jobs = small_jobs(small_data, 2, epochs=1)
    with in_this_process():
        carried_out(jobs, tmp_path / "here")
    assert sorted(carried_out(jobs, tmp_path / "ray", engine="ray", at_once=1)) == [job.name for job in jobs]
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert {path.name for path in (tmp_path / "ray").iterdir()} == {job.name for job in jobs}
    assert not at_work(os.getpid(), "ray")


def survives(undisturbed: Sweep, folder: Path, worker: str, **how: object) -> None:
    """Nothing is lost, done twice or otherwise when workers are killed."""
    jobs, expected = undisturbed
    with workers_killed(worker) as killed:
        names = carried_out(jobs, folder, **how)
    assert len(killed) == KILLS
    assert sorted(names) == sorted(job.name for job in jobs)
    assert contents(folder) == expected


@pytest.mark.slow
def test_local_workers_that_are_killed_cost_time_alone(undisturbed: Sweep, tmp_path: Path) -> None:
    survives(undisturbed, tmp_path, "spawn_main", at_once=2)


@pytest.mark.slow
def test_workers_of_ray_that_are_killed_cost_time_alone(
    undisturbed: Sweep, cluster: Any, tmp_path: Path
) -> None:
    survives(undisturbed, tmp_path, "ray::_attempt", engine="ray", address=cluster.address)


@pytest.mark.slow
def test_a_node_that_dies_and_one_that_joins_cost_time_alone(
    undisturbed: Sweep, cluster: Any, tmp_path: Path
) -> None:
    jobs, expected = undisturbed
    names = []
    for job, _ in compare(jobs, tmp_path, engine="ray", address=cluster.address):
        names.append(job.name)
        if len(names) == 1:
            (lost, *_) = cluster.worker_nodes
            cluster.remove_node(lost, allow_graceful=False)
        if len(names) == 2:
            joined = cluster.add_node(num_cpus=1)
    assert joined in cluster.worker_nodes
    assert sorted(names) == sorted(job.name for job in jobs)
    assert contents(tmp_path) == expected


@pytest.mark.slow
@pytest.mark.usefixtures("_installed")
def test_a_job_that_always_dies_comes_to_an_end(tmp_path: Path) -> None:
    ended = {one.job: one for one in on_ray(die, ["die", "live"], tmp_path, 1)}
    assert ended["live"].result == "live"
    assert isinstance(ended["die"].error, Failed)
    assert "its process ended without a word (WorkerCrashedError)" in str(ended["die"].error)


@pytest.mark.slow
@pytest.mark.usefixtures("_installed")
def test_ctrl_c_leaves_nothing_at_work_and_the_same_call_goes_on(small_data: str, tmp_path: Path) -> None:
    call = ["compare", "--data", small_data, "--methods", "scn", "--dims", "2", "--width", "4", "--epochs"]
    call += ["300", "--step", "90", "-o", str(tmp_path / "c"), "--engine", "ray", "--jobs", "1", "--quiet"]
    program = [sys.executable, "-c", "from scn.cli.main import main; main()"]
    assert run(*call, "--seeds", "1").code == 0
    model = tmp_path / "c" / "scn-d2-seed0" / "model.safetensors"
    trained = model.stat().st_mtime_ns
    process = subprocess.Popen(
        [*program, *call, "--seeds", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: at_work(process.pid, "ray::_attempt"))
    children = descendants(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "stopped; the same command goes on" in err) == (130, True)
    assert "Traceback" not in err
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 30)
    assert run(*call, "--seeds", "2").code == 0
    assert model.stat().st_mtime_ns == trained


HIDING = """
set -e
for folder in "$@"; do mount -t tmpfs none "$folder"; done
exec "$PYTHON" -m ray.scripts.scripts start --address "$CLUSTER" --num-cpus 1 --block
"""
OWN = """
from torch import nn
from beside_network import flat

class Own(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.layer = nn.Linear(32 * 32, classes)

    def forward(self, x):
        return self.layer(flat(x))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("_installed")
def test_a_machine_that_has_neither_code_nor_data_nor_folder_is_sent_them(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that sees other folders in the places of ours."""
    from ray.cluster_utils import Cluster

    alone = ["unshare", "--mount"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs unshare --mount (as root)")
    monkeypatch.chdir(tmp_path)
    Path("own_network.py").write_text(OWN)
    Path("beside_network.py").write_text("def flat(x):\n    return x.flatten(1)\n")
    data = Path(small_data).parent
    installed = subprocess.run(
        [sys.executable, "-c", "import scn; print(scn.__file__)"],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    sources = {Path(scn.__file__).parents[1], Path(installed.stdout.strip()).parents[1]}
    hidden = [str(folder) for folder in (tmp_path, data, *sources)]
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    head = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "RAY_AUTH_MODE") if name in os.environ}
    node = subprocess.Popen(
        [*alone, "bash", "-c", HIDING, "hiding", *hidden],
        env={**environment, "TMPDIR": str(elsewhere), "CLUSTER": head.address, "PYTHON": sys.executable},
        cwd="/",
        stdout=subprocess.DEVNULL,
    )
    try:
        call = ("compare", "--data", small_data, "--methods", "one4all", "--seeds", "2", "--epochs", "1")
        more = ("--backbone", "own_network:Own", "--batch-size", "32", "--step", "90", "--quiet", "-o")
        here = run(*call, *more, "here")
        assert here.code == 0, here.err
        there = run(*call, *more, "there", "--engine", "ray", "--address", head.address)
        assert there.code == 0, there.err
        assert contents(Path("there")) == contents(Path("here"))
        assert not list(elsewhere.glob("scn-*"))
    finally:
        node.terminate()
        node.wait(30)
        head.shutdown()
