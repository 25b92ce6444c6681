"""Shifting the pitch of 64 clips of one second, against the same work clip by clip; and slowing them down.

"Frame by frame" is the vocoder as it stands in textbooks: a loop over the frames of one clip, without
the neighbours that turn with a peak.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from scn import transforms
from scn.transforms.audio import resample
from timing import medians, report

N_FFT, HOP, CLIPS = 256, 64, 64


def shifted_frame_by_frame(clip: Tensor, semitones: float) -> Tensor:
    """clip: (T,) -> (T,)."""
    ratio, window = 2 ** (semitones / 12), torch.hann_window(N_FFT)
    spectrum = torch.stft(clip, N_FFT, HOP, window=window, pad_mode="constant", return_complex=True)
    columns = F.pad(spectrum, (0, 1)).unbind(dim=1)
    phase, frames = columns[0].angle(), []
    for i in range(int(len(columns) * ratio - ratio)):
        before = int(i / ratio)
        left, right = columns[before], columns[before + 1]
        frames.append(torch.polar(torch.lerp(left.abs(), right.abs(), i / ratio - before), phase))
        phase = phase + right.angle() - left.angle()
    slow = torch.istft(torch.stack(frames, dim=1), N_FFT, HOP, window=window)
    return resample(slow, len(clip))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for rate in (8000, 16000):
        compare(rate)


def compare(rate: int) -> None:
    """Time all ways at one sample rate."""
    pitch, speed, whole = transforms.get("pitch"), transforms.get("speed"), transforms.get("speed", "paper")
    up, slow = torch.tensor([5.0]), torch.tensor([0.3])
    x = 0.1 * torch.randn(CLIPS, 1, rate)
    each = torch.linspace(4.5, 5.5, CLIPS).view(-1, 1)
    contestants: dict[str, Callable[[], object]] = {
        "scn, one call": lambda: pitch.apply(x, up),
        "scn, a shift for each clip": lambda: pitch.apply(x, each),
        "scn, clip by clip": lambda: [pitch.apply(clip, up) for clip in x.split(1)],
        "clip by clip, frame by frame": lambda: [shifted_frame_by_frame(c, 5.0) for c in x[:, 0]],
        "scn, slowed to 0.3, 4 times as long": lambda: speed.apply(x, slow),
        "scn, slowed to 0.3, whole": lambda: whole.apply(x, slow),
    }
    seconds = medians(contestants, rounds=5)
    title = f"Shift {CLIPS} clips of one second at {rate} Hz by 5 semitones"
    report(title, seconds, "scn, one call", {"clip by clip, frame by frame": 10.0})


if __name__ == "__main__":
    main()
