"""The page of `scn export --to web` in a real browser: alone, offline, and with the outputs of torch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import scn
from commands import run
from figure_runs import make_run
from needs import tool
from scn import data, runs, transforms
from scn.data.forms import ready
from scn.export import subject_of
from scn.transforms.geometric import Rotation
from scn.web import inputs
from scn.web.content import takes_camera, tilted
from value_runs import make_runs

SCREENS = os.environ.get("SCN_SCREENS")  # a folder for pictures of the pages, for people to look at
SIZES: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1180, "height": 800}},
    "dark": {"viewport": {"width": 1180, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "has_touch": True, "color_scheme": "dark"},
}
MARKUP = "<b onclick='x'>2</b></script>"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    tool("clang")
    tool("wasm-ld")


def exported(folder: Path, site: Path, *options: str) -> Path:
    """The page of a run."""
    result = run("export", str(folder), "--to", "web", "-o", str(site), *options)
    assert result.code == 0, result.err
    return site / "index.html"


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SCN and a One4All for digits at any angle; a class has a name that looks like markup."""
    folder = tmp_path_factory.mktemp("turned")
    arrays = data.load("digits").arrays
    names = np.array([MARKUP if i == 2 else f"the_{i}" for i in range(10)])
    parts = {key: arrays[key][:160] for key in ("x_train", "y_train", "x_test", "y_test")}
    np.savez(folder / "small.npz", allow_pickle=False, **parts, classes=names)
    for method, dims in (("scn", 3), ("one4all", 1)):
        make_run(folder / method, str(folder / "small.npz"), "rotation", method, dims=dims)
    return folder


@pytest.fixture(scope="module")
def site(turned: Path) -> Path:
    """The page of both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "INTERVALS", (12,))
        return exported(turned / "scn", turned / "site", "--beside", str(turned / "one4all")).parent


@contextmanager
def opened(browser: Any, file: Path, size: str = "wide", name: str = "") -> Iterator[Any]:
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
        page.screenshot(path=Path(SCREENS) / f"web-{name or file.parent.name}-{size}.png", full_page=True)
    context.close()
    assert not [text for text in troubles if not text.startswith(("data:", "blob:"))]


@pytest.fixture(scope="module")
def shared(browser: Any, site: Path) -> Iterator[Any]:
    with opened(browser, site / "index.html") as page:
        yield page


@pytest.fixture
def page(shared: Any) -> Any:
    """The page as it was when it opened."""
    shared.evaluate("() => { page.follow(false); page.show('samples'); page.choose(0); }")
    shared.evaluate("() => page.change((state) => { state.setting = [0]; })")
    settled(shared)
    return shared


def settled(page: Any) -> None:
    """Two frames later: what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def expected(folder: Path, sample: int, params: torch.Tensor) -> torch.Tensor:
    """What torch says of a test sample, changed, as bytes."""
    one = runs.read(folder)
    method, normalisation = one.method(), one.normalisation()
    x = data.to_float(data.load(one.config.data).split("test")[0][sample]).unsqueeze(0)
    seen = method.transform.apply(x, params).mul(255).round() / 255
    with torch.no_grad():
        return method.configured(one.network(), params).eval()(normalisation(seen))[0]


def test_outputs_are_those_of_torch(page: Any, turned: Path) -> None:
    samples = page.evaluate("() => page.state.samples.map(({ index }) => index)")
    settings = page.evaluate("() => page.state.settings")
    assert settings == [[30.0 * i] for i in range(12)]
    for place, name in enumerate(("scn", "one4all")):
        for sample, setting in ((0, 0), (3, 1), (7, 5), (11, 11)):
            found = page.evaluate("(a) => page.outputs(...a)", [place, sample, setting])
            torchs = expected(turned / name, samples[sample], torch.tensor(settings[setting]))
            assert (torch.tensor(found) - torchs).abs().max() < 1e-4
    checked = page.evaluate("() => page.state.checked")
    assert checked["count"] == 16
    assert checked["most"] < 1e-4


