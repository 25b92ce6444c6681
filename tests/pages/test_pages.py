"""The pages in a real browser: they show what torch computes, alone and offline, and are easy to use."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from torch import Tensor

from commands import run
from needs import chromium
from scn import data, runs, transforms
from scn.backbones import MLP
from scn.core.network import SCN
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.explorer import grid
from scn.explorer.grid import Demand, PageGrid, candidates
from scn.pages.assemble import Arrays
from scn.report.content import report
from scn.report.repeat import commands as repeating
from scn.report.warnings import dead_bases, jumps
from scn.runs import Run, backbone_of
from scn.runs.collection import collect
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import write_scores
from scn.training.recipe import Recipe
from value_runs import make_runs

PACKAGE = Path(data.__file__).parent.parent
SCREENS = os.environ.get("SCN_SCREENS")  # a folder for pictures of the pages, for people to look at
SIZES: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}
IN_TURN = ("phone", "wide", "dark")
KINDS = {".js", ".css", ".html"}
DASH = "\N{EN DASH}"
COARSE = (36, 8)  # grids of the pages whose size does not matter
SHORT = Recipe(epochs=6, batch_size=64)


def trained(folder: Path, name: str, transform: str, method: str, recipe: Recipe, **more: Any) -> Run:
    """A small run that was really trained, and evaluated on a coarse grid."""
    created = runs.create(
        folder, plan_run(name, transform, "mlp", method, recipe, **{"sizes": {"width": 8}, **more})
    )
    net = train(created, backbone_of(created), device="cpu", prefetch=False)
    moved = created.transform()
    settings = moved.grid(9 if len(moved.parameters) < 3 else 2)
    result = evaluate_run(created, net, settings)
    write_scores(created.folder, result, moved)
    return created


@pytest.fixture(scope="session")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SCNs of two D and One4All, for digits at any angle."""
    folder = tmp_path_factory.mktemp("turned")
    for dims in (3, 5):
        trained(folder / f"scn-d{dims}", "digits", "rotation", "scn", SHORT, dims=dims)
    trained(folder / "one4all", "digits", "rotation", "one4all", SHORT)
    return folder


@pytest.fixture(scope="session")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shifted")
    trained(folder / "scn", "digits", "translation", "scn", SHORT, dims=3)
    return folder


def made(tmp_path: Path, **arrays: Any) -> str:
    """A data file of the user's own: 64 samples for training, 16 for the test, four classes."""
    path = tmp_path / "own.npz"
    labels = {"y_train": np.arange(64) % 4, "y_test": np.arange(16) % 4}
    everything: dict[str, Any] = {**labels, **arrays}
    np.savez(path, **everything)
    return str(path)


@pytest.fixture(scope="session")
def clouds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Boxes of four proportions as points, turned in space."""
    folder = tmp_path_factory.mktemp("clouds")
    draw = np.random.default_rng(0)
    points = draw.uniform(-1, 1, (80, 300, 3)) * (
        0.15 + 0.12 * (np.arange(80) % 4)[:, None, None] * [1, 0.2, 0.5]
    )
    whole = (points * 32767).astype(np.int16)
    own = made(folder, x_train=whole[:64], x_test=whole[64:])
    trained(folder / "scn", own, "rotation-3d", "scn", Recipe(epochs=2, batch_size=16), dims=2)
    return folder / "scn"


@contextmanager
def opened(browser: Any, file: Path, size: str = "wide") -> Iterator[Any]:
    """The page, once it is ready; any error or request of it fails the test."""
    context = browser.new_context(**SIZES[size])
    page = context.new_page()
    page.set_default_timeout(180_000)  # a machine may be busy
    troubles: list[str] = []
    page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda r: troubles.append(r.url) if r.url != file.as_uri() else None)
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    yield page
    if SCREENS is not None:
        page.screenshot(path=Path(SCREENS) / f"{file.stem}-{size}.png", full_page=True)
    context.close()
    assert not [t for t in troubles if not t.startswith("data:")]


@pytest.fixture(scope="module")
def shared(browser: Any, turned: Path) -> Iterator[Any]:
    """One explorer that several tests use, each from the beginning."""
    with opened(browser, explorer(turned, "explorer")) as page:
        yield page


@pytest.fixture
def dial(shared: Any) -> Any:
    """That explorer as it was when it opened."""
    shared.evaluate("() => { explorer.state.playing = false; }")
    shared.uncheck("#wrong")
    shared.select_option("#network", label="SCN D=5")
    shared.locator("#samples button").first.click()
    shared.select_option("#space-view", index=0)
    shared.focus("#controls .dial")
    shared.keyboard.press("Home")
    shared.evaluate("() => document.activeElement.blur()")
    settled(shared)
    return shared


@pytest.fixture(scope="module")
def shared_sliders(browser: Any, shifted: Path) -> Iterator[Any]:
    """One explorer with two parameters."""
    with opened(browser, explorer(shifted, "shift")) as page:
        yield page


@pytest.fixture
def sliders(shared_sliders: Any) -> Any:
    """That explorer as it was when it opened."""
    shared_sliders.evaluate("() => { explorer.state.playing = false; }")
    shared_sliders.select_option("#space-view", index=0)
    shared_sliders.evaluate(
        "() => explorer.change((state) => { state.at = finePlaces(state, state.start); })"
    )
    settled(shared_sliders)
    return shared_sliders


@pytest.fixture(scope="module")
def cloud(browser: Any, clouds: Path) -> Iterator[Any]:
    """One explorer of points in space."""
    with opened(browser, explorer(clouds, "cloud", "--samples", "2")) as page:
        yield page


def settled(page: Any) -> None:
    """Two frames later: what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


