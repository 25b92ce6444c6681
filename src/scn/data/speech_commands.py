"""Google Speech Commands (P. Warden, 2018): spoken words, one second at 16 kHz.

Which clip is for validation and which for testing is said by two lists in the archive, so that no
speaker is in two splits. Recordings of background noise are no words and are left out.
"""

from __future__ import annotations

import io
import wave
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.data.archives import Entry, entries
from scn.data.dataset import Arrays
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

RATE = 16_000
LISTS = {"validation_list.txt": "val", "testing_list.txt": "test"}
SPLITS = ("train", "val", "test")


def read(versions: tuple[str, ...], request: Request) -> Arrays | None:
    """The archive, or its folder, of one of these versions: clips (N, 16000) int16.

    The classes are the words asked for, in that order, or all words of the archive, sorted.
    """
    names = [f"speech_commands_v{version}{ending}" for version in versions for ending in (".tar.gz", "")]
    path = request.find(*names)
    if path is None:
        return None
    words, splits = _contents(path, request)
    rows = {split: sorted(_in_order(clips, words)) for split, clips in splits.items()}
    arrays: Arrays = {}
    for split in SPLITS:
        arrays[f"x_{split}"] = np.zeros((len(rows[split]), RATE), np.int16)
        arrays[f"y_{split}"] = np.array([number for number, _ in rows[split]], np.uint8)
    _fill(arrays, path, request, rows)
    arrays["classes"] = np.array(words)
    arrays["sample_rate"] = np.array(RATE)
    arrays["provenance"] = np.array(
        f"Speech Commands, P. Warden 2018, {path.name}, clips cut or padded to 1 s; CC BY 4.0"
    )
    return arrays


def _in_order(clips: set[str], words: list[str]) -> list[tuple[int, str]]:
    return [(words.index(clip.split("/")[0]), clip) for clip in clips]


def _is_clip(entry: Entry) -> bool:
    return entry.file.endswith(".wav") and len(entry.parts) >= 2 and not entry.parts[-2].startswith("_")


def _clip(entry: Entry) -> str:
    """WORD/FILE.wav, as the lists name it."""
    return "/".join(entry.parts[-2:])


def _contents(path: Path, request: Request) -> tuple[list[str], dict[str, set[str]]]:
    """The words, and the clips of each split: the lists may come after the clips they sort."""
    split_of: dict[str, str] = {}
    clips = set()
    seen = set()
    for entry in request.watch(entries(path), "list clips"):
        if entry.file in LISTS:
            seen.add(entry.file)
            split_of |= dict.fromkeys(entry.read().decode().split(), LISTS[entry.file])
        elif _is_clip(entry):
            clips.add(_clip(entry))
    if seen != LISTS.keys() or not clips:
        raise ScnError(f"{path} lacks its clips or one of {', '.join(LISTS)}")
    known = sorted({clip.split("/")[0] for clip in clips})
    words = list(request.classes or known)
    for word in words:
        if word not in known:
            raise ScnError(f"{path} has no word {nearest(word, known)}")
    splits: dict[str, set[str]] = defaultdict(set)
    for clip in clips:
        if clip.split("/")[0] in words:
            splits[split_of.get(clip, "train")].add(clip)
    return words, {split: splits[split] for split in SPLITS}


def _fill(arrays: Arrays, path: Path, request: Request, rows: dict[str, list[tuple[int, str]]]) -> None:
    place = {clip: (split, row) for split in SPLITS for row, (_, clip) in enumerate(rows[split])}
    wanted = (entry for entry in entries(path) if _is_clip(entry) and _clip(entry) in place)
    for entry in request.watch(wanted, "read clips", len(place)):
        split, row = place[_clip(entry)]
        samples = read_wav(entry.read(), entry.name)[:RATE]
        arrays[f"x_{split}"][row, : len(samples)] = samples


def read_wav(raw: bytes, name: str) -> np.ndarray[Any, Any]:
    """(T,) int16 samples of a mono recording at 16 kHz."""
    try:
        with wave.open(io.BytesIO(raw)) as clip:
            form = (clip.getnchannels(), clip.getsampwidth(), clip.getframerate())
            data = clip.readframes(clip.getnframes())
    except (wave.Error, EOFError) as error:
        raise ScnError(f"{name} is not a WAV file: {error}") from error
    if form != (1, 2, RATE):
        raise ScnError(
            f"{name} should be mono, 16 bits, {RATE} Hz, but has {form[0]} channel(s), {8 * form[1]} bits, "
            f"{form[2]} Hz"
        )
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2")


def _row(name: str, version: str, also: tuple[str, ...], clips: str, size: int, sha256: str) -> None:
    folder = "https://storage.googleapis.com/download.tensorflow.org/data"
    register(
        Source(
            name=name,
            description=f"{clips} words spoken in one second, 16 kHz, version {version}",
            licence="CC BY 4.0",
            read=partial(read, (version, *also)),
            files=(Remote(f"{folder}/speech_commands_v{version}.tar.gz", size, f"sha256:{sha256}"),),
            folders=(f"speech_commands_v{version}",),
        )
    )


_row(
    "speech-commands",
    "0.02",
    ("0.01",),
    "105,829",
    2_428_923_189,
    "af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
)
_row(
    "speech-commands-v0.01",
    "0.01",
    (),
    "64,721",
    1_489_096_277,
    "743935421bb51cccdb6bdd152e04c5c70274e935c82119ad7faeec31780d811d",
)
