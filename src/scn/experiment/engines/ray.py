"""The engine of many machines: each job is a task of Ray, which finds a machine for it and another one when
that dies.

They need not share a folder. Work with its data goes through Ray's object store, once to each machine; code
goes as modules of Ray's runtime environment. A job writes to a folder of its machine, and what it wrote comes
back with its result and is put in place here.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import socket
import sys
import sysconfig
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from scn.core.errors import Failed, ScnError
from scn.core.registry import allowed
from scn.core.storage import failures_named
from scn.experiment.engines.base import (
    DIED,
    RETRIES,
    Ended,
    J,
    Portable,
    R,
    cores,
    outcome,
    registry,
    require_some,
)

PATIENCE = 10.0  # seconds for an address to answer
INSTALLED = {"site-packages", "dist-packages"}
ARRIVING = ".arriving-"  # what is not in its place yet

Files = dict[str, bytes | None]  # by their paths; None for one that is no longer there
Carried = tuple[Files, tuple[Any, Exception | None]]  # what a job changed, and its outcome


@registry.register("ray")
def on_ray(
    work: Callable[[Path, J], R],
    jobs: Sequence[J],
    folder: Path,
    at_once: int | None,
    address: str | None = None,
) -> Iterator[Ended[J, R]]:
    """Tasks of the cluster at this address, or of one that is begun here and ended with them."""
    require_some(at_once)
    with _connected(address, at_once, _modules(work)) as ray:
        _sweep(folder)
        sent = ray.put(work.packed(jobs) if isinstance(work, Portable) else work)
        attempt = ray.remote(num_cpus=1, max_retries=RETRIES)(_attempt)
        call, waiting = uuid.uuid4().hex, deque(enumerate(jobs))
        pending: dict[Any, J] = {}  # by what Ray will give for them
        try:
            while waiting or pending:
                while waiting and (at_once is None or len(pending) < at_once):
                    number, job = waiting.popleft()
                    begun = _begun(work, job, folder)
                    pending[attempt.remote(sent, job, begun, f"scn-{call}-{number}")] = job
                (ready,), _ = ray.wait(list(pending))
                yield _ended(ray, ready, pending.pop(ready), folder)
        finally:
            for task in pending:
                ray.cancel(task, force=True)


@contextmanager
def _connected(address: str | None, at_once: int | None, modules: list[str]) -> Iterator[Any]:
    """Ray, connected; what was begun for it ends with it."""
    if importlib.util.find_spec("ray") is None:
        raise ScnError("the engine ray needs Ray: pip install 'scn[ray]'")
    import ray

    if ray.is_initialized():
        raise ScnError("this process uses Ray already: end that by ray.shutdown() first")
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", address)
    here = {"address": "local", "num_cpus": at_once or cores(), "include_dashboard": False}
    if address is not None:
        _require_answer(address)
    try:
        _init(ray, here if address is None else {"address": address}, modules)
        yield ray
    finally:
        ray.shutdown()


def _init(ray: Any, place: dict[str, Any], modules: list[str]) -> None:
    code = {"py_modules": modules}
    try:
        ray.init(**place, runtime_env=code, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        raise Failed(f"no Ray cluster is reached (`address={place['address']}`): {_said(error)}") from error


def _require_answer(address: str) -> None:
    """Ray itself would wait for minutes."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ScnError(f"`address` must be auto, HOST:PORT or ray://HOST:PORT, but is {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise Failed(
            f"no Ray cluster is reached at {address} ({error}): `ray start --head` begins one and says its "
            "address"
        ) from error


def _modules(work: object) -> list[str]:
    """The code of jobs, as files and folders: scn, what a person allowed, and what is imported beside it.

    What is installed is not sent: it must be so on every machine.
    """
    names = {name.partition(":")[0] for name in allowed()} | {getattr(work, "__module__", "")}
    tops = {name.partition(".")[0] for name in names}
    imported = {name: _source(module) for name, module in list(sys.modules.items()) if "." not in name}
    package = imported.pop("scn")
    own = {name: path for name, path in imported.items() if path is not None and not _is_installed(path)}
    beside = {own[name].parent for name in tops if name in own}
    return [str(package), *sorted({str(path) for path in own.values() if path.parent in beside})]


