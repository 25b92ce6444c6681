"""A sheet of samples as a transform meets them, above what it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from scn.plots.style import BLUE


def draw_samples(rows: Sequence[tuple[Tensor, Sequence[str]]], title: str, path: Path) -> None:
    """Write the sheet: one line of small pictures for each row of samples (N, ...) and N captions.

    A sample is an image (C, H, W) in [0, 1], a waveform (T,) or (1, T), points (P, 3) seen along the last
    axis, or a few readings (F,).
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    count = len(rows[0][1])
    wide = is_waveform(rows[0][0][0])
    across, down = (len(rows), count) if wide else (count, len(rows))
    size = (4.2 * across, 1.1 * down + 0.5) if wide else (1.3 * across, 1.55 * down + 0.4)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for line, (samples, captions) in enumerate(rows):
        for place, (sample, caption) in enumerate(zip(samples, captions, strict=True)):
            axes = grid[place, line] if wide else grid[line, place]
            draw_sample(axes, sample)
            axes.set_title(caption, fontsize=7)
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def is_waveform(sample: Tensor) -> bool:
    """Whether a sample is values over time: more than a few readings, and one channel at most."""
    return sample.dim() in (1, 2) and sample.shape[-1] > 16 and sample.numel() == sample.shape[-1]


def draw_sample(axes: Any, sample: Tensor) -> None:
    """One sample of any form, without ticks."""
    axes.set_xticks([])
    axes.set_yticks([])
    if is_waveform(sample):
        draw_waveform(axes, sample.flatten())
    elif sample.dim() == 3:
        image = sample.clamp(0, 1).permute(1, 2, 0).numpy()
        axes.imshow(image if image.shape[2] in (3, 4) else image[..., 0], cmap="gray", vmin=0, vmax=1)
    elif sample.dim() == 2 and sample.shape[1] == 3:
        axes.scatter(*sample[:, :2].T.numpy(), s=0.2, color=BLUE, linewidths=0)
        axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    elif sample.dim() == 1:
        axes.bar(range(len(sample)), sample.numpy(), color=BLUE)
    else:
        raise ValueError(f"a sample of shape {tuple(sample.shape)} cannot be drawn")


def draw_waveform(axes: Any, waveform: Tensor) -> None:
    """waveform: (T,) in [-1, 1], on an axis that ends where the loudest sample does."""
    loudest = max(float(waveform.abs().max()), 1e-3)
    axes.plot(waveform.numpy(), color=BLUE, linewidth=0.4)
    axes.set(xlim=(0, len(waveform)), ylim=(-loudest, loudest))
