"""How every picture looks: colours that all people can tell apart, and type that is read at column width.

The palette is that of Okabe and Ito. Baselines may have colours of their own; SCNs are blue, darker with D,
and where there are several maps or subspaces, each has a hue and a dash.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scn import methods
from scn.runs.labels import Key
from scn.transforms import Parameter, Transform

COLUMN = 3.5  # inches, the width of a column of a paper
DPI = 300
ROUNDING = 1e-6  # of a range: differences that single precision makes
MOST_LETTERS = 60  # of a line of the title in a column
LEGEND_LETTERS, HANDLE_LETTERS = 74, 6  # of a line of a legend in a column, and what a handle takes of them
LEGEND_ROWS, LEGEND_ROW = 3, 0.12  # rows that a figure has room for, and inches for each more

VERMILION, GREEN, BLUE, PURPLE = "#d55e00", "#009e73", "#0072b2", "#cc79a7"
GREY = "#444444"
BLUES = ("#56b4e9", "#2f8fd0", BLUE, "#08519c", "#08306b")
PURPLES = ("#e0a9c9", PURPLE, "#a13d84", "#76245f", "#4a1040")
AMBERS = ("#f0c75e", "#e69f00", "#b87d00", "#8a5c00", "#5c3d00")
TEALS = ("#8fd3d1", "#4fb3b5", "#1f8a8f", "#0f6468", "#074144")
HUES = (BLUES, PURPLES, AMBERS, TEALS)  # of variants of what mixes
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (4, 1.2, 1, 1.2)))
# Of further methods: the palette's own, and then of Tol's muted scheme, which all people can tell apart too.
SPARE = (
    PURPLE, "#e69f00", "#000000", "#999933", "#882255", "#44aa99", "#661100", "#117733", "#888888", "#ddcc77",
    "#cc6677", "#332288", "#4d4d00",
)  # fmt: skip
BASES = (BLUE, VERMILION, GREEN, PURPLE, "#e69f00", "#56b4e9", "#000000", "#f0e442")  # of base models
HEAT = "cividis"  # from dark to light for everybody
SIGNED = "PuOr"  # two sides of zero


SETTINGS: dict[Any, Any] = {
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6,
    "ytick.labelsize": 6,
    "legend.fontsize": 6,
    "figure.titlesize": 7,
    "lines.linewidth": 1.0,
    "lines.markersize": 3,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "svg.hashsalt": "scn",  # the same picture is the same file
    "pdf.fonttype": 42,
}


@contextmanager
def column_style() -> Iterator[None]:
    """What is drawn or written inside is sized for a column."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


def new_figure(height: float, width: float = COLUMN) -> Any:
    """An empty figure that takes care of its own margins and is known to no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def entitle(figure: Any, text: str) -> None:
    """The title above everything, with lines that fit into the width of the figure."""
    across = round(MOST_LETTERS * figure.get_figwidth() / COLUMN)
    figure.suptitle("\n".join(textwrap.fill(line, across) for line in text.splitlines()))


def label(method: str, dims: int, more: str = "") -> str:
    """What a method is called in a table or legend."""
    name = methods.get(method).title or method.rpartition(":")[2]
    name = name.format(dims=dims)
    return f"{name}, {more}" if more else name


def colours(keys: Sequence[Key]) -> dict[Key, str]:
    """What mixes is blue, darker with D, and each further variant of it, such as another map, of another hue;
    each other method has one colour."""
    mixed = [key for key in keys if methods.get(key[0]).mixes]
    many = sorted({dims for _, dims, _ in mixed})
    numbered = variants(mixed)
    ends = 1 if len(set(numbered.values())) > 1 else 0  # the darkest of several hues look all alike
    found = {}
    for key, place in numbered.items():
        hue = HUES[place % len(HUES)]
        shades = _shades(hue[: len(hue) - ends], len(many))
        found[key] = shades[many.index(key[1])]
    plain = {key[0]: methods.get(key[0]).colour for key in keys if key not in found}
    without = [name for name, colour in plain.items() if not colour]
    spare = [colour for colour in SPARE if colour not in found.values()]
    plain |= zip(without, itertools.cycle(spare), strict=False)
    return {key: found.get(key) or plain[key[0]] for key in keys}


def dashes(keys: Sequence[Key]) -> dict[Key, Any]:
    """How the line of each is drawn: variants of what mixes by dashes too, and further ones of a method."""
    found: dict[Key, Any] = dict.fromkeys(keys, DASHES[0])
    for key, place in variants([key for key in keys if methods.get(key[0]).mixes]).items():
        found[key] = DASHES[(place + place // len(HUES)) % len(DASHES)]
    seen: dict[str, int] = {}
    for key in keys:
        if not methods.get(key[0]).mixes:
            place = seen.setdefault(key[0], -1) + 1
            seen[key[0]] = place
            found[key] = DASHES[place % len(DASHES)]
    return found


def variants(mixed: Sequence[Key]) -> dict[Key, int]:
    """The number of each one's variant: what is said of it beside its method and D."""
    said = list(dict.fromkeys((method, more) for method, _, more in mixed))
    return {key: said.index((key[0], key[2])) for key in mixed}


def _shades(hue: Sequence[str], count: int) -> list[str]:
    """So many shades of a hue from light to dark; one alone is the middle one."""
    if count == 1:
        return [hue[2]]
    if count <= len(hue):
        return [hue[round(i * (len(hue) - 1) / (count - 1))] for i in range(count)]
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    scale = LinearSegmentedColormap.from_list("shades", list(hue))
    return [to_hex(scale(i / (count - 1))) for i in range(count)]


def base_colours(dims: int) -> list[Any]:
    """One colour for each base model; beyond eight they are taken from a scale."""
    if dims <= len(BASES):
        return list(BASES[:dims])
    from matplotlib import colormaps

    return [colormaps["viridis"](i / (dims - 1)) for i in range(dims)]


def named(parameter: Parameter) -> str:
    """The label of an axis: the parameter with its unit."""
    return f"{parameter.name} ({parameter.unit})" if parameter.unit else parameter.name


def said(parameter: Parameter, value: float) -> str:
    """A value as a caption says it."""
    unit = {"degrees": "°"}.get(parameter.unit, f" {parameter.unit}" if parameter.unit else "")
    return f"{snapped(parameter, value):.3g}{unit}"


def snapped(parameter: Parameter, value: float) -> float:
    """0 for a value that is 0 but for rounding, such as the middle of a grid in single precision."""
    return 0.0 if abs(value) < ROUNDING * (parameter.high - parameter.low) else value


def in_words(transform: Transform, setting: Sequence[float]) -> str:
    """A setting as a caption says it: "angle 30°"."""
    pairs = zip(transform.parameters, setting, strict=True)
    return ", ".join(f"{parameter.name} {said(parameter, value)}" for parameter, value in pairs)


def legend_below(figure: Any, axes: Any, most: int = 4) -> None:
    """One legend for the whole figure, under its axes, where it covers nothing.

    It has as many columns as its texts have room for, and the figure grows by what many rows of them take.
    """
    handles, texts = axes.get_legend_handles_labels()
    room = LEGEND_LETTERS * figure.get_figwidth() / COLUMN
    fitting = int(room // (max(map(len, texts), default=1) + HANDLE_LETTERS))
    columns = max(1, min(most, fitting, len(texts)))
    rows = -(-len(texts) // columns)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * max(0, rows - LEGEND_ROWS))
    figure.legend(handles, texts, loc="outside lower center", ncols=columns)
