"""Networks whose weights are in a blob, compiled on this machine and loaded from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from generated import OK, Program, built
from scn.export import Options, Subject

FAILED, NOT_LOADED, BAD_BLOB, OTHER_NETWORK = range(6, 10)
WITH_STATE = ("beta", "mix", "configure", "infer", "values", "selftest", "request", "poll")
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)


class Identity(ctypes.Structure):
    _fields_ = [
        ("api_version", ctypes.c_uint),
        ("format_version", ctypes.c_uint),
        ("model_hash", ctypes.c_char_p),
        ("made_by", ctypes.c_char_p),
    ]


@dataclass
class Loaded(Program):
    """Each blob that was given stays in memory."""

    streams: bool = False
    fails_at: int = -1  # the reading, counted down, that fails
    given: tuple[object, ...] = ()

    @property
    def own(self) -> list[ctypes.Array[ctypes.c_char]]:
        return [] if self.state is None else [self.state]

    def call(self, function: str, *arrays: np.ndarray) -> int:
        own = self.own if function in WITH_STATE else []
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
        return int(getattr(self.library, f"{self.name}_{function}")(*own, *pointers))

    def load(self, content: bytes, size: int | None = None, offset: int = 0) -> int:
        """Of so many bytes; `offset`: where they begin behind a multiple of 16."""
        memory = np.zeros(len(content) // 4 + 12, np.uint32)
        start = memory.ctypes.data + -memory.ctypes.data % 16 + offset
        ctypes.memmove(start, content, len(content))
        length = ctypes.c_size_t(len(content) if size is None else size)
        if not self.streams:
            self.given += (memory,)
            load = getattr(self.library, f"{self.name}_load")
            return int(load(*self.own, ctypes.c_void_p(start), length))

        def read(context: int, at: int, to: int, count: int) -> int:
            self.fails_at -= 1
            if self.fails_at == 0 or at + count > len(content):
                return 1
            ctypes.memmove(to, content[at : at + count], count)
            return 0

        self.given += (memory, made := READ(read))
        return int(getattr(self.library, f"{self.name}_load_from")(*self.own, made, None, length))

    def unload(self) -> int:
        return int(getattr(self.library, f"{self.name}_unload")(*self.own))

    def selftest(self, inputs: int) -> int:
        return self.call("selftest", np.zeros(inputs, np.float32), np.zeros(self.classes, np.float32))

    def identity(self) -> tuple[int, Identity]:
        found = Identity()
        function = getattr(self.library, f"{self.name}_identity")
        return int(function(*self.own, ctypes.byref(found))), found


def in_blob(what: Subject, options: Options, folder: Path, *flags: str) -> tuple[Loaded, bytes]:
    """A program without weights, and its blob."""
    program = built(what, options, folder, *flags)
    loaded = Loaded(**vars(program), streams=options.weights_in == "storage")
    return loaded, (folder / f"{what.name}.blob").read_bytes()


def with_weights(what: Subject, options: Options, folder: Path) -> Loaded:
    """The same with its blob loaded."""
    program, content = in_blob(what, options, folder)
    assert program.load(content) == OK
    return program


def apart(options: Options, where: str = "blob") -> Options:
    """The same options, with the weights somewhere else."""
    return replace(options, weights_in=where)  # type: ignore[arg-type]


Change = Callable[[bytearray], object]
