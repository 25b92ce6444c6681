"""The processes that train one network together, each on its share of every batch.

`torchrun` starts them and tells each by environment variables which one it is. All of them hold the same
network and draw the same batches; what differs between them is the share that they take, and that the first
alone writes.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

import torch
import torch.distributed as dist
from torch import Tensor

from scn.core.errors import ScnError
from scn.training.recipe import Recipe


@dataclass(frozen=True)
class Processes:
    """This process among `count` of them; on its own computer it has the number `local`."""

    rank: int = 0
    count: int = 1
    local: int = 0

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    @contextmanager
    def joined(self, device: torch.device) -> Iterator[None]:
        """All processes can hear each other, for as long as the block lasts; or longer if they did before."""
        if self.count == 1 or dist.is_initialized():
            yield
            return
        if device.type == "cuda":
            torch.cuda.set_device(device)
        dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
        try:
            yield
        finally:
            # A network that waits to be collected keeps gloo's threads: they abort a process that ends first.
            gc.collect()
            dist.destroy_process_group()

    @contextmanager
    def first(self) -> Iterator[None]:
        """The first process goes through the block before the others do.

        Where it does not come out, it has said why, and the others end without a word.
        """
        if not self.is_first:
            try:
                self.largest(0)
            except RuntimeError:  # nobody is there any more
                sys.exit(1)
        yield
        if self.is_first:
            self.largest(0)

    def require(self, recipe: Recipe, measured: bool) -> None:
        """Refuse what cannot be divided; `measured` says whether every sample has its own setting."""
        size, settings = recipe.batch_size, recipe.settings_per_batch(measured)
        if size % self.count:
            raise ScnError(
                f"a batch of {size} samples cannot be divided among {self.count} processes: start a number "
                f"of them that divides {size}"
            )
        if settings % self.count and self.count % settings:
            raise ScnError(
                f"a batch under {settings} settings cannot be divided among {self.count} processes: start a "
                f"number of them that divides {settings}, or let a new run have other `alphas_per_batch`"
            )
        if recipe.compiled and self.count > 1:
            raise ScnError("a compiled step is for one process: train with `compiled=False`")

    def say(self, text: str, stream: TextIO | None = None) -> None:
        """Print a line once; by default to standard output."""
        if self.is_first:
            print(text, file=stream)

    def share(self, rows: Tensor, each: int) -> Tensor:
        """What this process takes of batches of `each` rows that stand one after the other.

        Where there are more processes than rows, several take the same one.
        """
        start, size = self.rank * each // self.count, max(1, each // self.count)
        return rows.unflatten(0, (-1, each))[:, start : start + size].flatten(0, 1)

    def largest(self, *numbers: int) -> list[int]:
        """Of each number the largest that any process has."""
        if self.count == 1:
            return [*numbers]
        said = torch.tensor(numbers)
        dist.all_reduce(said, dist.ReduceOp.MAX)
        return said.tolist()

    def means(self, parts: dict[str, Tensor]) -> dict[str, Tensor]:
        """Of each part the mean over all processes."""
        if self.count == 1 or not parts:
            return parts
        values = torch.stack([*parts.values()])
        dist.all_reduce(values)
        return dict(zip(parts, (values / self.count).unbind(), strict=True))


ALONE = Processes()


def launched() -> Processes:
    """What `torchrun` says; alone without it."""
    if not by_torchrun():
        return ALONE
    return Processes(*(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))


def by_torchrun() -> bool:
    return dist.is_available() and dist.is_torchelastic_launched()
