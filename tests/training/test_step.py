"""A compiled step does what the plain step does."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn
from commands import run
from scn import methods, runs
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.methods import Method
from scn.runs import backbone_of
from scn.training import loop, step
from scn.training.recipe import Recipe
from scn.training.state import State

SMALL = ("--width", "8", "--dims", "3", "--batch-size", "32")
SPLIT_EVENLY = 16


class Everything(nn.Module):
    """Convolution, norm with statistics, dropout, one weight in two places, a buffer that is replaced."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 8, stride=8)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.3)
        self.last, self.again = nn.Linear(64, 10), nn.Linear(64, 10)
        self.again.weight = self.last.weight
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.count = self.count + 1
        found = self.drop(self.norm(self.conv(x)).relu().flatten(1))
        return self.last(found) + self.again(found.flip(1))


class Undecided(nn.Module):
    """Looks at the values before it decides what to do."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(1024, 10)

    def forward(self, x: Tensor) -> Tensor:
        out = self.last(x.flatten(1))
        return out if out.mean() > 0 else out + 1


def method(name: str = "scn", **changes: object) -> Method:
    recipe = Recipe(batch_size=SPLIT_EVENLY, **changes)  # type: ignore[arg-type]
    return methods.get(name)(scn.transforms.get("rotation"), recipe, 3)


def recipe_of(chosen: Method) -> Recipe:
    assert isinstance(chosen.terms, Recipe)
    return chosen.terms


def batch(chosen: Method, seed: int) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(SPLIT_EVENLY, 1, 32, 32, generator=generator)
    y = torch.randint(0, 10, (SPLIT_EVENLY,), generator=generator)
    params = chosen.draw(recipe_of(chosen).alphas_per_batch, generator)
    return x, y, chosen.alphas(params, generator)


TERMS = {"entropy_weight": 0.3, "wrong_entropy_weight": 0.3, "evidence_weight": 0.5}
ONE_ALPHA: dict[str, float] = {"alphas_per_batch": 1}
CHANGES: tuple[dict[str, float], ...] = (
    {}, ONE_ALPHA, TERMS, {"mixed_precision": True}, {**ONE_ALPHA, "mixed_precision": True}
)  # fmt: skip
SHORT: list[Any] = [("one4all", Everything, {})]  # test_compile.py has compiled SCNs
CASES: list[Any] = [  # a case takes 4 to 30 seconds
    pytest.param(
        name, backbone, changes, marks=[] if (name, backbone, changes) in SHORT else pytest.mark.slow
    )
    for name, backbone in (("scn", Everything), ("one4all", Everything), ("scn", scn.backbones.MLP))
    for changes in CHANGES
]


@pytest.mark.parametrize(("name", "backbone", "changes"), CASES)
def test_the_same_gradients_and_the_same_statistics(
    name: str, backbone: type[nn.Module], changes: dict[str, float]
) -> None:
    chosen = method(name, **changes)
    torch.manual_seed(0)
    nets = [chosen.build(backbone)]
    nets.append(copy.deepcopy(nets[0]))
    plain, compiled = (
        kind(chosen, net, recipe_of(chosen).mixed_precision)
        for kind, net in zip((step.PlainStep, step.CompiledStep), nets, strict=True)
    )
    rounding = 0.02 if "mixed_precision" in changes else 1e-4
    for number in range(3):
        found = []
        for descend in (plain, compiled):
            torch.manual_seed(number)
            found.append(descend(*batch(chosen, number)))
        torch.testing.assert_close(found[1], found[0], rtol=rounding, atol=rounding)
        for mine, theirs in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
            assert mine.grad is not None
            assert theirs.grad is not None
            assert (mine.grad - theirs.grad).norm() <= rounding * max(1.0, float(mine.grad.norm()))
        torch.testing.assert_close(
            dict(nets[1].named_buffers()), dict(nets[0].named_buffers()), rtol=rounding, atol=rounding
        )
    x, y, alphas = batch(chosen, 0)
    with pytest.raises(ValueError, match="batches differ in shape"):
        compiled(x[:8], y[:8], alphas)


def test_a_backbone_that_decides_by_values_is_refused() -> None:
    chosen = method("one4all")
    with pytest.raises(ValueError, match="Undecided cannot be compiled: train with `compiled=False`"):
        step.CompiledStep(chosen, Undecided())(*batch(chosen, 0))


def test_without_a_compiler_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="needs a C\\+\\+ compiler"):
        step.CompiledStep(method(), method().build(scn.backbones.MLP))


def test_a_compiled_run_remembers_it_and_resumes_bit_for_bit(tmp_path: Path) -> None:
    """A copy of its folder in the middle of the run is what a killed process would have left."""
    recipe = Recipe(epochs=2, batch_size=32, compiled=True)
    config = plan_run("digits", "rotation", "mlp", "one4all", recipe, sizes={"width": 8})
    peace, killed = runs.create(tmp_path / "peace", config), tmp_path / "killed"

    def copy_in_the_middle(state: State, training: object, metrics: object) -> None:
        if state.step == 17 and not killed.exists():
            shutil.copytree(peace.folder, killed)

    train(peace, backbone_of(peace), checkpoint_minutes=1e-9, report=copy_in_the_middle)
    assert not runs.read(killed).is_trained
    assert run("train", "--resume", str(killed), "--quiet").code == 0
    assert runs.read(killed).model_file.read_bytes() == peace.model_file.read_bytes()


def test_the_option_asks_for_compiled_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Noted(step.PlainStep):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(given)

    monkeypatch.setattr(loop, "CompiledStep", Noted)
    for number, option in enumerate(((), ("--compile",))):
        folder = tmp_path / str(number)
        result = run("train", *SMALL, *option, "--epochs", "1", "-o", str(folder), "--quiet")
        assert result.code == 0, result.err
        assert len(made) == number == runs.read(folder).recipe().compiled
