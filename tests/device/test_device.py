"""Networks on emulated processors: the exported C answers as torch does, at a cost that is repeatable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from commands import run
from needs import emulated, wide_registers
from scn import SCN, backbones, methods, runs, transforms
from scn.data import Normalisation
from scn.device import targets
from scn.device.measure import DeviceRow, keep, measure
from scn.experiment.plan import plan_run
from scn.export import Options, Subject
from scn.training.recipe import Recipe

CORTEX = "cortex-m4f"


def target(name: str = CORTEX) -> targets.Target:
    return emulated(name)


def a_subject(
    backbone: str = "mlp",
    data: str = "digits",
    *,
    shape: tuple[int, ...] = (1, 32, 32),
    transform: str = "rotation",
    dims: int = 3,
    mixes: bool = True,
    params: list[float] | None = None,
    **sizes: Any,
) -> Subject:
    """A network with random weights whose logits are as large as those of trained ones."""
    torch.manual_seed(1)
    method = methods.get("scn" if mixes else "one4all")(transforms.get(transform), dims=dims)
    build, _ = backbones.factory(backbone, shape, 10 if data == "digits" else 4, **sizes)
    net: nn.Module = SCN(build(), method.transform.alpha_dim, dims) if mixes else build()
    with torch.no_grad():
        for norm in (m for m in net.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)):
            assert norm.running_mean is not None
            assert norm.running_var is not None
            norm.running_mean.uniform_(-0.1, 0.1)
            norm.running_var.uniform_(0.02, 0.1)
    chosen = None if params is None else torch.tensor(params)
    subject = Subject("net", net, method, shape, Normalisation(), data, chosen)
    with torch.no_grad():
        largest = subject.plain(subject.some_params())(torch.randn(8, *shape)).abs().max()
        last = [net.theta[:, -sum(net.subspace.sizes[-2:]) :]] if isinstance(net, SCN) else final(net)
        torch._foreach_mul_(last, 10 / largest.item())
    return subject


def final(net: nn.Module) -> list[Any]:
    """The weight and the bias of the last layer."""
    return list(net.parameters())[-2:]


@pytest.fixture(scope="session")
def waves(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Clips of 2,000 values of noise, in four classes."""
    rng = np.random.default_rng(0)
    clips = {f"x_{s}": rng.integers(-9000, 9000, (n, 2000)).astype(np.int16) for s, n in SPLITS.items()}
    return saved(tmp_path_factory.mktemp("waves") / "waves.npz", {**clips, "sample_rate": np.array(2000)})