SHOWN = """() => ({
  place: explorer.state.at[0],
  value: document.querySelector('#controls output').textContent,
  beta: [...document.querySelectorAll('#beta [data-value]')].map(e => Number(e.dataset.value)),
  text: [...document.querySelectorAll('#beta [data-value]')].map(e => Number(e.textContent)),
  answers: [...document.querySelectorAll('.predictions tbody tr')].map(
    row => [...row.querySelectorAll('[data-value]')].map(e => Number(e.textContent))),
  sample: explorer.state.samples[explorer.state.sample].index,
  pixels: (() => { const c = document.getElementById('sample');
    const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
    return [...data].filter((_, i) => i % 4 === 0); })(),
})"""


def shown(page: Any) -> dict[str, Any]:
    settled(page)
    found: dict[str, Any] = page.evaluate(SHOWN)
    return found


def explorer(folder: Path, name: str, *more: str) -> Path:
    """The explorer of a folder, made once by the command; only "explorer" itself as fine as for a user."""
    file = folder / f"{name}.html"
    if not file.exists():
        intervals = {"explorer": grid.INTERVALS, "cloud": (4,)}.get(name, COARSE)
        with mock.patch.object(grid, "INTERVALS", intervals):
            result = run("explore", str(folder), "-o", str(file), "--quiet", *more)
        assert result.code == 0, result.err
    return file


def probabilities(of: Run, x: Tensor, input_setting: Tensor, told: Tensor) -> list[float]:
    """What torch answers to a sample under one setting, configured for another."""
    method, net = of.method(), of.network()
    plain = method.configured(net, told).eval()
    with torch.no_grad():
        seen = method.inputs(x, input_setting, of.normalisation(), told)
        return plain(seen).softmax(dim=1)[0].tolist()


def turn_to(page: Any, degrees: float) -> None:
    """Click on the dial where this angle is: counter-clockwise from the top."""
    box = page.locator("#controls .dial").bounding_box()
    angle = np.deg2rad(degrees)
    radius = 0.4 * box["width"]
    page.mouse.click(
        box["x"] + box["width"] / 2 - radius * np.sin(angle),
        box["y"] + box["height"] / 2 - radius * np.cos(angle),
    )


def test_the_dial_shows_what_torch_computes(dial: Any, turned: Path) -> None:
    scn, rigid = runs.read(turned / "scn-d5"), runs.read(turned / "one4all")
    net, rotation = scn.network(), scn.transform()
    assert isinstance(net, SCN)
    images, _ = data.load("digits").split("test")
    seen = set()
    for degrees in (0, 50, 128, 200, 310):
        turn_to(dial, degrees)
        now = shown(dial)
        setting = torch.tensor([float(now["value"].rstrip("°"))])
        assert setting.item() == pytest.approx(degrees, abs=2)
        seen.add(setting.item())
        x = data.to_float(images[now["sample"]]).unsqueeze(0)
        beta = net.beta(rotation.encode(setting)).tolist()
        assert now["beta"] == pytest.approx(beta, abs=1e-6)
        assert now["text"] == pytest.approx(beta, abs=1e-3)
        ours, theirs, frozen = zip(*now["answers"], strict=True)
        assert list(ours) == pytest.approx(probabilities(scn, x, setting, setting), abs=1e-3)
        assert list(theirs) == pytest.approx(probabilities(rigid, x, setting, setting), abs=1e-3)
        assert list(frozen) == pytest.approx(probabilities(scn, x, setting, torch.zeros(1)), abs=1e-3)
        pixels = (rotation.apply(x, setting).clamp(0, 1) * 255).round()
        assert now["pixels"] == pixels.flatten().tolist()
    assert len(seen) == 5


def test_weights_are_those_of_the_configured_network(dial: Any, turned: Path) -> None:
    scn = runs.read(turned / "scn-d5")
    turn_to(dial, 90)
    now = shown(dial)
    mixed = dial.evaluate("() => [...explorer.views.weights.mixed]")
    plain = scn.method().configured(scn.network(), torch.tensor([float(now["value"].rstrip("°"))]))
    first = next(p for p in plain.parameters() if p.dim() == 2)
    assert mixed == pytest.approx(first.flatten().tolist(), abs=1e-3)


def test_the_dot_follows_the_mixture_in_its_space(dial: Any) -> None:
    """Where plotly's camera sees it: on the path, which is drawn in the colour of the setting."""
    places = []
    for degrees in (0, 90, 180, 270):
        turn_to(dial, degrees)
        settled(dial)
        dot = dial.evaluate(
            "() => { const b = document.querySelector('#space-dots i').getBoundingClientRect(),"
            " s = document.getElementById('space').getBoundingClientRect();"
            " return [b.x + b.width / 2 - s.x, b.y + b.height / 2 - s.y, s.width, s.height]; }"
        )
        assert 0 < dot[0] < dot[2]
        assert 0 < dot[1] < dot[3]
        places.append(dot[:2])
    assert len({tuple(place) for place in places}) == 4
    corner = dial.evaluate(
        "() => { const {glplot, dataScale} = document.getElementById('space')._fullLayout.scene._scene;"
        " return projected(glplot.cameraParams, [0, 0, 0].map((v, i) => v * dataScale[i])); }"
    )
    assert corner == pytest.approx([0.5, 0.5], abs=1e-6), "the camera looks at the middle"


