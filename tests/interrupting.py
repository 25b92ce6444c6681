"""Programs in C in which calls of one network meet: by signals, by threads, by an interrupt of the emulator.

In all of them the network is asked with one x. Its outputs for two alphas are known from quiet calls, and
every answer must be one of them, to the bit: anything else is a mixture of two configurations.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import torch

from generated import compiled, subject
from scn import SCN
from scn.backbones import MLP
from scn.device.targets import FIRMWARE, Target
from scn.export import LabelledSamples, Options, Subject, c

MODES = {
    "static": Options(),
    "explicit": Options(state="explicit"),
    "double buffer": Options(double_buffer=True),
    "explicit, double buffer": Options(state="explicit", double_buffer=True),
    "row": Options(theta="row"),
    "int8": Options(weights="int8", inference="int8"),
    "int8, double buffer": Options(weights="int8", inference="int8", double_buffer=True),
    "int8, row": Options(weights="int8", inference="int8", theta="row"),
}


class Noise(Subject):
    """Calibrated by noise."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        x = torch.randn(16, *self.shape, generator=torch.Generator().manual_seed(seed))
        return LabelledSamples(x, torch.zeros(16, dtype=torch.long), torch.zeros(16, 1))


def written(options: Options, folder: Path, dims: int = 4, side: int = 16, seed: int = 0) -> Path:
    """A network whose mixing takes a while; returns its C file."""
    net = SCN(MLP((1, side, side), 3, 32), alpha_dim=2, dims=dims, seed=seed).eval()
    with torch.no_grad():  # far apart, so that two configurations are never alike
        net.map.get_parameter("output.weight").mul_(20)
    c.write(Noise(**vars(subject(net, (1, side, side)))), options, folder)
    return folder / "net.c"


# What every program begins with: the known outputs, and whether an answer is one of them.
COMMON = """
#include <stdint.h>
#include <string.h>
#include "net.h"
static const float alphas[2][2] = {{1.0f, 0.0f}, {-0.6f, 0.8f}};
static float x[NET_INPUT_SIZE], known[2][NET_CLASSES];
#ifdef EXPLICIT
static net_state own;
#define S &own,
#define ALONE &own
#else
#define S
#define ALONE
#endif
static int is_known(const float *logits)
{
    return !memcmp(logits, known[0], sizeof known[0]) || !memcmp(logits, known[1], sizeof known[1]);
}
static int learn(void)
{
    int i;
    for (i = 0; i < NET_INPUT_SIZE; i++) { x[i] = (float)(i % 7) / 7.0f - 0.5f; }
    for (i = 0; i < 2; i++) {
        if (net_configure(S alphas[i]) != SCN_OK || net_infer(S x, known[i]) != SCN_OK) { return 0; }
    }
    return memcmp(known[0], known[1], sizeof known[0]) != 0;
}
"""


def defines(options: Options) -> tuple[str, ...]:
    return ("-DEXPLICIT",) if options.state == "explicit" else ()


def ran(target: Target, options: Options, folder: Path, text: str, *flags: str) -> np.ndarray[Any, Any]:
    """The numbers that a program wrote which calls a network."""
    source = written(options, folder)
    (folder / "main.c").write_text(text)
    files = [source, folder / "main.c", *(FIRMWARE / name for name in target.board)]
    how = ("-std=gnu99", f"-I{FIRMWARE}", f"-I{folder}", *defines(options), *flags)
    compiled(
        target.compiler, *target.flags, *how, *files, *target.linking, "-Wl,-n", "-o", folder / "main.elf"
    )
    subprocess.run(
        [*target.emulator, "main.elf"], cwd=folder, check=True, timeout=120, stdin=subprocess.DEVNULL
    )
    return np.fromfile(folder / "out.bin", "<u4")
