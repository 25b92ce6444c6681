"""Texts of a page cannot break it, and a mixture that jumps is told wherever it does."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from scn import transforms
from scn.pages.assemble import assemble
from scn.report.warnings import jumps


def test_no_name_ends_the_script_that_it_stands_in() -> None:
    """A class, a folder or a unit may be called anything."""
    name = "</script><!-- oh"
    plain = assemble("scn.report", [], "title", {"name": ""}).decode()
    page = assemble("scn.report", [], "title", {"name": name}).decode()
    assert page.count("</script>") == plain.count("</script>")
    assert page.count("<!--") == plain.count("<!--")
    start = page.index('{"name":')
    assert json.JSONDecoder().raw_decode(page, start)[0] == {"name": name}


def test_a_jump_where_the_circle_closes_is_told() -> None:
    """It lies between the last value of the grid and the first."""

    def beta(alpha: Tensor) -> Tensor:
        share = torch.atan2(alpha[..., 1], alpha[..., 0]).remainder(2 * torch.pi) / (2 * torch.pi)
        share = share.where(share < 1 - 1e-6, 0.0)
        return torch.stack([share, 1 - share], dim=-1)

    net: Any = SimpleNamespace(beta=beta, map=torch.nn.Linear(2, 2))
    (text,) = jumps(net, transforms.get("rotation"))
    assert "not continuous in angle" in text
    assert "near 359.8" in text
