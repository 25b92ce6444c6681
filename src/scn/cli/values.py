"""Values that a person writes as text: numbers separated by commas."""

from __future__ import annotations

from scn.core.errors import ScnError


def numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ScnError(f"{option} takes numbers separated by commas, but got {text!r}") from None


def whole_numbers(option: str, text: str) -> list[int]:
    """Each at least 1."""
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise ScnError(f"{option} takes whole numbers separated by commas, but got {text!r}") from None
    if min(values) < 1:
        raise ScnError(f"{option} must be at least 1, but got {min(values)}")
    return values