def test_the_dial_configures_the_scn_and_turns_the_sample(page: Any, turned: Path) -> None:
    before = page.evaluate("() => document.getElementById('seen').toDataURL()")
    page.focus("#controls .dial")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert page.inner_text("#controls output") == "30°"
    assert page.evaluate("() => document.getElementById('seen').toDataURL()") != before
    roles = page.locator(".card .role").all_inner_texts()
    assert roles == ["configured for angle 30°", "one network for all settings"]
    one = runs.read(turned / "scn")
    net = one.network()
    assert isinstance(net, scn.SCN)
    beta = net.beta(one.transform().encode(torch.tensor([30.0]))).tolist()
    shown = page.evaluate(
        "() => [...document.querySelectorAll('#beta [data-value]')].map(e => +e.dataset.value)"
    )
    assert shown == pytest.approx(beta, abs=1e-4)


def test_it_says_what_was_measured_and_where(page: Any, turned: Path) -> None:
    facts = page.inner_text("#facts")
    for text in ("24 of the 160 test images of small", "changed in Python for 12 settings (preset default)"):
        assert text in facts
    assert "made grey" in facts
    assert "It was measured on test data, not on what a camera sees." in facts
    score = runs.read(turned / "scn")
    mean = scn.runs.scores.read_scores(score.folder, score.transform(), score.objective().score).mean
    assert f"SCN D=3 {mean:.4f} on 160 test samples" in facts
    rows = page.locator("#times tbody tr").all_inner_texts()
    assert rows[0].count(" ms") == 2
    assert rows[1].count(" ms") == 1
    assert "kB" in rows[1]


def test_names_with_markup_stay_text(page: Any) -> None:
    place = page.evaluate("() => page.state.samples.findIndex(({ label }) => label === 2)")
    page.locator("#samples button").nth(place).click()
    settled(page)
    assert page.inner_text("#seen-caption") == MARKUP
    assert page.locator("main b").count() == 0
    other = page.evaluate("() => page.state.samples.findIndex(({ label }) => label === 1)")
    page.locator("#samples button").nth(other).click()
    settled(page)
    assert page.inner_text("#seen-caption") == "the 1"


@pytest.mark.parametrize("shape", [(1, 32, 32), (3, 32, 32)])
def test_a_picture_becomes_x_as_in_python(shape: tuple[int, int, int], page: Any) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (61, 83, 4), np.uint8)
    code = "([data, shape, inverted]) => [...page.prepared({ data, width: 83, height: 61 }, shape, inverted)]"
    square = Image.fromarray(pixels[:, 11:72, :3]).convert("L" if shape[0] == 1 else "RGB")
    python = ready(np.asarray(square)[None])[0]
    flat = pixels.flatten().tolist()
    assert page.evaluate(code, [flat, list(shape), False]) == python.flatten().tolist()
    assert page.evaluate(code, [flat, list(shape), True]) == (255 - python).flatten().tolist()


UPRIGHT, CLOCKWISE, COUNTER, FLAT = (90, 0), (0, 90), (0, -90), (5, 5)


@pytest.mark.parametrize(
    ("held", "screen", "mirrored", "angle"),
    [
        (UPRIGHT, 0, False, 0),
        ((60, 0), 0, False, 0),  # leaning back
        (CLOCKWISE, 0, False, 90),  # seen from behind: its picture of the world is turned counter-clockwise
        (COUNTER, 0, False, 270),
        ((-90, 0), 0, False, 180),
        (COUNTER, 90, False, 0),  # the screen has turned, and the picture with it
        (CLOCKWISE, 270, False, 0),
        (CLOCKWISE, 0, True, 270),  # the camera that looks at the person
        (FLAT, 0, False, None),
    ],
)
def test_tilt_is_the_angle_of_the_picture(
    held: tuple[int, int], screen: int, mirrored: bool, angle: int | None, page: Any
) -> None:
    code = "([beta, gamma, screen, mirrored]) => page.tiltAngle({ beta, gamma }, screen, mirrored)"
    found = page.evaluate(code, [*held, screen, mirrored])
    assert found == (None if angle is None else pytest.approx(angle, abs=1e-6))