@pytest.fixture(scope="session")
def colours(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Readings of three colours with the light level beside each."""
    rng = np.random.default_rng(0)
    readings = {f"x_{s}": rng.integers(0, 20000, (n, 3)).astype(np.int16) for s, n in SPLITS.items()}
    light = {f"params_{s}": rng.uniform(10, 760, (n, 1)).astype(np.float32) for s, n in SPLITS.items()}
    return saved(tmp_path_factory.mktemp("colours") / "colours.npz", {**readings, **light})


SPLITS = {"train": 8, "test": 40}


def saved(path: Path, arrays: dict[str, Any]) -> str:
    labels = {f"y_{split}": np.arange(n) % 4 for split, n in SPLITS.items()}
    np.savez(path, **{**arrays, **labels})
    return str(path)


@pytest.mark.parametrize(
    ("backbone", "shape", "sizes", "samples"),
    [
        ("mlp", (1, 32, 32), {}, 200),
        ("shallow-cnn", (1, 32, 32), {"width": 2}, 200),
        pytest.param("lenet5", (1, 32, 32), {}, 25, marks=pytest.mark.slow),
        ("m5", (1, 2000), {"width": 4}, 25),
    ],
)
def test_every_answer_on_a_cortex_m4f_is_that_of_torch(
    backbone: str, shape: tuple[int, ...], sizes: dict[str, Any], samples: int, tmp_path: Path, waves: str
) -> None:
    of_sound = len(shape) == 2
    subject = a_subject(
        backbone,
        waves if of_sound else "digits",
        shape=shape,
        transform="pitch" if of_sound else "rotation",
        **sizes,
    )
    row = measure(subject, Options(), target(), tmp_path, samples=samples, settings=8)
    assert row.inputs == 8 * samples
    assert row.max_difference <= 1e-4
    assert row.max_beta_difference is not None
    assert row.max_beta_difference <= 1e-6
    assert row.agreement == 1.0
    assert row.scores == row.torch_scores
    assert row.instructions is not None
    assert set(row.instructions) == {"hypernet", "configure", "infer"}


def small(subject: Subject, options: Options, folder: Path, name: str = CORTEX) -> DeviceRow:
    return measure(subject, options, target(name), folder, samples=5, settings=2)


@pytest.mark.parametrize("name", [name for name in targets.TARGETS if name != CORTEX])
def test_other_processors_answer_alike(name: str, tmp_path: Path) -> None:
    row = small(a_subject(width=4), Options(), tmp_path, name)
    assert row.max_difference <= 1e-4
    assert row.agreement == 1.0
    assert row.flash > row.weights > 3 * 4 * 4 * 1024
    if row.instructions is not None:
        assert row.instructions["infer"] > row.instructions["hypernet"] > 0


def test_the_wide_registers_of_a_pc_answer_alike(tmp_path: Path) -> None:
    host = target("host")
    wide = replace(host, flags=(*host.flags, *wide_registers()))
    row = measure(a_subject(width=9), Options(), wide, tmp_path, samples=50, settings=4)
    assert row.max_difference <= 1e-4
    assert row.agreement == 1.0
    narrow = measure(a_subject(width=9), Options(), host, tmp_path, samples=5, settings=1)
    if row.instructions and narrow.instructions:
        assert row.instructions["infer"] < 0.5 * narrow.instructions["infer"]


@pytest.mark.parametrize(
    "options",
    [
        Options(theta="row"),
        Options(theta="fixed"),
        Options(state="explicit"),
        Options(state="explicit", theta="fixed"),
        Options(double_buffer=True),
    ],
    ids=str,
)
def test_every_way_to_hold_theta_answers_alike(options: Options, tmp_path: Path) -> None:
    params = [75.0] if options.theta == "fixed" else None
    row = small(a_subject(width=4, params=params), options, tmp_path)
    assert row.max_difference <= 1e-4
    assert row.agreement == 1.0
    assert row.instructions is not None
    assert ("configure" in row.instructions) == (options.theta != "fixed")


@pytest.mark.parametrize(
    ("options", "near"),
    [
        (Options(weights="float16"), 0.02),
        (Options(weights="int8"), 0.3),
        (Options(weights="int8", inference="int8"), 0.6),
    ],
    ids=str,
)
def test_quantised_networks_answer_nearly_alike(options: Options, near: float, tmp_path: Path) -> None:
    row = measure(a_subject(width=8), options, target(), tmp_path, samples=50, settings=4)
    assert 1e-4 < row.max_difference <= near, "with logits up to about 10"
    assert row.agreement is not None
    assert row.agreement >= 0.98


def test_ram_does_not_depend_on_the_number_of_bases_and_flash_grows_by_a_base(tmp_path: Path) -> None:
    few, many = (small(a_subject(width=4, dims=d), Options(), tmp_path / str(d)) for d in (3, 16))
    weights = 1024 * 4 + 4 + 4 * 10 + 10
    assert many.static == few.static
    assert many.ram - few.ram <= 3 * 4 * 13, "nothing but beta, on the stack, while it is made"
    assert 13 * 4 * weights <= many.flash - few.flash <= 13 * 4 * weights * 1.1
    rows = small(a_subject(width=4), Options(theta="row"), tmp_path / "row")
    assert rows.static <= few.static - 4 * weights * 0.9, "theta is not in RAM"


def test_inference_of_a_configured_network_costs_what_the_plain_one_costs(tmp_path: Path) -> None:
    mixed = small(a_subject(width=8), Options(), tmp_path / "mixed")
    plain = small(a_subject(width=8, mixes=False), Options(), tmp_path / "plain")
    assert plain.instructions is not None
    assert mixed.instructions is not None
    assert set(plain.instructions) == {"infer"}
    assert plain.max_beta_difference is None
    assert mixed.instructions["infer"] == pytest.approx(plain.instructions["infer"], abs=16)


def test_counts_are_the_same_every_time(tmp_path: Path) -> None:
    subject = a_subject(width=4)
    assert small(subject, Options(), tmp_path / "a") == small(subject, Options(), tmp_path / "b")


def test_where_the_setting_is_measured_each_sample_has_its_own(tmp_path: Path, colours: str) -> None:
    subject = a_subject("mlp", colours, shape=(3,), transform="light", width=5)
    row = measure(subject, Options(), target(), tmp_path, samples=40)
    assert (row.inputs, row.settings) == (40, 40)
    assert row.max_difference <= 1e-4
    assert row.agreement == 1.0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"samples": 100_000}, "test samples, but 100000 were asked for"),
        ({"settings": 0}, "at least 1 setting"),
    ],
)
def test_too_many_samples_or_no_setting(more: dict[str, int], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        measure(a_subject(width=4), Options(), target(), tmp_path, **more)  # type: ignore[arg-type]


def a_run(folder: Path, method: str = "scn") -> Path:
    config = plan_run("digits", "rotation", "mlp", method, Recipe(), dims=2, sizes={"width": 4})
    made = runs.create(folder, config)
    subject = a_subject(width=4, dims=2, mixes=method == "scn")
    made.save_network(subject.network)
    return folder


@pytest.fixture(scope="session")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_run(tmp_path_factory.mktemp("one") / "run")


def test_the_command_measures_several_runs_and_keeps_the_result(tmp_path: Path) -> None:
    target()
    folders = [a_run(tmp_path / "scn-d2"), a_run(tmp_path / "one4all", "one4all")]
    arguments = [*map(str, folders), "--samples", "5", "--settings", "2", "--quiet"]
    result = run("device", *arguments, "--json", "--clock", "64", "--cycles-per-instruction", "1.5")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    assert [Path(row["name"]).name for row in content["rows"]] == ["scn-d2", "one4all"]
    for row in content["rows"]:
        assert row["max_difference"] <= 1e-4
        assert row["ram"] == row["static"] + row["stack"]
        assert row["flash"] == row["weights"] + row["code"]
        counts, estimate = row["instructions"], row["estimate"]
        assert estimate["assumptions"]["clock"] == 64
        assert estimate["milliseconds"]["infer"] == pytest.approx(counts["infer"] * 1.5 / 64e3)
    first = json.loads((folders[0] / "device.json").read_text())["rows"]
    assert [(row["target"], row["options"]["theta"]) for row in first] == [("cortex-m4f", "ram")]
    assert "estimate" not in first[0], "only what was measured is kept"


def test_the_table_names_its_assumptions_beside_an_estimate(tmp_path: Path) -> None:
    target()
    folder = a_run(tmp_path / "scn-d2")
    power = ["--clock", "64", "--cycles-per-instruction", "1.5", "--current", "5", "--voltage", "3.3"]
    result = run(
        "device", str(folder), "--alpha", "30", "--samples", "5", *power, "--keep", str(tmp_path / "files")
    )
    assert result.code == 0, result.err
    assert "Arm Cortex-M4" in result.out
    assert "estimated from the instructions, not measured, assuming 64 MHz and 1.5 cycles per" in result.out
    assert "5 mA at 3.3 V" in result.out
    assert (tmp_path / "files" / "scn_d2" / "export" / "scn_d2.c").is_file()
    options = json.loads((folder / "device.json").read_text())["rows"][0]["options"]
    assert options["theta"] == "fixed"


def a_row(**changed: Any) -> DeviceRow:
    values = dict.fromkeys(DeviceRow.__dataclass_fields__, 0) | {
        "target": CORTEX,
        "options": {"theta": "ram"},
        "scores": {},
        "torch_scores": {},
    }
    return DeviceRow(**{**values, **changed})


def test_a_new_measurement_takes_the_place_of_the_same_one_only(tmp_path: Path) -> None:
    for row in (
        a_row(flash=1),
        a_row(flash=2, options={"theta": "row"}),
        a_row(flash=3, target="rv32"),
        a_row(flash=4),
    ):
        keep(tmp_path, row)
    rows = json.loads((tmp_path / "device.json").read_text())["rows"]
    assert [row["flash"] for row in rows] == [2, 3, 4]


def test_a_new_network_voids_what_was_measured(tmp_path: Path) -> None:
    folder = a_run(tmp_path / "run")
    keep(folder, a_row())
    made = runs.read(folder)
    made.save_network(made.network())
    assert not (folder / "device.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z80"], 'there is no target "z80"'),
        (["--clock", "64"], "needs --clock and --cycles-per-instruction"),
        (["--theta", "fixed"], "--alpha"),
        (["--theta", "ram", "--alpha", "30"], "--alpha is for theta=fixed"),
        (["--weights", "int4"], 'there is no weights "int4"'),
        (["--samples", "100000"], "test samples, but 100000 were asked for"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2_and_leaves_no_file(
    arguments: list[str], message: str, one_run: Path, tmp_path: Path
) -> None:
    target()
    result = run("device", str(one_run), *arguments, "--quiet", "--keep", str(tmp_path / "files"))
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "files").exists()


def test_a_missing_tool_is_an_error_that_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_run(tmp_path / "run")
    monkeypatch.setenv("PATH", "")
    result = run("device", str(folder))
    assert result.code == 2
    assert "apt install gcc-arm-none-eabi" in result.err
