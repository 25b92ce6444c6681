"""The figure `size`, and the costs that it and the report show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import run
from figure_runs import make_all
from scn.core.errors import ScnError
from scn.objectives.classification import ACCURACY
from scn.objectives.regression import MAE
from scn.plots import size
from scn.plots.figures import make
from scn.plots.options import FigureOptions
from scn.report.content import report
from scn.runs.collection import LoadedRun, load
from scn.runs.cost import cost_of


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.getbasetemp())


def of(loaded: list[LoadedRun], name: str) -> LoadedRun:
    return next(one for one in loaded if one.folder.name == name)


def test_a_cost_counts_what_is_stored_configured_read_and_computed(drawn: dict[str, Path]) -> None:
    loaded = load([drawn["maps"], drawn["rotation"] / "one4all"])
    plain, nodes = cost_of(of(loaded, "one4all")), cost_of(of(loaded, "scn-d3-nodes"))
    pixels, width, classes = 1024, 4, 10
    weights = pixels * width + width + width * classes + classes
    assert (plain.stored, plain.configured, plain.read) == (weights, 0, 0)
    assert plain.operations == pixels * width + width * classes
    assert (nodes.stored, nodes.configured, nodes.read) == (3 * weights, weights, 2)
    assert nodes.operations == plain.operations
    assert cost_of(of(loaded, "scn-d5-experts")).read == 1
    assert cost_of(of(loaded, "scn-d5-fourier")).read == 5
    factored, narrow = cost_of(of(loaded, "scn-factored.2")), 2 * width + width + width * classes + classes
    assert (factored.stored, factored.configured) == (2 * pixels + 3 * narrow, narrow)
    assert factored.operations == 2 * pixels + 2 * width + width * classes
    assert (factored.stored_bytes, factored.theta_bytes) == (4 * factored.stored, 4 * narrow)


@pytest.mark.parametrize(
    ("sizes", "values", "best"),
    [
        ([1, 2, 3], [0.5, 0.4, 0.6], [True, False, True]),
        ([2, 2, 2], [0.5, 0.7, 0.6], [False, True, False]),
        ([1, 2], [0.5, 0.5], [True, False]),
        ([1, 1], [0.5, 0.5], [True, True]),
        ([0], [0.1], [True]),
    ],
)
def test_the_best_of_a_size_is_beaten_by_nothing_as_small(
    sizes: list[int], values: list[float], best: list[bool]
) -> None:
    assert size.best_of_size(sizes, values, ACCURACY) == best


def test_the_best_has_the_lowest_value_where_lower_is_better() -> None:
    assert size.best_of_size([1, 2, 3], [0.5, 0.6, 0.4], MAE) == [True, False, True]
    assert size.best_of_size([2, 2, 2], [0.5, 0.7, 0.6], MAE) == [True, False, False]


def test_the_figure_size_has_a_line_for_each_variant_in_three_panels(drawn: dict[str, Path]) -> None:
    loaded = load([drawn["maps"], drawn["rotation"] / "one4all"])
    figure = make("size", loaded, FigureOptions())
    figure.draw_without_rendering()
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "stored bytes (float32)",
        "bytes of θ in RAM (float32)",
        "multiply-accumulates of a prediction",
    ]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "SCN, nodes, factored:2" in names
    assert {"One4All", size.BEST, "SCN, experts, full"} < set(names)
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    one4all = of(loaded, "one4all")
    assert list(lines["One4All"].get_xydata()[0]) == [0, pytest.approx(one4all.mean)]
    shown = {(line.get_color(), line.get_marker()) for name, line in lines.items() if name in names}
    assert len(shown) == len(names)


def test_one4all_of_growing_width_is_one_line(drawn: dict[str, Path]) -> None:
    loaded = [one for one in load([drawn["sizes"]]) if not one.mixes]
    (stored, *_) = make("size", loaded, FigureOptions()).axes
    (line, *_) = stored.lines
    costs = sorted(cost_of(one).stored_bytes for one in loaded)
    assert (line.get_label(), list(line.get_xdata())) == ("One4All", costs)
    assert {text.get_text() for text in stored.texts} == {"2 x 1", "8 x 1", "4 x 2"}


def test_networks_for_one_setting_each_have_no_size(drawn: dict[str, Path]) -> None:
    with pytest.raises(ScnError, match="compares networks for all settings"):
        make("size", load([drawn["rotation"] / "one4one-36"]), FigureOptions())


def test_the_command_writes_it(drawn: dict[str, Path], tmp_path: Path) -> None:
    result = run("plot", str(drawn["maps"]), "--figure", "size", "-o", str(tmp_path / "size.svg"))
    assert result.code == 0, result.err
    assert "</svg>" in (tmp_path / "size.svg").read_text()


def test_the_report_says_map_subspace_theta_and_what_is_read(drawn: dict[str, Path]) -> None:
    content: dict[str, Any] = report(load([drawn["maps"], drawn["rotation"] / "one4all"]))
    rows = {row["label"]: row for row in content["rows"]}
    factored, plain = rows["SCN D=3, nodes, factored:2"], rows["One4All"]
    assert (factored["map"], factored["subspace"], factored["read"]) == ("nodes", "factored:2", 2)
    assert factored["sizes"]["theta"] == 4 * factored["configured"]
    assert factored["sizes"]["stored"] == 4 * factored["parameters"]
    assert "map" not in plain
    assert (plain["read"], plain["sizes"]["theta"]) == (0, 0)