def tilt(page: Any, beta: float, gamma: float) -> None:
    event = "new DeviceOrientationEvent('deviceorientation', { alpha: 0, beta: b, gamma: g })"
    page.evaluate(f"([b, g]) => window.dispatchEvent({event})", [beta, gamma])
    settled(page)


def test_the_camera_is_x_and_the_tilt_is_alpha(page: Any, turned: Path) -> None:
    page.click("#mode-camera")
    page.wait_for_selector("#view-figure:not([hidden])")
    page.wait_for_function("() => page.state.predictions[0]")
    tilt(page, 45, 30)
    angle = page.evaluate("() => page.tiltAngle({ beta: 45, gamma: 30 })")
    assert page.evaluate("() => [page.state.following, ...page.state.networks[0].setting]") == [True, angle]
    assert page.inner_text("#controls output") == f"{angle:.0f}°"
    now = page.evaluate(STILL)
    one = runs.read(turned / "scn")
    plain = one.method().configured(one.network(), torch.tensor([angle])).eval()
    x = torch.tensor(now["bytes"], dtype=torch.float32).view(1, 1, 32, 32) / 255
    with torch.no_grad():
        logits = plain(one.normalisation()(x))[0]
    assert now["logits"] == pytest.approx(logits.tolist(), abs=1e-4)
    tilt(page, 2, 3)
    assert "lies flat" in page.inner_text("#tilt-note")
    page.focus("#controls .dial")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert not page.is_checked("#tilt"), "a hand on the dial ends it"
    page.click("#mode-samples")
    assert page.evaluate("() => document.getElementById('video').srcObject") is None


STILL = """() => {
  const picture = page.camera.picture(), { state } = page, { net } = state.networks[0];
  const bytes = page.prepared(picture, state.inputs.shape, state.inverted);
  return { bytes: [...bytes], logits: [...net.infer(net.normalise([...bytes].map((value) => value / 255)))] };
}"""


def refusing(name: str) -> str:
    """A camera that cannot be had."""
    return f"navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('no', '{name}'); }};"


KEPT = "window.kept = [navigator.mediaDevices.getUserMedia, navigator.mediaDevices];"
NO_DEVICES = "Object.defineProperty(navigator, 'mediaDevices', { value: undefined, configurable: true });"
ASKS = "DeviceOrientationEvent.requestPermission = async () => '{}';"


@pytest.mark.parametrize(
    ("before", "note", "said"),
    [
        (refusing("NotAllowedError"), "camera", "The camera was refused. Allow it"),
        (refusing("NotFoundError"), "camera", "This device has no camera."),
        (refusing("NotReadableError"), "camera", "Another program is using the camera."),
        (refusing("AbortError"), "camera", "could not be opened: no. Try again"),
        (NO_DEVICES, "camera", "only to pages from https://"),
        (ASKS.format("denied"), "tilt", "The tilt was refused."),
        ("", "tilt", "No tilt arrives"),
    ],
)
def test_what_is_refused_is_said_with_what_to_do(before: str, note: str, said: str, page: Any) -> None:
    """By a page whose camera or sensor is replaced, as a browser's refusal would have it."""
    page.evaluate(f"() => {{ {KEPT} {before} }}")
    page.click("#mode-camera")
    page.wait_for_selector(f"#{note}-note:not([hidden])")
    page.wait_for_function("() => !page.opening")
    settled(page)
    assert said in page.inner_text(f"#{note}-note")
    assert not page.is_checked("#tilt")
    if note == "camera":
        assert page.get_attribute("#mode-samples", "aria-pressed") == "true"
    page.evaluate(RESTORED)


RESTORED = """() => {
  Object.defineProperty(navigator, "mediaDevices", { value: kept[1], configurable: true });
  navigator.mediaDevices.getUserMedia = kept[0];
  delete DeviceOrientationEvent.requestPermission;
}"""


