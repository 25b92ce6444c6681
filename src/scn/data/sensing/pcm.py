"""A microphone: samples of 16 bits, one channel of them, in a row or in a ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.data.sensing.words import LONGEST, length, parts_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Pcm:
    """PCM of 16 bits: `rate` samples a second, None where that of the data is meant.

    `stride`: how far samples of one channel are apart, 2 for stereo. `ring`: of a buffer that is written
    round and round, how many samples of each channel it holds; 0 where samples lie in a row.
    """

    rate: int | None = None
    stride: int = 1
    ring: int = 0

    @classmethod
    def said(cls, text: str) -> Pcm:
        """From `16000,stride=2,ring=32000`."""
        head, options = parts_of(text, ("stride", "ring"))
        return cls(
            length(head, "sample rate", LONGEST) if head else None,
            length(options.get("stride", "1"), "stride"),
            length(options["ring"], "ring", LONGEST) if "ring" in options else 0,
        )

    def wave(self, samples: Array, count: int, first: int = 0) -> Tensor:
        """int16 samples -> (1, count), as a sample of a data set is; `first`: the oldest one in a ring."""
        given = np.asarray(samples, np.int16).reshape(-1)[:: self.stride]
        places = first + np.arange(count)
        if self.ring:
            if not (0 <= first < self.ring and count <= self.ring):
                raise ScnError(f"a ring of {self.ring} samples has no {count} samples from place {first} on")
            places %= self.ring
        if places.max() >= len(given):
            raise ScnError(f"{count} samples were to be read, but {len(given)} were given")
        return torch.from_numpy(given[places][None])
