"""The order of weights in memory, and how tables of numbers are written in C.

Rows of a matrix are stored four at a time, column by column: a kernel loads one input and meets the weights
of four rows side by side. What is left of the rows follows as a pair and a single row, so nothing is padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

BLOCK = 4
WORD = 4  # bytes
PER_LINE = 8


def padded(size: int) -> int:
    """Bytes, rounded up to whole words."""
    return -(-size // WORD) * WORD


def blocks(rows: int) -> list[tuple[int, int]]:
    """(first row, how many) for blocks of 4, then 2, then 1."""
    found = [(row, BLOCK) for row in range(0, rows - rows % BLOCK, BLOCK)]
    row = rows - rows % BLOCK
    for size in (2, 1):
        if rows - row >= size:
            found.append((row, size))
            row += size
    return found


def packed(weight: Tensor, groups: int = 1) -> Tensor:
    """(M, rows, columns) -> (M, rows * columns), block by block; each group of rows by itself."""
    return _by_blocks(weight, groups, lambda block: block.mT.flatten(1))


def packed_words(weight: Tensor, groups: int = 1) -> Tensor:
    """The same for weights of 8 bits: four columns of a row side by side, in the order 0 2 1 3.

    A core that makes two pairs of 16 bits out of a word takes its even bytes first, then its odd ones.
    """

    def words(block: Tensor) -> Tensor:
        fours = block.shape[2] // BLOCK * BLOCK
        grouped = block[:, :, :fours].unflatten(2, (-1, BLOCK))[..., [0, 2, 1, 3]]
        return torch.cat([grouped.transpose(1, 2).flatten(1), block[:, :, fours:].mT.flatten(1)], dim=1)

    return _by_blocks(weight, groups, words)


def paired(weights: Tensor) -> Tensor:
    """(D, L) -> (D * L,): base models two by two, an odd one behind them; L is a multiple of 4.

    Of each four weights, the first two of one and of the other, then the last two of both: a core that makes
    pairs of 16 bits out of a word takes the same weight of two base models at once.
    """
    count = len(weights) // 2 * 2
    halves = weights[:count].unflatten(1, (-1, 2, 2)).unflatten(0, (-1, 2))  # pair, of it, four, half, weight
    return torch.cat([halves.permute(0, 2, 3, 1, 4).flatten(), weights[count:].flatten()])


def _by_blocks(weight: Tensor, groups: int, arrange: Callable[[Tensor], Tensor]) -> Tensor:
    parts = [
        arrange(group[:, row : row + size])
        for group in weight.chunk(groups, dim=1)
        for row, size in blocks(group.shape[1])
    ]
    return torch.cat(parts, dim=1)


def exact(value: float) -> str:
    """A float32 constant that reads back as the same number."""
    text = f"{np.float32(value):.9g}"
    return text + ("f" if any(c in text for c in ".en") else ".0f")


def floats(values: Tensor) -> Iterable[str]:
    return (exact(v) for v in values.detach().to(torch.float32).flatten().tolist())


def halves(values: Tensor) -> Iterable[str]:
    """float16 numbers by their bits."""
    return (f"0x{v & 0xFFFF:04x}" for v in values.half().view(torch.int16).flatten().tolist())


def whole(values: Tensor) -> Iterable[str]:
    return (str(int(v)) for v in values.flatten().tolist())


def array(kind: str, name: str, items: Iterable[str]) -> tuple[str, str]:
    """An array as it is declared, and its numbers."""
    listed = list(items)
    lines = [", ".join(listed[i : i + PER_LINE]) for i in range(0, len(listed), PER_LINE)]
    return f"{kind} {name}[{len(listed)}]", "{\n    " + ",\n    ".join(lines) + "\n}"


def quoted(text: str) -> str:
    """A string in C, byte by byte where it is not plain ASCII."""
    found = '"'
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        found += chr(byte) if plain else f"\\{byte:03o}"
    return found + '"'
