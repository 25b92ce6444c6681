"""A method may show its network several versions of a sample, around the backbone, and still load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from scn import methods, runs, transforms
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.methods.base import PlainMethod
from scn.runs import Run, backbone_of
from scn.runs.evaluation import evaluate_run
from scn.training.recipe import Recipe

TURNS = 4


class Pooled(nn.Module):
    """The largest output over the versions of a sample: (B, V, C, H, W) -> (B, classes)."""

    def __init__(self, branch: nn.Module) -> None:
        super().__init__()
        self.branch = branch

    def forward(self, x: Tensor) -> Tensor:
        return self.branch(x.flatten(0, 1)).unflatten(0, x.shape[:2]).amax(dim=1)


@dataclass(frozen=True)
class Pooling(PlainMethod):
    """Each sample as it is and turned further, in quarters."""

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return Pooled(backbone())

    def inputs(
        self,
        samples: Tensor,
        params: Tensor,
        normalisation: Callable[[Tensor], Tensor],
        assumed: Tensor | None = None,
    ) -> Tensor:
        x = super().inputs(samples, params, normalisation, assumed)
        return torch.stack([x.rot90(turn, (-2, -1)) for turn in range(TURNS)], dim=1)

    def shape_of(self, inputs: Tensor) -> tuple[int, ...]:
        return tuple(inputs.shape[2:])


@pytest.fixture
def pooled(small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, nn.Module]:
    monkeypatch.setitem(methods.registry._entries, "pooling", Pooling)
    recipe = Recipe(epochs=4, batch_size=32)
    run = runs.create(tmp_path / "run", plan_run(small_data, "rotation", "mlp", "pooling", recipe))
    return run, train(run, backbone_of(run), device="cpu", prefetch=False)


def test_the_wrapped_network_loads_and_predicts_the_same(pooled: tuple[Run, nn.Module]) -> None:
    run, net = pooled
    again = runs.read(run.folder).network()
    assert isinstance(again, Pooled)
    x = torch.randn(3, TURNS, 1, 32, 32)
    assert torch.equal(again.eval()(x), net(x))


def test_it_is_evaluated_through_its_own_inputs(pooled: tuple[Run, nn.Module]) -> None:
    run, net = pooled
    quarters = torch.tensor([[0.0], [90.0], [180.0], [270.0]])
    values = evaluate_run(run, net, quarters).values
    assert values.mean() > 0.3
    assert values.max() - values.min() < 0.03, "its maximum over quarters does not depend on a quarter"


def test_what_a_method_assumes_is_apart_from_what_is() -> None:
    method = methods.get("inverse")(transforms.get("rotation"))
    x = torch.rand(1, 1, 32, 32)
    right, wrong = (
        method.inputs(x, torch.tensor([40.0]), lambda shown: shown, assumed)
        for assumed in (None, torch.tensor([0.0]))
    )
    assert (right - x).abs().mean() < (wrong - x).abs().mean()
    assert torch.equal(
        wrong, method.transform.invert(method.transform.apply(x, torch.tensor([40.0])), torch.zeros(1))
    )