def test_beta_can_be_seen_over_the_setting(dial: Any, turned: Path, sliders: Any, shifted: Path) -> None:
    """A curve around a cylinder, or a surface, for each base model, with the values that torch gives."""
    for folder, page, kind, first in ((turned, dial, "scatter3d", 2), (shifted, sliders, "surface", 0)):
        page.select_option("#space-view", "setting")
        settled(page)
        traces = page.evaluate("() => document.getElementById('space').data")[first:]
        dots = page.locator("#space-dots i").count()
        of = runs.read(folder / ("scn-d5" if folder == turned else "scn"))
        net, transform = of.network(), of.transform()
        assert isinstance(net, SCN)
        assert {trace["type"] for trace in traces} == {kind}
        assert len(traces) == dots == of.config.dims
        drawn = torch.tensor([trace["z"] for trace in traces])
        if kind == "surface":
            settings = torch.cartesian_prod(*(torch.tensor(traces[0][axis]) for axis in "yx")).flip(1)
        else:
            settings = torch.linspace(0, 360, drawn.shape[1])[:, None]
        expected = net.beta(transform.encode(settings)).mT.reshape(drawn.shape)
        assert torch.allclose(drawn, expected, atol=1e-5)


def test_a_wrong_setting_reaches_the_network_and_not_the_input(dial: Any, turned: Path) -> None:
    scn = runs.read(turned / "scn-d5")
    images, _ = data.load("digits").split("test")
    turn_to(dial, 40)
    right = shown(dial)
    assert not dial.locator("#wrong-controls").is_visible()
    dial.check("#wrong")
    dial.focus("#wrong-controls .dial")
    dial.keyboard.press("Home")
    for _ in range(3):
        dial.keyboard.press("PageUp")
    wrong = shown(dial)
    assert dial.locator("#score-legend b").all_inner_texts()[0] == DASH, "nobody tested it so"
    told = dial.locator("#wrong-controls output").text_content()
    dial.uncheck("#wrong")
    again = shown(dial)
    setting, other = (torch.tensor([float(text.rstrip("°"))]) for text in (right["value"], told))
    assert (other - setting).abs() > 30
    assert wrong["pixels"] == right["pixels"]
    x = data.to_float(images[right["sample"]]).unsqueeze(0)
    assert [r[0] for r in wrong["answers"]] == pytest.approx(probabilities(scn, x, setting, other), abs=1e-3)
    net = scn.network()
    assert isinstance(net, SCN)
    assert wrong["beta"] == pytest.approx(net.beta(scn.transform().encode(other)).tolist(), abs=1e-6)
    assert again == right


def test_keys_move_the_control_and_space_plays(dial: Any) -> None:
    dial.keyboard.press("ArrowRight")
    first = shown(dial)["place"]
    dial.keyboard.press("ArrowLeft")
    dial.keyboard.press("ArrowLeft")
    assert shown(dial)["place"] == dial.evaluate("() => explorer.state.sizes[0]") - 1, "round the circle"
    assert first == 1
    dial.focus("#controls .dial")
    dial.keyboard.press("Home")
    dial.keyboard.press("PageUp")
    assert shown(dial)["place"] > 5
    assert dial.locator("#controls .dial").get_attribute("aria-valuenow") == shown(dial)["value"].rstrip("°")
    dial.keyboard.press("Space")
    assert dial.evaluate("() => explorer.state.playing"), "also where the dial has the focus"
    dial.keyboard.press("Space")
    dial.evaluate("() => document.activeElement.blur()")
    dial.keyboard.press("Space")
    dial.wait_for_function(f"() => explorer.state.at[0] > {shown(dial)['place'] + 3}")
    assert dial.locator("#play").get_attribute("aria-pressed") == "true"
    dial.keyboard.press("Space")
    stopped = shown(dial)["place"]
    dial.wait_for_timeout(300)
    assert shown(dial)["place"] == stopped


def test_no_key_is_lost_between_two_frames(dial: Any) -> None:
    dial.focus("#controls .dial")
    dial.keyboard.press("Home")
    dial.evaluate(
        "() => { for (let i = 0; i < 7; i++) document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true })); }"
    )
    assert shown(dial)["place"] == 7


def test_another_sample_and_another_network_can_be_chosen(dial: Any) -> None:
    before = shown(dial)
    assert dial.locator("#samples button").count() >= 10
    dial.locator("#samples button").nth(3).click()
    after = shown(dial)
    assert after["sample"] != before["sample"]
    assert after["pixels"] != before["pixels"]
    dial.select_option("#network", label="SCN D=3")
    assert len(shown(dial)["beta"]) == 3
    dial.select_option("#network", label="SCN D=5")
    assert shown(dial) == after


def test_a_finger_turns_the_dial(browser: Any, turned: Path) -> None:
    with opened(browser, explorer(turned, "explorer"), "phone") as page:
        dial = page.locator("#controls .dial")
        dial.scroll_into_view_if_needed()
        box = dial.bounding_box()
        page.touchscreen.tap(box["x"] + 0.1 * box["width"], box["y"] + 0.5 * box["height"])
        assert shown(page)["value"] == "90°"


