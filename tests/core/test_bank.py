"""A bank holds K networks as they were when it was made."""

from __future__ import annotations

import torch

from scn import SCN
from scn.backbones import MLP


def test_a_bank_does_not_follow_later_changes_of_the_base_models() -> None:
    """Neither where weights were mixed, nor where a layer is shown the same by all and uses the bases."""
    net = SCN(MLP((1, 4, 4), 3, width=6, depth=2), alpha_dim=2, dims=3).eval()
    x, alpha = torch.randn(5, 1, 4, 4), torch.randn(4, 2)
    bank = net.bank(alpha)
    before = bank(x)
    torch.testing.assert_close(before, torch.stack([net(x, one) for one in alpha]).detach())
    with torch.no_grad():
        net.theta.mul_(3.0)
    assert torch.equal(bank(x), before)
