"""Plans: what cannot work is found out before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import run
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe

WRONG = {
    "TooFew": "returns (2, 7) for 2 inputs, but must return (2, 10): 10 values for each",
    "Pair": "returns a tuple, but must return one tensor",
    "Dense": "returns (2, 10, 32, 32) for 2 inputs, but must return (2, 10)",
    "OtherSize": "cannot take inputs of shape (1, 32, 32): mat1 and mat2 shapes cannot be multiplied",
    "Demanding": "cannot be made: missing a required argument: 'hidden'",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_network_of_ones_own_that_cannot_work_is_found_out_first(
    command: str, name: str, tmp_path: Path
) -> None:
    result = run(command, "--backbone", f"own_networks:{name}", "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert f"the backbone own_networks:{name} {WRONG[name]}" in result.err
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_fault_in_a_network_of_ones_own_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        run("train", "--backbone", "own_networks:Faulty", "-o", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_network_of_ones_own_that_works_is_taken() -> None:
    config = plan_run("digits", "rotation", "own_networks:Right", "one4all", Recipe())
    assert config.backbone == {"class": "own_networks:Right", "arguments": {"classes": 10}}