TOO_SMALL = """() => [...document.querySelectorAll("button, .switch")]
  .filter((one) => one.offsetParent && one.offsetHeight < 44).length"""


@pytest.mark.parametrize("size", ["phone", "dark"])
def test_nothing_overflows(size: str, browser: Any, site: Path) -> None:
    with opened(browser, site / "index.html", size) as page:
        page.click("#mode-camera")
        page.wait_for_function("() => page.state.mode === 'camera' && page.state.predictions[0]")
        for mode in ("camera", "samples"):
            page.evaluate("(mode) => page.show(mode)", mode)
            settled(page)
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate(TOO_SMALL) == 0
        colours = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert colours == "rgb(20, 23, 26)"


def made(folder: Path, name: str, **arrays: Any) -> str:
    """A data file of the user's own: 64 samples for training, 16 for the test, four classes."""
    labels: dict[str, Any] = {"y_train": np.arange(64) % 4, "y_test": np.arange(16) % 4}
    np.savez(folder / f"{name}.npz", **{**labels, **arrays})
    return str(folder / f"{name}.npz")


def sounds(folder: Path) -> Path:
    tones = (np.sin(np.arange(800) * 0.02 * (1 + np.arange(80)[:, None] % 4)) * 20000).astype(np.int16)
    own = made(folder, "tones", x_train=tones[:64], x_test=tones[64:], sample_rate=800)
    return make_run(folder / "sounds", own, "speed", dims=2)


def readings(folder: Path) -> Path:
    draw = np.random.default_rng(0)
    x = draw.integers(0, 1000, (80, 3)).astype(np.int16)
    light = draw.uniform(10, 760, (80, 1)).astype(np.float32)
    measured = {"params_train": light[:64], "params_test": light[64:]}
    return make_run(
        folder / "readings", made(folder, "light", x_train=x[:64], x_test=x[64:], **measured), "light", dims=2
    )


def shifted(folder: Path) -> Path:
    x = np.random.default_rng(0).integers(0, 256, (80, 8, 8, 3)).astype(np.uint8)
    own = made(folder, "colours", x_train=x[:64], x_test=x[64:])
    make_run(folder / "inverse", own, "translation", "inverse")
    return make_run(folder / "shifted", own, "translation", dims=2)


def turn_to_start(page: Any) -> bool:
    """Whether the mixture follows the first control."""
    before = page.inner_text("#beta")
    page.locator("#controls input").first.focus()
    page.keyboard.press("Home")
    settled(page)
    return bool(page.inner_text("#beta") != before)


def fits(page: Any) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


def test_sounds_have_sliders_and_no_camera(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "INTERVALS", (4,))
    with opened(browser, exported(sounds(tmp_path), tmp_path / "sounds-page")) as page:
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        assert not page.is_visible("#mode-camera")
        assert turn_to_start(page)
        assert "test sounds of tones" in page.inner_text("#facts")


def test_a_measured_sample_is_shown_under_its_measurement(browser: Any, tmp_path: Path) -> None:
    with opened(browser, exported(readings(tmp_path), tmp_path / "readings-page"), "phone") as page:
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        assert not page.is_visible("#mode-camera")
        page.locator("#samples button").nth(3).click()
        settled(page)
        measured = page.evaluate("() => page.state.samples[3].measured")
        assert page.evaluate("() => page.state.networks[0].setting") == measured
        assert f"measured at light {measured[0]:.0f} counts" in page.inner_text("#seen-caption")
        assert turn_to_start(page)
        assert "each with the light that was measured with it" in page.inner_text("#facts")
        assert fits(page)


def test_every_parameter_has_a_slider_and_only_an_angle_is_tilted(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "INTERVALS", (4,))
    with opened(browser, exported(shifted(tmp_path), tmp_path / "shifted-page"), "phone") as page:
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        assert page.locator("#controls input").count() == 2
        assert page.is_visible("#mode-camera")
        assert not page.is_visible("#tilt-switch")
        assert turn_to_start(page)
        assert page.locator("#controls output").all_inner_texts() == ["\N{MINUS SIGN}8 pixels", "0 pixels"]
        assert fits(page)


