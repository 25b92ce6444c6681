"""What figures show: compared with stored descriptions, and with what the runs themselves say."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from figure_runs import describe, make_all, table
from scn import methods, runs, transforms
from scn.core.errors import ScnError
from scn.objectives.classification import ACCURACY
from scn.plots import animation, beta, device, style, theta
from scn.plots.figures import make
from scn.plots.options import FigureOptions
from scn.runs.collection import LoadedRun, load
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import Scores

STORED = Path(__file__).parent / "figures.json"
EVERY = ("samples", "scores", "specialisation", "violin", "beta", "size", "training", "theta")
KINDS = ("rotation", "scaling", "translation", "rotation-3d", "light", "speed")


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.getbasetemp())


def figure_of(name: str, *folders: Path, **options: Any) -> Any:
    return make(name, load(folders), FigureOptions(samples=20, **options))


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.lines}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVERY)
def test_a_figure_holds_what_its_stored_description_says(
    name: str, kind: str, drawn: dict[str, Path]
) -> None:
    """SCN_WRITE_FIGURES=1 stores the descriptions anew: read the difference before you keep it."""
    figure = figure_of(name, drawn[kind])
    figure.draw_without_rendering()  # no warning of overfull layouts
    found = json.loads(json.dumps(describe(figure)))
    stored = json.loads(STORED.read_text()) if STORED.is_file() else {}
    if os.environ.get("SCN_WRITE_FIGURES"):
        stored[f"{name} {kind}"] = found
        entries = (
            f"{json.dumps(key)}: {json.dumps(stored[key], ensure_ascii=False)}" for key in sorted(stored)
        )
        STORED.write_text("{\n" + ",\n".join(entries) + "\n}\n")
        return
    assert found == stored[f"{name} {kind}"]


def test_samples_are_shown_before_after_and_after_undoing(drawn: dict[str, Path]) -> None:
    one = load([drawn["rotation"] / "scn-d2"])[0]
    axes = figure_of("samples", one.folder).axes
    assert [axes[row].get_ylabel() for row in (0, 6, 12)] == ["before", "after", "undone"]
    assert [axes[column].get_title() for column in range(6, 12)] == [
        "0°",
        "60°",
        "120°",
        "180°",
        "240°",
        "300°",
    ]
    before, after, undone = (
        torch.stack([torch.tensor(axes[row + column].images[0].get_array()) for column in range(6)])
        for row in (0, 6, 12)
    )
    angles = torch.arange(6).view(-1, 1) * 60.0
    expected = one.transform.apply(before.unsqueeze(1), angles)
    torch.testing.assert_close(after, expected[:, 0])
    torch.testing.assert_close(undone, one.transform.invert(expected, angles)[:, 0].clamp(0, 1))


def test_accuracy_curves_go_through_the_values_of_the_runs(drawn: dict[str, Path]) -> None:
    folder = drawn["rotation"]
    (axes,) = figure_of("scores", folder).axes
    shown = lines(axes)
    params, mean = table(folder / "scn-d1-seed0")
    np.testing.assert_allclose(shown["SCN D=1"].get_xdata(), [*params[:, 0].deg2rad(), 0.0])
    np.testing.assert_allclose(shown["SCN D=1"].get_ydata(), [*mean, mean[0]], atol=1e-6)
    seeds = torch.stack([table(folder / name)[1] for name in ("scn-d2", "scn-d2-seed1")])
    np.testing.assert_allclose(shown["SCN D=2"].get_ydata()[:-1], seeds.mean(0), atol=1e-6)
    band = axes.collections[0].get_paths()[0].vertices
    assert set(np.round(seeds.flatten().numpy(), 6)) <= set(np.round(band[:, 1], 6))
    points = [table(folder / f"one4one-{angle}")[1].item() for angle in (108, 36)]
    assert sorted(shown["One4One"].get_ydata()) == pytest.approx(sorted(points))
    assert shown["One4One"].get_linestyle() == "None"


def test_a_heat_map_has_the_first_parameter_across(drawn: dict[str, Path]) -> None:
    folder = drawn["translation"]
    axes = figure_of("scores", folder).axes[0]
    params, accuracy = table(folder / "scn-d2")
    shown = axes.collections[0].get_array()
    for (right, down), value in zip(params.tolist(), accuracy, strict=True):
        assert shown[[-8, 0, 8].index(down), [-8, 0, 8].index(right)] == pytest.approx(value.item())


def test_three_angles_are_shown_one_by_one_as_means_over_the_others(drawn: dict[str, Path]) -> None:
    folder = drawn["rotation-3d"]
    figure = figure_of("scores", folder)
    params, accuracy = table(folder / "scn-d2")
    for place, axes in enumerate(figure.axes):
        means = [accuracy[params[:, place] == value].mean().item() for value in (-180.0, 0.0)]
        assert lines(axes)["SCN D=2"].get_ydata()[:2] == pytest.approx(means)
        assert (axes.get_thetamin(), axes.get_thetamax()) == (0, 360)


def test_violins_hold_all_settings_and_their_mean(drawn: dict[str, Path]) -> None:
    folder = drawn["rotation"]
    (axes,) = figure_of("violin", folder).axes
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks == ["SCN D=1", "SCN D=2", "SCN D=9", "Inverse", "One4All", "One4One"]
    seeds = torch.cat([table(folder / name)[1] for name in ("scn-d2", "scn-d2-seed1")])
    means = [line for line in axes.lines if line.get_marker() == "o"]
    assert means[1].get_ydata()[0] == pytest.approx(seeds.mean().item(), abs=1e-6)
    assert axes.texts[1].get_text() == f"{seeds.mean():.3f}"
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]  # that of 2 seeds: 16 values
    assert (heights.min(), heights.max()) == pytest.approx((seeds.min().item(), seeds.max().item()))


def test_violins_show_a_searching_network_beside_one_that_is_told(
    drawn: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.symlink_to(drawn["rotation"] / "scn-d2")
    one = load([folder])[0]
    accuracy = table(folder)[1]
    names = ["scores-invariant-grid-4.csv", "evaluation-invariant-grid-4.json", "search-grid.json"]
    try:
        (folder / names[0]).write_text((folder / "scores.csv").read_text())
        (folder / names[1]).write_text((folder / "evaluation.json").read_text())
        rows = [{"batch_size": 4, "accuracy": 0.0}, {"batch_size": 1, "accuracy": 0.25}]
        (folder / names[2]).write_text(json.dumps({"method": "grid", "rows": rows}))
        (axes,) = make("violin", [one]).axes
    finally:
        for name in names:
            (folder / name).unlink()
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "SCN D=2", "I-SCN D=2, batch 1", "I-SCN D=2, batch 4",
    ]  # fmt: skip
    assert [float(text.get_text()) for text in axes.texts] == pytest.approx(
        [accuracy.mean().item(), 0.25, accuracy.mean().item()], abs=6e-4
    )


def test_settings_have_a_line_each_over_all_networks(drawn: dict[str, Path]) -> None:
    names = ("scn-d1-seed0", "scn-d9-seed0", "one4all", "one4one-36")
    loaded = load([drawn["rotation"] / name for name in names])
    (axes,) = make("settings", loaded).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "SCN D=1",
        "SCN D=9",
        "One4All",
        "One4One",
    ]
    across = [line for line in axes.lines if len(line.get_xdata()) == 4]
    assert len(across) == 8 + 1  # the settings of the test, and the one that a network is for
    assert across[0].get_ydata()[:3].tolist() == pytest.approx([one.values[0] for one in loaded[:3]])
    assert math.isnan(across[0].get_ydata()[3])


def test_settings_need_more_than_one(drawn: dict[str, Path]) -> None:
    with pytest.raises(ScnError, match="tested under several"):
        figure_of("settings", drawn["rotation"] / "one4one-36")


def test_specialisation_is_that_of_one_frozen_network(drawn: dict[str, Path]) -> None:
    run = drawn["scaling"] / "scn-d2"
    opened = runs.read(run)
    (axes,) = figure_of("specialisation", run, fixed=torch.tensor([0.5])).axes
    curve = lines(axes)["SCN D=2"]
    params = torch.tensor(curve.get_xdata()).float().view(-1, 1)
    expected = evaluate_run(opened, opened.network(), params, fixed=torch.tensor([0.5]), samples=20)
    np.testing.assert_allclose(curve.get_ydata(), expected.values)
    assert axes.lines[-1].get_xdata()[0] == 0.5


def test_specialisation_reads_what_was_evaluated(drawn: dict[str, Path]) -> None:
    run = drawn["scaling"] / "scn-d2"
    for kind in ("scores", "evaluation"):
        suffix = "csv" if kind == "scores" else "json"
        (run / f"{kind}-fixed-2.{suffix}").write_text((run / f"{kind}.{suffix}").read_text())
    (axes,) = figure_of("specialisation", run, fixed=torch.tensor([2.0])).axes
    np.testing.assert_allclose(lines(axes)["SCN D=2"].get_ydata(), table(run)[1])


def test_beta_goes_around_a_cylinder_for_an_angle(drawn: dict[str, Path]) -> None:
    figure = figure_of("beta", drawn["rotation"])
    one = load([drawn["rotation"] / "scn-d2"])[0]
    (axes,) = (axes for axes in figure.axes if axes.get_title() == "SCN D=2")
    x, y, height = (np.asarray(values) for values in lines(axes)["β2"].get_data_3d())
    angle = np.rad2deg(np.arctan2(y, x)) % 360
    expected = beta.betas(one, torch.from_numpy(angle).float().view(-1, 1))[:, 1]
    np.testing.assert_allclose(height, expected, atol=1e-4)
    np.testing.assert_allclose(x**2 + y**2, 1, atol=1e-5)


def test_beta_of_more_panels_than_fill_their_rows_is_laid_out(drawn: dict[str, Path]) -> None:
    (one,) = load([drawn["rotation"] / "scn-d2"])
    several = [replace(one, more=str(number)) for number in range(beta.ACROSS + 1)]
    figure = beta.draw(several, FigureOptions())
    figure.draw_without_rendering()
    assert len(figure.axes) == len(several)


def test_beta_is_a_curve_over_one_other_parameter(drawn: dict[str, Path]) -> None:
    (axes,) = figure_of("beta", drawn["light"]).axes
    one = load([drawn["light"] / "scn-d2"])[0]
    for base in (0, 1):
        curve = lines(axes)[f"β{base + 1}"]
        expected = beta.betas(one, torch.as_tensor(np.asarray(curve.get_xdata())).float().view(-1, 1))[
            :, base
        ]
        np.testing.assert_allclose(curve.get_ydata(), expected, atol=1e-6)
    assert axes.get_xlabel() == "light (counts)"


def test_beta_spans_surfaces_over_two_parameters_and_slices_of_three(drawn: dict[str, Path]) -> None:
    for kind, pairs in (("translation", [(0, 1)]), ("rotation-3d", [(0, 1), (0, 2), (1, 2)])):
        one = load([drawn[kind] / "scn-d2"])[0]
        figure = figure_of("beta", one.folder)
        for axes, pair in zip(figure.axes, pairs, strict=True):
            heights = beta.over_two(one, pair)
            (mesh,) = (area for area in axes.collections if type(area).__name__ == "Poly3DCollection")
            tiles = np.asarray(mesh._faces)[..., 2]
            assert len(tiles) == 2 * (beta.SURFACE_STEPS - 1) ** 2
            assert (tiles.min(), tiles.max()) == pytest.approx((heights.min().item(), heights.max().item()))
    ends = torch.tensor([[-180.0, 0.0, 180.0]])  # the last pair leaves out the first angle
    mixed = beta.betas(one, torch.cat([torch.tensor([[0.0, -180.0, 180.0]]), ends]))
    torch.testing.assert_close(beta.over_two(one, (1, 2))[:, 0, -1], mixed[0])


def test_capacity_has_a_point_for_each_size(drawn: dict[str, Path]) -> None:
    figure = figure_of(
        "capacity", drawn["sizes"], drawn["rotation"] / "scn-d2", drawn["rotation"] / "one4all"
    )
    across, down = figure.axes
    assert (across.get_xlabel(), down.get_xlabel()) == ("width of the backbone", "depth of the backbone")
    assert (across.get_title(), down.get_title()) == ("depth 1", "width 4")
    curves = {c.get_label(): c.lines[0].get_data() for c in across.containers}
    assert set(curves) == {"SCN D=2", "One4All"}
    folders = [drawn["sizes"] / "scn-2-1", drawn["rotation"] / "scn-d2", drawn["sizes"] / "scn-8-1"]
    assert list(curves["SCN D=2"][0]) == [2, 4, 8]
    assert list(curves["SCN D=2"][1]) == pytest.approx(
        [table(run)[1].mean().item() for run in folders], abs=1e-6
    )


def test_training_shows_what_was_noted_each_epoch(drawn: dict[str, Path]) -> None:
    run = drawn["learned"] / "scn-d3-learned"
    noted = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    loss, accuracy, active, effective = figure_of("training", run).axes
    shown = {name.removeprefix("SCN D=3: "): line for name, line in lines(loss).items()}
    assert set(shown) == {"whole loss", "classification (part)", "separation (part)"}
    assert list(shown["whole loss"].get_ydata()) == pytest.approx([line["loss"] for line in noted])
    assert list(shown["separation (part)"].get_ydata()) == pytest.approx(
        [line["separation"] for line in noted]
    )
    assert list(lines(accuracy)["SCN D=3"].get_ydata()) == [line["validation_accuracy"] for line in noted]
    assert list(lines(active)["SCN D=3"].get_ydata()) == [line["active_bases"] for line in noted]
    assert list(lines(effective)["SCN D=3"].get_ydata()) == [line["effective_bases"] for line in noted]


def test_theta_shows_the_weights_of_the_configured_network(drawn: dict[str, Path]) -> None:
    for kind, angles in (("rotation", [0.0, 60.0]), ("speed", [0.1, 0.28])):
        one = load([drawn[kind] / "scn-d2"])[0]
        figure = figure_of("theta", one.folder)
        name, weights = theta.first_layer(one, theta.along_first(one, 6))
        chosen = theta.liveliest(weights, 4)
        for column, angle in enumerate(angles):
            plain = one.scn.configure(one.transform.encode(torch.tensor([angle])))
            expected = plain.get_parameter(name)[chosen[1]]
            axes = figure.axes[6 + column]  # the second row
            drawing = axes.images[0].get_array() if axes.images else axes.lines[-1].get_ydata()
            np.testing.assert_allclose(np.ravel(drawing), expected.detach().flatten(), atol=1e-6)


def test_device_bars_are_what_the_device_measured(drawn: dict[str, Path]) -> None:
    fast = {
        "target": "m4",
        "options": {"weights": "int8", "double_buffer": True},
        "flash": 9000,
        "ram": 1500,
        "accuracy": 0.5,
        "inputs": 1600,
        "instructions": {"hypernet": 700, "configure": 20_000, "infer": 10_000},
    }
    mute = {"target": "host", "options": {}, "flash": 8000, "ram": 1000, "instructions": None}
    several, alone = drawn["scaling"] / "scn-d2", drawn["scaling"] / "one4all"
    (several / "device.json").write_text(json.dumps({"rows": [fast]}))
    (alone / "device.json").write_text(json.dumps(mute))
    figure = figure_of("device", drawn["scaling"])
    assert figure.get_suptitle().endswith("on host, m4, 1,600 inputs")
    costs, accuracy, memory = figure.axes
    assert [bar.get_height() for bar in costs.patches] == [0.7, 20, 10]
    assert [text.get_text() for text in costs.texts] == ["0.7", "20", "10"]
    mean = table(alone)[1].mean().item()
    assert [bar.get_height() for bar in accuracy.patches] == pytest.approx([0.5, mean], abs=1e-6)
    assert [bar.get_height() for bar in memory.patches] == [9.0, 8.0, 1.5, 1.0]
    names = [text.get_text() for text in memory.get_xticklabels()]
    assert names[0].startswith("SCN D=2 m4 int8 double buffer")
    assert [name for name in device.PHASES if name in fast["instructions"]] == list(device.PHASES)  # type: ignore[operator]


@pytest.mark.parametrize("kind", KINDS)
def test_a_film_moves_accuracy_beta_and_weights_together(kind: str, drawn: dict[str, Path]) -> None:
    one = load([drawn[kind] / "scn-d2"])[0]
    made = animation.film([one], FigureOptions(samples=20), 6)
    corner, way, shares, weights = made.figure.axes
    made.update(4)
    mixed = one.scn.beta(one.transform.encode(made.params[4])).tolist()
    assert [bar.get_height() for bar in shares.patches] == pytest.approx(mixed, abs=1e-6)
    assert [float(values[0]) for values in way.lines[-1].get_data()] == pytest.approx(mixed, abs=1e-6)
    assert corner.lines[-1].get_ydata()[0] == pytest.approx(made.scores[4].item())
    shown = weights.images[0].get_array() if weights.images else weights.lines[0].get_ydata()
    made.update(1)
    after = weights.images[0].get_array() if weights.images else weights.lines[0].get_ydata()
    assert not np.allclose(shown, after)


def test_the_way_of_a_film_starts_and_ends_at_no_change() -> None:
    shift, turn = transforms.get("translation"), transforms.get("rotation-3d")
    assert animation.path(shift, 8)[:, 0].tolist() == [0, 8, 0, -8, 0, 0, 0, 0]
    assert animation.path(turn, 12)[:4].tolist() == [[0, 0, 0], [90, 0, 0], [-180, 0, 0], [-90, 0, 0]]


def test_colours_do_not_repeat() -> None:
    for mixed in (1, 2, 5, 8, 16):
        keys = [("scn", d, "") for d in range(1, mixed + 1)]
        keys += [(name, 1, "") for name in ("one4all", "inverse", "one4one")]
        assert len(set(style.colours(keys).values())) == len(keys)
    for dims in (1, 8, 9, 64):
        assert len(set(style.base_colours(dims))) == dims


def test_every_method_has_a_colour_of_its_own_beside_all_others() -> None:
    keys = [(name, 3, "") for name in methods.registry]
    assert len(set(style.colours(keys).values())) == len(keys)


def test_runs_that_differ_in_more_than_seed_are_told_apart(drawn: dict[str, Path]) -> None:
    loaded: list[LoadedRun] = load([drawn["sizes"]])
    assert {style.label(*one.key) for one in loaded if one.mixes} == {
        "SCN D=2, width 2, depth 1", "SCN D=2, width 8, depth 1", "SCN D=2, width 4, depth 2",
    }  # fmt: skip
    assert math.isclose(loaded[0].mean, loaded[0].table.values.mean().item(), abs_tol=1e-6)


def test_a_setting_with_few_samples_is_left_out() -> None:
    params, accuracy = torch.tensor([[10.0], [20.0], [30.0]]), torch.tensor([0.5, 1.0, 0.7])

    def kept(counts: list[int] | None) -> Scores:
        return Scores(
            params, accuracy, ACCURACY, counts=None if counts is None else torch.tensor(counts)
        ).with_enough()

    table = kept([40, 1, 10])
    assert table.params.flatten().tolist() == [10, 30]
    assert table.values.tolist() == accuracy[[0, 2]].tolist()
    assert len(kept([4, 1, 9]).params) == 3, "unless all have few"
    assert len(kept(None).params) == 3, "as many for each, where nothing is said"
