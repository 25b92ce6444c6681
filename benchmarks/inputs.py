"""What it takes to make a network's input of what a sensor sends, on emulated processors.

Instructions are counted by the emulator; cycles are an estimate from the table of the core's manual. What the
processor gives is compared with Python's, to the last bit. `python benchmarks/inputs.py [TARGET]`
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scn import methods, transforms
from scn.backbones import M5, MLP
from scn.data import Normalisation, to_float
from scn.data.sensing import Pcm, sensor_of
from scn.device import targets
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.device.trace import estimated_cycles
from scn.export import LabelledSamples, Options, Subject

INT8 = Options(weights="int8", inference="int8")
GREY, COLOUR, SOUND = (1, 32, 32), (3, 32, 32), (1, 16_000)
CASES = (
    ("camera:160x120:rgb565", GREY),
    ("camera:160x120:grey", GREY),
    ("camera:160x120:rgb565", COLOUR),
    ("camera:320x240:rgb565", GREY),
    ("camera:32x32:grey", GREY),
    ("pcm16:16000", SOUND),
)


class Untrained(Subject):
    """A network with random weights that is calibrated by noise."""

    @property
    def has_no_data(self) -> bool:
        return False

    @property
    def sample(self) -> Tensor:
        return torch.zeros(self.shape, dtype=torch.uint8 if len(self.shape) == 3 else torch.int16)

    @property
    def sample_rate(self) -> int | None:
        return None if len(self.shape) == 3 else 16_000

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        x = torch.randn(4, *self.shape, generator=torch.Generator().manual_seed(seed))
        return LabelledSamples(x, torch.zeros(4, dtype=torch.long), torch.zeros(4, 1))


def subject(shape: tuple[int, ...]) -> Subject:
    torch.manual_seed(0)
    net = MLP(shape, 10, 32) if len(shape) == 3 else M5(shape, 35)
    method = methods.get("one4all")(transforms.get("rotation" if len(shape) == 3 else "pitch"))
    return Untrained("net", net.eval(), method, shape, Normalisation(), "none.npz")


def cost(
    said: str, shape: tuple[int, ...], options: Options, target: targets.Target, whole: bool
) -> tuple[int, int]:
    """Instructions and estimated cycles of the way from samples to x, or to the outputs."""
    what, sensor = subject(shape), sensor_of(said)
    rng = np.random.default_rng(0)
    if isinstance(sensor, Pcm):
        kind, given = "int16_t", rng.integers(-(2**15), 2**15, (1, shape[1]), np.int16)
        x = sensor.wave(given[0], shape[1])
    else:
        kind, given = "uint8_t", rng.integers(0, 256, (1, sensor.size), np.uint8)
        x = sensor.picture(given[0], shape)  # type: ignore[arg-type]
    x = what.normalisation(to_float(x[None]))
    with tempfile.TemporaryDirectory() as folder:
        code = export(what, replace(options, input=said), Path(folder) / "export")
        function = ("infer_pcm" if kind == "int16_t" else "infer_frame") if whole else "prepare"
        outputs = code.outputs if whole else x.numel()
        lines = [
            '#include "net.h"',
            f"#define SUBJECT_INPUT {kind}",
            f"#define SUBJECT_INPUTS {given.shape[1]}",
            f"#define SUBJECT_OUTPUTS {outputs}",
            "#define SUBJECT_ALPHAS 0\n#define SUBJECT_DIMS 1",
            "#define SUBJECT_BETA(alpha, beta) 0\n#define SUBJECT_MIX(beta) 0",
            "#define SUBJECT_CONFIGURE(alpha) 0",
            f"#define SUBJECT_INFER(x, outputs) net_{function}(x, outputs)",
        ]
        code = replace(
            code,
            header="\n".join(lines) + "\n",
            inputs=given.shape[1],
            outputs=outputs,
            input_type=given.dtype.newbyteorder("<").str,
        )
        program, _ = build(code, target, Path(folder) / "build")
        groups = [Group(np.zeros(0, np.float32), given)]
        found = emulate(program, code, target, groups)
        if not whole and not np.array_equal(found.outputs[0], x.flatten().numpy()):
            raise SystemExit(f"{said}: the processor gives something else than Python")
        assert found.instructions is not None
        cycles = (estimated_cycles(program, code, target, groups[0]) or {}).get("infer", 0)
        return int(found.instructions["infer"][0]), cycles


def main() -> None:
    target = targets.get(sys.argv[1] if len(sys.argv) > 1 else targets.DEFAULT)
    print(f"{target.name}: instructions and estimated cycles")
    for said, shape in CASES:
        name = f"{said} to {'x'.join(map(str, shape))}"
        made = cost(said, shape, Options(), target, whole=False)
        print(f"{name:40} prepare {made[0]:>10,} {made[1]:>10,}", end="", flush=True)
        for label, options in (("float", Options()), ("int8", INT8)):
            found = cost(said, shape, options, target, whole=True)
            print(f"   {label} {found[0]:>10,} {found[1]:>10,}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
