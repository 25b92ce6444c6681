"""Calibration: values get 16 bits only where 8 change predictions, whatever order the settings have."""

from __future__ import annotations

import torch

from generated import subject
from scn import SCN
from scn.backbones import MLP
from scn.export import calibrate, interpret
from scn.export.c import graph_of


def test_8_bits_are_enough_under_many_settings_where_they_are_under_each() -> None:
    """Predictions were compared with those for other samples, and everything got 16 bits."""
    torch.manual_seed(0)
    net = SCN(MLP((1, 6, 6), 3, 16), alpha_dim=2, dims=3, seed=1).eval()
    graph = graph_of(subject(net, (1, 6, 6)), net)
    angles = torch.linspace(0, 6, 8).repeat_interleave(16)
    betas = net.beta(torch.stack([angles.cos(), angles.sin()], dim=1)).detach().double()
    x = torch.randn(128, 1, 6, 6)
    logits = torch.cat(
        [
            interpret.run(interpret.Float(graph, beta), sample.double())[graph.output].flatten(1)
            for sample, beta in zip(x.split(1), betas, strict=True)
        ]
    )
    clear = logits.topk(2, dim=1).values.diff(dim=1).abs().flatten() > 0.1 * logits.abs().max()
    found = calibrate.calibrate(graph, x[clear], betas[clear], lambda logits: logits.argmax(dim=1))
    hidden = [op.target for op in graph.ops if op.target != graph.output]
    assert {found[value].bits for value in hidden if found[value] != found[0]} == {8}
