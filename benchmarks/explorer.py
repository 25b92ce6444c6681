"""How long a step of the explorer's dial takes in Chromium: the script, and until its frame is painted.

The median depends on what else the machine does; the least of many says more about the page.

Trains a small SCN and One4All on digits first, makes the page and turns the dial once around.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import torch
from playwright.sync_api import sync_playwright

from scn import runs
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.explorer import write_explorer
from scn.runs import backbone_of
from scn.runs.collection import collect
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import write_scores
from scn.training.recipe import Recipe

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
LIMIT = 50.0  # milliseconds
STEP = """() => new Promise(done => {
  const began = performance.now();
  explorer.state.at[0] = (explorer.state.at[0] + 1) % explorer.state.sizes[0];
  explorer.redraw();
  const script = performance.now() - began;
  const painted = new MessageChannel();  // a message waits for the frame to be painted
  painted.port1.onmessage = () => done([script, performance.now() - began]);
  requestAnimationFrame(() => painted.port2.postMessage(0));
})"""


def make_page(folder: Path) -> Path:
    for method, dims in (("scn", 8), ("one4all", 1)):
        config = plan_run("digits", "rotation", "mlp", method, Recipe(epochs=3), dims=dims)
        run = runs.create(folder / method, config)
        net = train(run, backbone_of(run), prefetch=False)
        found = evaluate_run(run, net, run.transform().grid(36))
        write_scores(run.folder, found, run.transform())
    page = folder / "explorer.html"
    write_explorer(collect([folder]), page)
    return page


def main() -> None:
    torch.set_num_threads(1)
    chromium = shutil.which("chromium")
    if chromium is None:
        print("there is no Chromium: `apt-get install chromium` brings it")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = make_page(Path(folder))
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]", timeout=180_000)
        times = [page.evaluate(STEP) for _ in range(130)][10:]
        browser.close()
        print(f"\nexplorer: MLP 1024-32-10, D=8, {file.stat().st_size / 1e6:.1f} MB (limit {LIMIT:.0f} ms)")
    for name, column in (("redraw, in the script", 0), ("until it is on the screen", 1)):
        values = sorted(row[column] for row in times)
        shown = {"least": values[0], "median": statistics.median(values), "95 %": values[-6]}
        print(f"  {name:<30} " + "   ".join(f"{key} {value:6.1f} ms" for key, value in shown.items()))


if __name__ == "__main__":
    main()