OVERLAPS = """() => {
  const seen = [...document.querySelectorAll('main *')].filter(e => e.checkVisibility()
    && !e.closest('.unseen, .scroll, pre'));
  const texts = seen.filter(e => !e.closest('.js-plotly-plot')
    && !(e instanceof SVGElement && e.tagName !== 'text')
    && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()));
  const boxes = texts.flatMap(e => { const r = document.createRange(); r.selectNodeContents(e);
    return [...r.getClientRects()].filter(b => b.width > 0).map(b => ({e, b})); });
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(c => {
    if (a.e === c.e || a.e.contains(c.e) || c.e.contains(a.e)) return;
    const w = Math.min(a.b.right, c.b.right) - Math.max(a.b.left, c.b.left);
    const h = Math.min(a.b.bottom, c.b.bottom) - Math.max(a.b.top, c.b.top);
    if (w > 2 && h > 3) found.push(a.e.textContent.slice(0, 30) + ' / ' + c.e.textContent.slice(0, 30));
  }));
  const outside = seen.filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 60));
  return {found, outside, wide: document.documentElement.scrollWidth, room: innerWidth};
}"""


SPILLED = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(plot =>
  plot.querySelector('.main-svg').getBoundingClientRect().width > plot.getBoundingClientRect().width + 1)
  .map(plot => plot.getAttribute('aria-label'))"""


def in_every_size(page: Any) -> Iterator[str]:
    """A page that was opened on a phone, there, and then in windows of the other sizes."""
    for size in IN_TURN:
        page.set_viewport_size(SIZES[size]["viewport"])
        page.emulate_media(color_scheme=SIZES[size].get("color_scheme", "light"))
        settled(page)
        if size != IN_TURN[0]:
            page.wait_for_timeout(300)  # plotly waits for a window to come to rest
        yield size


def well_laid_out(page: Any) -> bool:
    found = page.evaluate(OVERLAPS)
    assert found["wide"] <= found["room"]
    assert found["outside"] == []
    assert found["found"] == []
    return True


@pytest.mark.parametrize("kind", ["turned", "shifted"])
def test_nothing_overflows_or_overlaps(browser: Any, kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    with opened(browser, explorer(folder, {"turned": "explorer", "shifted": "shift"}[kind]), "phone") as page:
        page.check("#wrong")
        for size in in_every_size(page):
            assert well_laid_out(page), size


@pytest.mark.parametrize(("kind", "opened_as"), [("shifted", "sliders"), ("clouds", "cloud")])
def test_several_parameters_show_what_torch_computes(
    kind: str, opened_as: str, request: pytest.FixtureRequest
) -> None:
    folder, page = request.getfixturevalue(kind), request.getfixturevalue(opened_as)
    of = runs.read(folder / "scn" if kind == "shifted" else folder)
    net, transform = of.network(), of.transform()
    assert isinstance(net, SCN)
    samples, _ = data.load(of.config.data).split("test")
    draw = np.random.default_rng(0)
    sizes = page.evaluate("() => explorer.state.sizes")
    for _ in range(5 if kind == "shifted" else 2):  # a change of the cloud takes a browser 3 seconds
        at = [int(draw.integers(size)) for size in sizes]
        page.evaluate("(at) => explorer.change((state) => { state.at = at; })", at)
        now = shown(page)
        values = page.evaluate(
            "() => explorer.state.parameters.map((p, i) => p.values[explorer.state.at[i]])"
        )
        setting, first = torch.tensor(values), torch.zeros(len(sizes))
        x = data.to_float(samples[now["sample"]]).unsqueeze(0)
        assert now["beta"] == pytest.approx(net.beta(transform.encode(setting)).tolist(), abs=1e-6)
        ours, frozen = zip(*now["answers"], strict=True)
        assert list(ours) == pytest.approx(probabilities(of, x, setting, setting), abs=1e-3)
        assert list(frozen) == pytest.approx(probabilities(of, x, setting, first), abs=1e-3)
        if kind == "shifted":
            assert now["pixels"] == (transform.apply(x, setting).clamp(0, 1) * 255).round().flatten().tolist()


def test_two_parameters_have_two_sliders(sliders: Any, shifted: Path) -> None:
    net = runs.read(shifted / "scn").network()
    assert isinstance(net, SCN)
    page, translation = sliders, transforms.get("translation")
    controls = page.locator("#controls input[type=range]")
    assert controls.count() == 2
    assert page.locator("#curves figure").count() == 2
    controls.nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    now = shown(page)
    at = page.evaluate(
        "() => explorer.state.at.map((place, p) => explorer.state.parameters[p].values[place])"
    )
    page.locator("#play").click()
    page.wait_for_function(f"() => explorer.state.at[1] > {page.evaluate('() => explorer.state.at[1]')}")
    assert at[0] == 0
    assert at[1] > 0
    assert now["beta"] == pytest.approx(net.beta(translation.encode(torch.tensor(at))).tolist(), abs=1e-6)


SEEN = """() => { const c = document.getElementById('seen');
  const {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  return [...data].filter((_, i) => i % 4 === 0); }"""


def test_a_cloud_of_points_turns(cloud: Any, clouds: Path) -> None:
    assert cloud.locator("#controls .dial").count() == 3
    before = shown(cloud)
    cloud.locator("#controls .dial").nth(1).focus()
    cloud.keyboard.press("ArrowRight")
    after = shown(cloud)
    place = cloud.evaluate(
        "() => { const {state} = explorer, d = state.drawing, s = inputSetting(state);"
        " const m = d.matrices.subarray(9 * s, 9 * s + 9);"
        " return {at: state.at.map((a, p) => state.parameters[p].values[a]),"
        " point: turned(m, ...[0, 1, 2].map(i => d.points[i] / 32767))}; }"
    )
    seen = cloud.evaluate(SEEN)
    assert after["pixels"] != before["pixels"]
    x, _ = data.load(runs.read(clouds).config.data).split("test")
    first = data.to_float(x[after["sample"] : after["sample"] + 1])[0, 0]
    matrix = transforms.get("rotation-3d").matrices(torch.tensor([place["at"]]))[0]  # type: ignore[attr-defined]
    assert place["point"] == pytest.approx((matrix @ first).tolist(), abs=1e-3)
    points = data.to_float(x[after["sample"] : after["sample"] + 1])
    image = (
        (transforms.get("rotation-3d").apply(points, torch.tensor([place["at"]])) * 255).flatten().tolist()
    )
    close = [abs(a - b) < 1 for a, b in zip(seen, image, strict=True)]
    assert sum(close) >= len(close) - 3, "a point on the border of two pixels may fall into either"
    assert max(image) > 100


def test_waveforms_and_readings_have_drawings_of_their_own(browser: Any, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    tones = np.sin(np.arange(800) * 0.02 * (1 + np.arange(80)[:, None] % 4)) * 20000
    own = made(
        tmp_path, x_train=tones[:64].astype(np.int16), x_test=tones[64:].astype(np.int16), sample_rate=800
    )
    trained(tmp_path / "wave", own, "speed", "scn", Recipe(epochs=1, batch_size=16), dims=2)
    with opened(browser, explorer(tmp_path / "wave", "waveform", "--samples", "2")) as page:
        before = page.evaluate("() => document.getElementById('sample').toDataURL()")
        page.focus("#controls input")
        page.keyboard.press("PageDown")
        settled(page)
        assert page.evaluate("() => document.getElementById('sample').toDataURL()") != before

    readings = draw.integers(0, 1000, (80, 3)).astype(np.int16)
    levels = draw.uniform(10, 760, (80, 1)).astype(np.float32)
    own = made(
        tmp_path,
        x_train=readings[:64],
        x_test=readings[64:],
        params_train=levels[:64],
        params_test=levels[64:],
    )
    trained(tmp_path / "reading", own, "light", "scn", Recipe(epochs=1, batch_size=16), dims=2)
    with opened(browser, explorer(tmp_path / "reading", "readings", "--samples", "3")) as page:
        page.locator("#samples button").nth(2).click()
        settled(page)
        index = page.evaluate("() => explorer.state.samples[2].index")
        at = page.evaluate("() => explorer.state.parameters[0].values[explorer.state.at[0]]")
    assert at == pytest.approx(levels[64 + index, 0], abs=750 / 36)


@pytest.fixture(scope="module")
def reported(turned: Path) -> Path:
    """The report of these runs."""
    file = turned / "report.html"
    result = run("report", str(turned), "-o", str(file), "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["bytes"] == file.stat().st_size < 8_000_000
    assert facts["runs"] == 3
    return file


def test_the_report_shows_tables_and_figures(browser: Any, reported: Path, turned: Path) -> None:
    with opened(browser, reported, "phone") as page:
        rows = page.locator("#result-table tbody tr").all_inner_texts()
        assert [row.split("\t")[0].strip() for row in rows] == ["SCN D=3", "SCN D=5", "One4All"]
        mean = json.loads((turned / "scn-d5" / "evaluation.json").read_text())["mean"]
        assert f"{mean:.4f}" in rows[1]
        said = page.locator("#summary").inner_text()
        assert f"SCN D=5: {mean:.4f}; One4All: " in said
        assert "with 8,290 weights for one prediction" in said
        curves = page.evaluate("() => document.querySelector('#score-figures .js-plotly-plot').data")
        table = (turned / "scn-d5" / "scores.csv").read_text().splitlines()[1:]
        assert curves[1]["y"] == pytest.approx([float(line.split(",")[-1]) for line in table])
        drawn = page.locator(".js-plotly-plot").count()
        assert drawn == 2 + 1 + 1 + 1 + 2 + 4, (
            "curve and circle, size, violins, configured once, beta for each D, four kinds of training curve"
        )
        once = page.evaluate("() => document.querySelector('#specialisation .js-plotly-plot').data")
        scn = runs.read(turned / "scn-d5")
        frozen = evaluate_run(
            scn, scn.network(), torch.tensor(once[1]["x"])[:, None], fixed=torch.zeros(1), samples=300
        )
        assert [curve["name"] for curve in once] == ["SCN D=3", "SCN D=5"]
        assert once[1]["y"] == pytest.approx(frozen.values.tolist())
        assert page.evaluate("() => document.getElementById('sample-picture').naturalWidth") == 700
        assert "scn train --data digits" in page.locator("#commands").inner_text()
        for size in in_every_size(page):
            assert page.evaluate(SPILLED) == [], size
            assert well_laid_out(page), size


def test_runs_of_several_sizes_are_told_apart(turned: Path, tmp_path: Path) -> None:
    shutil.copytree(turned / "scn-d3", tmp_path / "narrow")
    trained(tmp_path / "wide", "digits", "rotation", "scn", SHORT, dims=3, sizes={"width": 16})
    content = report(collect([tmp_path]))
    assert [row["label"] for row in content["rows"]] == ["SCN D=3, width 8", "SCN D=3, width 16"]
    assert [row["seeds"] for row in content["rows"]] == [1, 1]
    assert content["rows"][0]["inference"] < content["rows"][1]["inference"]
    assert [entry["label"] for entry in content["beta"]] == [row["label"] for row in content["rows"]]


def test_a_report_shows_what_was_searched(turned: Path, tmp_path: Path) -> None:
    shutil.copytree(turned / "scn-d3", tmp_path / "scn")
    assert run("search", str(tmp_path / "scn"), "--batch-size", "4", "--samples", "100", "--quiet").code == 0
    (found,) = report(collect([tmp_path]))["searched"]
    assert found["label"] == "I-SCN D=3, batch 4"
    assert found["of"] == "SCN D=3"
    written = json.loads(next((tmp_path / "scn").glob("search-*.json")).read_text())
    assert found["mean"] == written["rows"][0]["accuracy"]


def test_a_report_needs_no_data(turned: Path) -> None:
    shown_runs = collect([turned])
    with mock.patch.object(data, "load", side_effect=FileNotFoundError("gone")):
        content = report(shown_runs)
    assert content["samples"] is None
    assert content["specialisation"]["entries"] == []
    assert len(content["rows"]) == 3


def test_figures_keep_their_height_and_the_report_prints(
    browser: Any, reported: Path, tmp_path: Path
) -> None:
    """After another scheme, after printing, and in a window of another width."""
    with opened(browser, reported) as page:
        page.emulate_media(color_scheme="dark")
        page.evaluate(
            "() => { dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint')); }"
        )
        page.set_viewport_size({"width": 900, "height": 900})
        page.wait_for_timeout(500)
        heights = page.evaluate(
            "() => [...document.querySelectorAll('.js-plotly-plot .main-svg')]"
            ".map(svg => svg.getBoundingClientRect().height)"
        )
        assert page.evaluate(SPILLED) == []
        pdf = page.pdf(path=tmp_path / "report.pdf", format="A4")
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert set(heights) == {380}
    assert pdf.startswith(b"%PDF")


def test_an_explorer_works_without_webgl(turned: Path) -> None:
    program = chromium()
    file = explorer(turned, "explorer")
    script = (
        "import sys; from playwright.sync_api import sync_playwright as start\n"
        "with start() as s:\n"
        "    page = s.chromium.launch(executable_path=sys.argv[1], args=sys.argv[3:]).new_page()\n"
        "    page.goto(sys.argv[2]); page.wait_for_selector('body[data-ready]')\n"
        "    page.keyboard.press('ArrowRight'); page.wait_for_timeout(300)\n"
        "    for place in ('#space-caption', '#controls output'): print(page.locator(place).inner_text())"
    )
    flags = ["--no-sandbox", "--disable-gpu", "--disable-webgl", "--disable-3d-apis"]
    command = [sys.executable, "-c", script, program, file.as_uri(), *flags]  # one driver a process
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.stdout.splitlines() == [
        "This picture needs WebGL, which this browser does not have or has switched off.",
        "2°",
    ], done.stderr


def test_a_page_holds_no_address_of_its_own(turned: Path) -> None:
    sources = [
        p for name in ("pages", "report", "explorer") for p in (PACKAGE / name).iterdir() if p.suffix in KINDS
    ]
    assert len(sources) > 10
    for path in sources:
        addresses = set(re.findall(r"(?:https?:)?//[a-z0-9]+\.[a-z0-9.]+", path.read_text()))
        assert addresses <= {"http://www.w3.org"}, f"{path}: the namespace of SVG is no address, others are"
    text = explorer(turned, "explorer").read_text()
    assert "Content-Security-Policy" in text
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"'](?!data:)", text)


def test_an_explorer_stays_small(turned: Path) -> None:
    assert 1_000_000 < explorer(turned, "explorer").stat().st_size < 12_000_000


def test_the_grid_is_the_finest_that_meets_the_limits() -> None:
    angle, shift = transforms.get("rotation").parameters, transforms.get("translation").parameters
    space = transforms.get("rotation-3d").parameters
    small = next(candidates(angle, Demand(100, 100, 1000)))
    assert len(small.settings) == 180
    for parameters in (angle, shift, space):
        for demand in (Demand(100, 100, 1000), Demand(15_000, 500, 15_000), Demand(700, 240, 12_000)):
            found = next(candidates(parameters, demand))
            assert len(found.settings) * demand.own_bytes <= 4_500_000
            assert len(found.settings) * len(found.assumed) * demand.pair_bytes <= 11_500_000
            assert (found.settings == found.first).all(dim=1).any()
            assert {tuple(row) for row in found.assumed.tolist()} <= {
                tuple(r) for r in found.settings.tolist()
            }
    assert len(next(candidates(shift, Demand(13_000, 240, 24_000))).settings) == 17**2
    sound = next(candidates(transforms.get("speed").parameters, Demand(6_000, 240, 770_000)))
    assert len(sound.assumed) >= 12
    assert len(sound.settings) > 40
    assert PageGrid(shift, 16, 4).first.tolist() == [0, 0]
    third = PageGrid(space, 12, 4)
    assert third.first.tolist() == [0, 0, 0]
    assert third.assumed.unique().tolist() == [-120, 0, 120]
    assert third.assumed[third.start[0] * 9 + third.start[1] * 3 + third.start[2]].tolist() == [0, 0, 0]


def test_arrays_are_packed_by_bytes() -> None:
    arrays = Arrays()
    assert arrays.add(np.array([[1, 2], [3, 515]], np.int16)) == {"type": "int16", "shape": [2, 2], "at": 0}
    assert arrays.add(np.array([7], np.uint8))["at"] == 8
    assert b"".join(arrays._parts) == bytes([1, 2, 3, 3, 0, 0, 0, 2, 7])


def test_the_commands_of_a_report_give_the_same_configuration(
    turned: Path, shifted: Path, tmp_path: Path
) -> None:
    shown_runs = [*collect([turned]), *collect([shifted])]
    recipe = Recipe(epochs=1, batch_size=32, evidence_weight=0.5, train_samples=128, mixed_precision=False)
    trained(tmp_path / "fixed", "digits", "rotation", "one4one", recipe, fixed=[72.5], seed=3)
    shutil.copytree(shifted / "scn", tmp_path / "odd")
    odd = runs.read(tmp_path / "odd")
    result = evaluate_run(odd, odd.network(), odd.transform().grid(7))  # steps of 8/3
    write_scores(odd.folder, result, odd.transform())
    for one in [*shown_runs, *collect([tmp_path / "fixed"]), *collect([tmp_path / "odd"])]:
        train_line, evaluate_line = repeating([one])
        again = tmp_path / f"again-{one.run.folder.name}-{one.run.config.transform}"
        arguments = train_line.replace(str(one.run.folder), str(again)).split()[1:]
        assert run(*arguments, "--quiet").code == 0
        ours, theirs = asdict(runs.read(again).config), asdict(one.run.config)
        assert ours == json.loads(json.dumps(theirs))
        assert (again / "model.safetensors").read_bytes() == one.run.model_file.read_bytes()
        if one.run.config.fixed is None:
            evaluate = evaluate_line.replace(str(one.run.folder), str(again)).split()[1:]
            assert run(*evaluate, "--quiet").code == 0
            assert (again / "scores.csv").read_text() == (one.run.folder / "scores.csv").read_text()


def test_costs_come_from_the_device(turned: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scn"
    shutil.copytree(turned / "scn-d3", folder)
    row = {"target": "cortex-m4f", "flash": 400_000, "ram": 50_000, "options": {"weights": "int8"}}
    counts = {"hypernet": 900, "configure": 70_000, "infer": 120_000}
    (folder / "device.json").write_text(json.dumps({"rows": [{**row, "instructions": counts}]}))
    (cost,) = report(collect([folder]))["costs"]
    assert cost["target"] == "cortex-m4f, int8"
    assert (cost["flash"], cost["ram"], cost["infer"]) == (400_000, 50_000, 120_000)
    (folder / "device.json").write_text("{")
    with pytest.raises(ValueError, match="scn device"):
        report(collect([folder]))


def untrained(kind: str, dims: int) -> SCN:
    rotation = transforms.get("rotation")
    return SCN(MLP((1, 4, 4), 3), 2, dims, map=kind, space=rotation.space(), seed=0)


def test_bases_without_use_are_told() -> None:
    net, rotation = untrained("learned", 3), transforms.get("rotation")
    net.map.get_parameter("output.bias").data[1] = -100.0
    (text,) = dead_bases(net, rotation)
    assert "1 of 3 base models is never used (number 2" in text


@pytest.mark.parametrize("kind", ["nodes", "experts", "fourier"])
def test_of_maps_with_places_every_base_is_used_and_steps_are_no_fault(kind: str) -> None:
    net, rotation = untrained(kind, 64), transforms.get("rotation")
    assert dead_bases(net, rotation) == jumps(net, rotation) == []


def test_a_base_with_negative_coefficients_is_in_use() -> None:
    net, rotation = untrained("fourier", 3), transforms.get("rotation")
    with mock.patch.object(net, "beta", return_value=torch.tensor([[1.3, -0.3, 0.0]])):
        (text,) = dead_bases(net, rotation)
    assert "(number 3:" in text


def test_a_mixture_that_jumps_is_told() -> None:
    net, rotation = untrained("learned", 3), transforms.get("rotation")
    assert jumps(net, rotation) == []
    net.map.get_parameter("hidden.weight").data *= 1e4
    net.map.get_parameter("hidden.bias").data *= 1e4
    (text,) = jumps(net, rotation)
    assert "not continuous in angle" in text


def test_a_test_far_from_the_validation_is_told(turned: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scn"
    shutil.copytree(turned / "scn-d3", folder)
    facts = json.loads((folder / "evaluation.json").read_text())
    (folder / "evaluation.json").write_text(json.dumps({**facts, "mean": 0.11}))
    (text,) = [w for w in report(collect([folder]))["warnings"] if "validation" in w]
    assert "the test accuracy 0.110 is far from" in text


@pytest.mark.parametrize("command", ["report", "explore"])
def test_bad_input_is_told_with_the_command_that_helps(
    command: str, turned: Path, shifted: Path, tmp_path: Path
) -> None:
    page = str(tmp_path / "page.html")
    good = str(turned / "scn-d3")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    shutil.copytree(turned / "scn-d3", tmp_path / "untested")
    (tmp_path / "untested" / "scores.csv").unlink()
    shutil.copytree(turned / "scn-d3", tmp_path / "untrained")
    (tmp_path / "untrained" / "model.safetensors").unlink()
    cases = [
        ([str(tmp_path / "nowhere"), "-o", page], "there is no run", "`scn train -o"),
        ([str(tmp_path / "empty"), "-o", page], "holds none", "`scn train -o"),
        (
            [str(tmp_path / "untested"), "-o", page],
            "was not evaluated",
            f"`scn evaluate {tmp_path / 'untested'}`",
        ),
        ([str(tmp_path / "untrained"), "-o", page], "no trained network", "`scn train --resume"),
        (
            [good, str(shifted / "scn"), "-o", page],
            "runs of one task",
            f"call `scn {command}` once for each task",
        ),
        ([good, "-o", str(tmp_path / "page")], "must end in .html", f"`scn {command} {good} -o page.html`"),
        ([good, "-o", str(tmp_path / "empty")], "is a folder", f"`scn {command} {good} -o page.html`"),
        ([good, "-o", str(tmp_path / "no" / "p.html")], "there is no folder", f"`scn {command} {good}"),
        ([good, "-o", str(tmp_path / "file" / "p.html")], "there is no folder", f"`scn {command} {good}"),
    ]
    for arguments, wrong, helps in cases:
        result = run(command, *arguments)
        assert result.code == 2
        assert wrong in result.err
        assert helps in result.err
    assert not Path(page).exists()


def test_an_explorer_needs_an_scn(turned: Path, tmp_path: Path) -> None:
    result = run("explore", str(turned / "one4all"), "-o", str(tmp_path / "page.html"))
    assert result.code == 2
    assert "`scn train --method scn`" in result.err


@pytest.fixture(scope="session")
def inked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SCN and a One4All that predict two values."""
    return make_runs(tmp_path_factory.mktemp("inked") / "runs", targets=2)


def predicted(of: Run, x: Tensor, input_setting: Tensor, assumed: Tensor) -> list[float]:
    """The values that torch predicts for a sample under one setting, configured for another."""
    method = of.method()
    plain = method.configured(of.network(), assumed).eval()
    with torch.no_grad():
        outputs = plain(method.inputs(x, input_setting, of.normalisation(), assumed))
    return method.objective.predictions(outputs)[0].tolist()


def test_an_explorer_shows_values_in_their_units(browser: Any, inked: Path) -> None:
    scn, rigid = runs.read(inked / "scn"), runs.read(inked / "one4all")
    dataset = data.load(scn.config.data)
    images, labels = dataset.split("test")
    with opened(browser, explorer(inked, "values"), "phone") as page:
        page.locator("#samples button").nth(4).click()
        page.evaluate("() => explorer.change((state) => { state.at = [3]; })")
        settled(page)
        setting = torch.tensor([page.evaluate("() => explorer.state.parameters[0].values[3]")])
        index = page.evaluate("() => explorer.state.samples[4].index")
        groups = page.locator(".predictions tbody")
        found = [
            [float(e.get_attribute("data-value")) for e in group.locator("[data-value]").all()]
            for group in groups.all()
        ]
        heads = groups.locator("tr.truth").all_inner_texts()
        title = page.locator("#scores-title").inner_text()
        for size in in_every_size(page):
            assert well_laid_out(page), size
    x = data.to_float(images[index : index + 1])
    expected = [
        predicted(scn, x, setting, setting),
        predicted(rigid, x, setting, setting),
        predicted(scn, x, setting, torch.zeros(1)),
    ]
    assert np.allclose(np.array(found).T, expected, atol=1e-3)
    top, left = labels[index].tolist()
    assert heads == [f"top: true value {top:.4g} mV", f"left: true value {left:.4g} kPa"]
    assert title == "R² on the test data"


def test_a_report_of_values_shows_both_scores(browser: Any, inked: Path) -> None:
    assert run("report", str(inked), "-o", str(inked / "values-report.html")).code == 0
    with opened(browser, inked / "values-report.html", "dark") as page:
        heads = page.locator("#result-table thead th").all_inner_texts()
        row = page.locator("#result-table tbody tr").first.inner_text().split("\t")
        assert page.evaluate(SPILLED) == []
        assert "accuracy" not in page.locator("main").inner_text().lower()
    facts = json.loads((inked / "scn" / "evaluation.json").read_text())
    shown_row = dict(zip(heads, row, strict=True))
    assert shown_row["R²"] == f"{facts['mean']:.4f}".replace("-", "\N{MINUS SIGN}")
    assert float(shown_row["mean absolute error"]) == pytest.approx(facts["further"]["mae"], rel=1e-3)
    assert shown_row["settings tested"] == "9"


def test_round_a_circle_settings_are_as_far_apart_as_the_shorter_way(dial: Any) -> None:
    for periodic, share in ((True, 20 / 360), (False, 340 / 360)):
        parameter = {"low": 0, "high": 360, "periodic": periodic}
        assert dial.evaluate("(parameter) => apart(parameter, 350, 10)", parameter) == pytest.approx(share)


def test_what_is_0_but_for_rounding_is_shown_as_0(dial: Any) -> None:
    for unit, text in (("semitones", "0 semitones"), ("degrees", "0°"), ("", "0")):
        parameter = {"low": -12, "high": 12, "unit": unit, "values": [-7.451e-8]}
        assert dial.evaluate("(parameter) => valueText(parameter, 0)", parameter) == text
    small = {"low": -1e-6, "high": 1e-6, "unit": "m", "values": [5e-7]}
    assert dial.evaluate("(parameter) => valueText(parameter, 0)", small) == "5e\N{MINUS SIGN}7 m"
