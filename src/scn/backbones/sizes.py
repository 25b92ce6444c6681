"""What every backbone checks about the sizes that it is given."""

from __future__ import annotations

from collections.abc import Sequence

from scn.core.errors import ScnError


def check_counts(**counts: int) -> None:
    """Each count must be at least 1; the error names the first that is not."""
    for name, count in counts.items():
        if count < 1:
            raise ScnError(f"{name} must be at least 1, but is {count}")


def checked_shape(shape: Sequence[int], axes: Sequence[str]) -> list[int]:
    """The shape of one input as a list, with a size for each of the named axes."""
    sizes = list(shape)
    if len(sizes) != len(axes) or min(sizes) < 1:
        raise ScnError(f"shape must be ({', '.join(axes)}), each at least 1, but is {tuple(sizes)}")
    return sizes


def image_shape(shape: Sequence[int]) -> list[int]:
    """The shape of an image: channels, height, width."""
    return checked_shape(shape, ("channels", "height", "width"))