def test_values_are_shown_in_their_units(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "INTERVALS", (4,))
    folder = make_runs(tmp_path / "values", targets=2)
    file = exported(folder / "scn", tmp_path / "values-page", "--beside", str(folder / "one4all"))
    with opened(browser, file, "phone") as page:
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        rows = page.locator(".card").first.locator(".rows li").all_inner_texts()
        assert [text.split()[0] for text in rows] == ["top", "left"]
        assert "mV, true" in rows[0]
        assert fits(page)


def test_an_encoding_that_only_python_knows_is_kept_for_the_grid(
    browser: Any, turned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "INTERVALS", (4,))
    monkeypatch.setattr(Rotation, "encodings", lambda self: None)
    with opened(browser, exported(turned / "scn", tmp_path / "own-page")) as page:
        assert page.evaluate("() => page.state.networks[0].net.about.encodes") is False
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        tried = "try { page.state.networks[0].net.configure([3]); } catch (error) { return error.message; }"
        said = page.evaluate(f"() => {{ {tried} }}")
        assert "call configureAlpha(alpha)" in said


def test_a_network_that_is_shown_something_else_has_its_own_inputs_and_no_camera(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "INTERVALS", (2,))
    folder = shifted(tmp_path)
    file = exported(folder, tmp_path / "site", "--beside", str(folder.parent / "inverse"))
    with opened(browser, file, name="inverse") as page:
        assert page.evaluate("() => page.state.checked.most") < 1e-4
        assert not page.is_visible("#mode-camera")


def test_only_the_angle_of_a_whole_turn_is_tilted() -> None:
    assert tilted(transforms.get("rotation")) == 0
    assert tilted(transforms.get("scaling+rotation")) == 1
    assert tilted(transforms.get("rotation", "half-turn")) is None
    assert tilted(transforms.get("rotation-3d")) is None


def test_what_a_camera_sees_can_be_x_of_images_alone(turned: Path) -> None:
    subject = subject_of(runs.read(turned / "scn"))
    assert takes_camera([subject], data.load(subject.data))


def nothing_in(folder: Path) -> bool:
    return not folder.exists() or not list(folder.iterdir())


def test_without_the_tools_it_says_what_to_install(
    turned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = run("export", str(turned / "scn"), "--to", "web", "-o", str(tmp_path / "out"))
    assert result.code == 2
    assert "needs clang and wasm-ld, which this machine does not have" in result.err
    assert "`apt install clang lld`" in result.err
    assert nothing_in(tmp_path / "out")


def test_a_compiler_that_fails_leaves_nothing(
    turned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "clang"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'error: no target wasm32' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    result = run("export", str(turned / "scn"), "--to", "web", "-o", str(tmp_path / "out"))
    assert result.code == 1
    assert "error: no target wasm32. It must know the target wasm32" in result.err
    assert nothing_in(tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--state", "explicit"), "leave out --state"),
        (("--double-buffer",), "leave out"),
        (("--sensor", "accelerometer"), "leave out --sensor"),
        (("--beside", "nowhere"), "nowhere is not a run"),
    ],
)
def test_options_that_a_page_has_no_use_for(
    options: tuple[str, ...], message: str, turned: Path, tmp_path: Path
) -> None:
    result = run("export", str(turned / "scn"), "--to", "web", "-o", str(tmp_path / "out"), *options)
    assert (result.code, message in result.err) == (2, True), result.err
    assert nothing_in(tmp_path / "out")


def test_other_targets_take_one_network(turned: Path, tmp_path: Path) -> None:
    beside = ("--beside", str(turned / "one4all"))
    result = run("export", str(turned / "scn"), "--to", "c", "-o", str(tmp_path / "out"), *beside)
    assert (result.code, "the target c takes one network: leave out --beside" in result.err) == (2, True)
