"""The order of weights in memory, and how tables of numbers are written in C.

Rows of a matrix are stored four at a time, column by column: a kernel loads one input and meets the weights
of four rows side by side. What is left of the rows follows as a pair and a single row, so nothing is padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

BLOCK = 4
EVEN_FIRST = (0, 2, 1, 3)  # columns in a word
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
    return _by_blocks(weight, groups, _in_words)


def _in_words(block: Tensor) -> Tensor:
    fours = block.shape[2] // BLOCK * BLOCK
    words = _words(block[:, :, :fours], EVEN_FIRST)
    return torch.cat([words.transpose(1, 2).flatten(1), block[:, :, fours:].mT.flatten(1)], dim=1)


def _words(block: Tensor, order: Sequence[int]) -> Tensor:
    """(M, rows, columns) -> (M, rows, words, 4)."""
    return block.unflatten(2, (-1, BLOCK))[..., order]


def side_by_side(weight: Tensor, groups: int, *, words: bool) -> Tensor:
    """(D, rows, columns) of 8 bits -> (D * rows * columns): the base models side by side.

    In a block of four rows that begins where a word does, each row has its words of four columns in a row:
    of base models two by two, the first two weights of one and of the other, then the last two of both, and
    an odd one behind them. A core that makes pairs of 16 bits out of a word takes the same weight of two base
    models at once. Everything else is weight by weight, of all base models, in the order of what is mixed:
    that of `packed_words` where that is `words`, else that of `packed`.
    """
    parts, at = [], 0
    for group in weight.chunk(groups, dim=1):
        for row, size in blocks(group.shape[1]):
            block = group[:, row : row + size]
            fours = block.shape[2] // BLOCK * BLOCK if size == BLOCK and at % WORD == 0 else 0
            if fours:
                parts.append(_two_by_two(_words(block[:, :, :fours], EVEN_FIRST if words else range(BLOCK))))
            rest = block[:, :, fours:]
            parts.append((_in_words(rest) if words else rest.mT.flatten(1)).mT.flatten())
            at += size * block.shape[2]
    return torch.cat(parts)


def _two_by_two(words: Tensor) -> Tensor:
    """(D, rows, words, 4) -> row by row and word by word, base models two by two."""
    by_rows = words.permute(1, 2, 0, 3)
    even = len(words) // 2 * 2
    halves = by_rows[:, :, :even].unflatten(3, (2, 2)).unflatten(2, (-1, 2))  # pair, of it, half, weight
    return torch.cat([halves.transpose(3, 4).flatten(2), by_rows[:, :, even:].flatten(2)], dim=2).flatten()


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
