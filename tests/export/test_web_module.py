"""The module of a network for pages of one's own: it imports nothing, computes as torch does, and checks."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from generated import built, subject
from mapped import MAPPED
from needs import tool
from scn import SCN, runs
from scn.backbones import M5, MLP, LeNet5, ShallowCNN
from scn.export import Options, Subject, subject_of
from scn.web import wasm
from scn.web.module import FOLDER
from value_runs import make_runs

SITE = "https://page.test/"
DOCS = Path(__file__).parents[2] / "docs"
IMAGE, COLOURS = (1, 8, 8), (3, 32, 32)
USUAL = "<!doctype html><script type=module>import * as scn from './scn.js'; window.scn = scn;</script>"
CALLED = """async ([packed, settings, inputs]) => {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const net = window.net = await scn.load(bytes);
  return settings.map((setting, at) => {
    if (net.about.configurable) net.configure(setting);
    return {beta: net.about.configurable ? [...net.beta] : [], outputs: [...net.infer(inputs[at])]};
  });
}"""


@pytest.fixture(autouse=True)
def _tools() -> None:
    tool("clang")
    tool("wasm-ld")


@contextmanager
def served(browser: Any, files: dict[str, bytes], loud: bool = False) -> Iterator[Any]:
    """A page of a server that has these files; unless it may be `loud`, an error on it fails the test."""
    context = browser.new_context()
    page, troubles = context.new_page(), []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix(SITE) or "index.html"
        kind = {"js": "text/javascript", "html": "text/html"}.get(name.rpartition(".")[2], "application/wasm")
        route.fulfill(status=200 if name in files else 404, body=files.get(name, b""), content_type=kind)

    context.route(f"{SITE}**", answer)
    page.goto(SITE)
    yield page
    context.close()
    assert loud or troubles == []


@contextmanager
def importing(browser: Any, loud: bool = False, **more: bytes) -> Iterator[Any]:
    """A page that has imported scn.js, with these modules beside it."""
    modules = {f"{name}.wasm": content for name, content in more.items()}
    files = {"index.html": USUAL.encode(), "scn.js": (FOLDER / "scn.js").read_bytes(), **modules}
    with served(browser, files, loud) as opened:
        opened.wait_for_function("() => window.scn")
        yield opened


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    with importing(browser) as opened:
        yield opened


def computed(page: Any, content: bytes, settings: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Beta and outputs of a module for each setting and its input."""
    packed = base64.b64encode(content).decode()
    rows = page.evaluate(CALLED, [packed, settings.tolist(), x.flatten(1).tolist()])
    return torch.tensor([row["beta"] for row in rows]), torch.tensor([row["outputs"] for row in rows])


def learned(
    backbone: nn.Module, shape: tuple[int, ...], transform: str = "rotation", dims: int = 3
) -> Subject:
    alphas = {"rotation": 2, "pitch": 1, "translation": 2}
    return subject(SCN(backbone, alphas[transform], dims, seed=0).eval(), shape, transform)


def mapped(name: str, **more: Any) -> Subject:
    case = MAPPED[name]
    return case.subject(case.network(MLP(IMAGE, 10, 8), **more), IMAGE)