def _source(module: ModuleType) -> Path | None:
    """The file of a module, or the folder of a package."""
    (*folders,) = getattr(module, "__path__", ())
    path = folders[0] if folders else getattr(module, "__file__", None)
    return Path(path).resolve() if path and (folders or path.endswith(".py")) else None


def _is_installed(path: Path) -> bool:
    return path.is_relative_to(sysconfig.get_path("stdlib")) or not INSTALLED.isdisjoint(path.parts)


def _attempt(work: Callable[[Path, Any], Any], job: Any, begun: Files, name: str) -> Carried:
    """On a machine of the cluster: a job, in a folder of this machine where a second attempt goes on."""
    folder = Path(tempfile.gettempdir()) / name
    try:
        if not folder.is_dir():
            _write(begun, folder)
        found = outcome(work, folder, job)
        after = _files(folder)
    except KeyboardInterrupt:  # a training that was told to end: Ray must take that for a death
        os._exit(1)
    except OSError as error:
        begun, after, found = {}, {}, (None, Failed(f"{socket.gethostname()}: {error}"))
    shutil.rmtree(folder, ignore_errors=True)
    changes = {path: content for path, content in after.items() if begun.get(path) != content}
    return {**changes, **dict.fromkeys(begun.keys() - after.keys())}, found


def _ended(ray: Any, task: Any, job: J, folder: Path) -> Ended[J, Any]:
    """What came of a task; its files are in their places then."""
    died = ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError
    try:
        changes, (result, error) = ray.get(task)
        _put(changes, folder)
    except died as dead:
        return Ended(job, error=Failed(DIED.format(type(dead).__name__)))
    except ray.exceptions.RayError as failure:
        return Ended(job, error=Failed(f"Ray could not carry it out: {_said(failure)}"))
    except (ScnError, OSError) as unwritten:
        return Ended(job, error=unwritten)
    return Ended(job, result, error)


def _said(error: Exception) -> str:
    """The line of Ray's message that says why: the last of a traceback, the first of others."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if "Traceback" in str(error) or "ray::" in str(error) else 0].strip()


def _begun(work: object, job: object, folder: Path) -> Files:
    """What an earlier call has left of a job."""
    return _files(folder, work.place(job)) if isinstance(work, Portable) else {}


def _files(folder: Path, below: str = "") -> Files:
    """Every file in a folder, or below a part of it, by its path from the folder."""
    found = sorted(path for path in (folder / below).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _write(files: Files, folder: Path) -> None:
    """A new folder with these files, which appears when it has them all."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=ARRIVING) as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        for path, content in files.items():
            if content is not None:
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_bytes(content)
        whole.rename(folder)


def _put(changes: Files, folder: Path) -> None:
    """Bring a folder up to date once everything is here; what is new in it appears as a whole."""
    with failures_named(folder), tempfile.TemporaryDirectory(dir=folder, prefix=ARRIVING) as place:
        arrived = Path(place) / "all"
        _write(changes, arrived)
        for path in changes:
            top = PurePath(path).parts[0]
            if not (folder / top).exists():
                (arrived / top).rename(folder / top)
            elif (arrived / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (arrived / path).replace(folder / path)
        for path in (path for path, content in changes.items() if content is None):
            (folder / path).unlink(missing_ok=True)
            if not any((folder / path).parent.iterdir()):
                (folder / path).parent.rmdir()


def _sweep(folder: Path) -> None:
    """Remove what was arriving when an earlier call was killed."""
    for left_over in folder.glob(f"{ARRIVING}*"):
        shutil.rmtree(left_over, ignore_errors=True)
