"""The MLP backbone: the paper's parameter count, and errors for impossible sizes."""

from __future__ import annotations

import pytest
import torch

from scn import backbones


@pytest.mark.parametrize(("width", "depth"), [(32, 1), (32, 5), (64, 3), (8, 2)])
def test_the_parameter_count_is_the_papers(width: int, depth: int) -> None:
    net = backbones.MLP(width=width, depth=depth, norm=False)
    expected = (32**2 + 1) * width + (depth - 1) * (width**2 + width) + 10 * (width + 1)
    assert sum(p.numel() for p in net.parameters()) == expected


@pytest.mark.parametrize(("depth", "norms"), [(3, 0), (4, 4), (5, 5)])
def test_deep_networks_have_norm_layers(depth: int, norms: int) -> None:
    net = backbones.MLP(depth=depth)
    assert sum(isinstance(m, torch.nn.BatchNorm1d) for m in net.modules()) == norms


@pytest.mark.parametrize(
    ("width", "depth", "widths"), [(12, 1, [12, 8, 5]), (48, 1, [48, 32, 20]), (12, 2, [12, 12, 8, 8, 5, 5])]
)
def test_a_tapering_network_gets_wider_and_deeper(width: int, depth: int, widths: list[int]) -> None:
    net = backbones.TaperingMLP(classes=43, width=width, depth=depth)
    linear = [m for m in net.modules() if isinstance(m, torch.nn.Linear)]
    assert [layer.out_features for layer in linear] == [*widths, 43]
    assert net(torch.randn(2, 1, 32, 32)).shape == (2, 43)


def test_the_first_layer_may_have_no_norm() -> None:
    """The network of the paper's table 1: 74,826 parameters, as published."""
    net = backbones.MLP(width=64, depth=3, norm=True, norm_first=False)
    assert [type(m).__name__ for m in net.layers][1:8] == [
        "Linear", "ReLU", "Linear", "BatchNorm1d", "ReLU", "Linear", "BatchNorm1d",
    ]  # fmt: skip
    assert sum(p.numel() for p in net.parameters()) == 74_826


def test_any_input_shape_and_class_count() -> None:
    assert backbones.MLP((3, 8, 8), classes=43)(torch.randn(2, 3, 8, 8)).shape == (2, 43)


@pytest.mark.parametrize("wrong", [{"width": 0}, {"depth": 0}, {"classes": 0}])
def test_impossible_sizes(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be at least 1, but is 0"):
        backbones.MLP(**wrong)  # type: ignore[arg-type]


def test_an_unknown_name_lists_the_known_and_the_nearest() -> None:
    with pytest.raises(ValueError, match=r'there is no backbone "mpl". Did you mean "mlp"\? Known:'):
        backbones.get("mpl")


def test_a_name_cannot_be_taken_twice() -> None:
    with pytest.raises(ValueError, match='the backbone "mlp" is registered already'):
        backbones.register("mlp")(torch.nn.Linear)