NETWORKS: dict[str, Callable[[], Subject]] = {
    "mlp": lambda: learned(MLP(IMAGE, 10, 8), IMAGE),
    "shallow cnn with batch norm": lambda: learned(ShallowCNN(COLOURS, 10, 4), COLOURS, "translation"),
    "sound": lambda: learned(M5((1, 2000), 4, 8), (1, 2000), "pitch"),
    "lenet": lambda: learned(LeNet5((1, 32, 32), 10), (1, 32, 32)),
    "nodes": lambda: mapped("nodes on a circle"),
    "nodes on a plane": lambda: mapped("nodes on a plane"),
    "experts": lambda: mapped("experts on a circle"),
    "factored": lambda: mapped("nodes on a circle", subspace="factored:4"),
    "fourier": lambda: mapped("fourier on a circle"),
    "without base models": lambda: subject(MLP(IMAGE, 10, 8).eval(), IMAGE),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_those_of_torch(name: str, page: Any) -> None:
    what = NETWORKS[name]()
    settings = what.transform.sample(4, torch.Generator().manual_seed(1))
    x = torch.randn(4, *what.shape, generator=torch.Generator().manual_seed(2))
    beta, outputs = computed(page, wasm(what, Options()).content, settings, x)
    with torch.no_grad():
        expected = torch.cat([what.plain(row)(one[None]) for row, one in zip(settings, x, strict=True)])
        assert (outputs - expected).abs().max() < 1e-4
        if isinstance(what.network, SCN):
            assert (beta - what.network.beta(what.transform.encode(settings))).abs().max() < 1e-4
    assert page.evaluate("() => net.inputs") == x[0].numel()


@pytest.mark.parametrize(
    "options",
    [Options(theta="row"), Options(weights="float16"), Options(weights="int8", inference="int8")],
    ids=lambda options: f"{options.theta}-{options.weights}",
)
def test_rounded_weights_give_what_the_same_code_gives_on_this_machine(
    options: Options, page: Any, tmp_path: Path
) -> None:
    what = mapped("nodes on a circle")
    settings = what.transform.sample(3, torch.Generator().manual_seed(1))
    x = torch.randn(3, *IMAGE, generator=torch.Generator().manual_seed(2))
    _, outputs = computed(page, wasm(what, options).content, settings, x)
    program = built(what, options, tmp_path)
    for row, one, found in zip(settings, x, outputs, strict=True):
        assert program.configure(what.transform.encode(row)) == 0
        assert (program.infer(one)[1] - found).abs().max() < 1e-4


def test_a_module_imports_nothing(page: Any) -> None:
    content = wasm(NETWORKS["sound"](), Options()).content
    packed = base64.b64encode(content).decode()
    bytes_of = "Uint8Array.from(atob(packed), (c) => c.charCodeAt(0))"
    code = f"async (packed) => WebAssembly.Module.imports(await WebAssembly.compile({bytes_of}))"
    assert page.evaluate(code, packed) == []


def test_values_are_normalised_as_in_python(page: Any) -> None:
    what = NETWORKS["shallow cnn with batch norm"]()
    object.__setattr__(what, "normalisation", type(what.normalisation)((0.4, 0.5, 0.6), (0.2, 0.3, 0.4)))
    x = torch.rand(1, *COLOURS)
    computed(page, wasm(what, Options()).content, what.transform.sample(1), x)
    found = page.evaluate("(x) => [...net.normalise(x)]", x.flatten().tolist())
    assert np.array_equal(np.array(found, np.float32), what.normalisation(x).flatten().numpy())


WRONG = {
    "net.infer(new Float32Array(16))": r"not configured yet: call configure\(params\) first",
    "net.beta": "not configured yet",
    "net.configure([1, 2, 3])": r"the setting \(right, down\) must have 2 values, but has 3",
    "net.configure(5)": "must have 2 values, but has 1",
    "net.configure()": "must have 2 values, but has none",
    "net.configure([NaN, 0])": "holds NaN at place 0: it must be finite numbers",
    "net.configure([0, 9])": "out of range: down is 9, but goes from -8 to 8 pixels$",
    "net.configureAlpha([0, 7])": r"no setting has this alpha: \[0, 7\]; the last good configuration stays",
    "(net.configure([0, 0]), net.infer([1, 2]))": "x must have 16 values, but has 2",
    "(net.configure([0, 0]), net.infer(new Float32Array(16).fill(Infinity)))": "x holds Infinity at place 0",
    "net.normalise([1])": "x must have 16 values, but has 1",
    "net.prediction([1])": "outputs must have 3 values, but has 1",
    "scn.load('nothing.wasm')": "nothing.wasm cannot be read: the server says 404",
    "scn.load('https://elsewhere.test/x.wasm')": "cannot be read .*: a page reads files from a server",
    "scn.load('scn.js')": "scn.js is no WebAssembly that this browser can run",
    "scn.load(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))": "the file holds no network: `scn export",
    "scn.load(5)": "load takes an address, a Response or bytes",
}


TRIED = """async (text) => {
  const net = await scn.load("scn.wasm");
  try { await new Function("net", "scn", `return ${text}`)(net, scn); }
  catch (error) { return `${error.name}: ${error.message}`; }
}"""
KEPT = """async () => {
  const net = await scn.load("scn.wasm");
  net.configure([3, 4]);
  const before = [...net.beta];
  try { net.configureAlpha([0, 7]); } catch {}
  return [before, [...net.beta]];
}"""


def test_wrong_calls_are_told_what_to_do(browser: Any) -> None:
    module = wasm(learned(MLP((1, 4, 4), 3, 2), (1, 4, 4), "translation"), Options()).content
    with importing(browser, loud=True, scn=module) as page:
        for text, message in WRONG.items():
            said = page.evaluate(TRIED, text)
            assert said, text
            assert said.startswith("ScnError: "), said
            assert re.search(message, said), (text, said)
        before, after = page.evaluate(KEPT)
        assert before == after, "a refused configuration changes nothing"


def test_the_page_in_the_docs_runs(browser: Any) -> None:
    text = (DOCS / "export.md").read_text()
    (example,) = re.findall(r"^```html\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    what = learned(MLP(IMAGE, 10, 8), IMAGE)
    files = {"index.html": example.encode(), "scn.js": (FOLDER / "scn.js").read_bytes()}
    with served(browser, {**files, "scn.wasm": wasm(what, Options()).content}) as page:
        page.wait_for_function("() => document.getElementById('said').textContent")
        said = page.inner_text("#said")
    with torch.no_grad():
        x = what.normalisation(torch.full((1, *IMAGE), 0.5))
        most, place = what.plain(torch.tensor([30.0]))(x).softmax(1)[0].max(0)
    assert said == f"{place}: {most:.2f}"


def test_one_configuration_and_one4all_need_no_configuring(browser: Any) -> None:
    one = subject(SCN(MLP((1, 4, 4), 3, 2), 2, 2, seed=0).eval(), (1, 4, 4), params=torch.tensor([30.0]))
    with importing(browser, fixed=wasm(one, Options(theta="fixed")).content) as page:
        x = torch.rand(1, 4, 4)
        code = "async (x) => { window.net = await scn.load('fixed.wasm'); return [...net.infer(x)]; }"
        with torch.no_grad():
            expected = one.plain(torch.tensor([30.0]))(x[None])[0].tolist()
        assert page.evaluate(code, x.flatten().tolist()) == pytest.approx(expected, abs=1e-4)
        said = page.evaluate("() => { try { net.configure([3]); } catch (error) { return error.message; } }")
        assert "one network for all settings: there is nothing to configure" in said


def test_predictions_are_classes_or_values_in_their_units(browser: Any, tmp_path: Path) -> None:
    of_values = subject_of(runs.read(make_runs(tmp_path / "values") / "scn"))
    classes = wasm(learned(MLP((1, 4, 4), 3, 2), (1, 4, 4)), Options()).content
    with importing(browser, classes=classes, values=wasm(of_values, Options()).content) as page:
        code = "async ([name, outputs]) => (await scn.load(name)).prediction(outputs)"
        found = page.evaluate(code, ["classes.wasm", [0.0, 2.0, 1.0]])
        assert (found["kind"], found["place"], found["name"]) == ("classes", 1, "1")
        expected = torch.tensor([0.0, 2.0, 1.0]).softmax(0).tolist()
        assert found["probabilities"] == pytest.approx(expected)
        found = page.evaluate(code, ["values.wasm", [0.5]])
        (expected,) = of_values.objective.predictions(torch.tensor([[0.5]]))[0].tolist()
        assert (found["names"], found["units"]) == (["top"], ["mV"])
        assert found["values"] == pytest.approx([expected])
