"""Pitch and speed: where tones land, how long clips are, and that groups do not disturb each other."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from needs import real_file
from scn import transforms
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe
from scn.transforms.audio import fast_lengths, resample

PITCH, SPEED = transforms.get("pitch"), transforms.get("speed")
WHOLE = transforms.get("speed", "paper")
each = pytest.mark.parametrize("transform", [PITCH, SPEED, WHOLE], ids=["pitch", "speed", "speed-paper"])
RATE = 8000


def tone(frequency: float, rate: int = RATE, seconds: float = 1.0) -> Tensor:
    time = torch.arange(round(rate * seconds)) / rate
    return (0.5 * torch.sin(2 * math.pi * frequency * time)).view(1, 1, -1)


def noise(n: int = 4, length: int = 1000) -> Tensor:
    return 0.3 * torch.randn(n, 1, length, generator=torch.Generator().manual_seed(0))


def peak(x: Tensor, rate: int = RATE) -> float:
    """The strongest frequency of a single clip, to an eighth of a bin."""
    clip = x.flatten() * torch.hann_window(x.numel())
    return torch.fft.rfft(clip, n=8 * x.numel()).abs().argmax().item() * rate / (8 * x.numel())


def rms(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


def value(transform: transforms.Transform, number: float) -> Tensor:
    return torch.full((1,), number) if transform is not PITCH else torch.full((1,), 10 * number)


# pitch


@given(semitones=st.floats(-10, 10), frequency=st.floats(150, 2000), rate=st.sampled_from([8000, 16000]))
@settings(deadline=None, max_examples=25)
def test_a_tone_lands_on_the_shifted_pitch_and_keeps_its_length_and_strength(
    semitones: float, frequency: float, rate: int
) -> None:
    y = PITCH.apply(tone(frequency, rate), torch.tensor([semitones]))
    assert y.shape == (1, 1, rate)
    assert abs(peak(y, rate) - frequency * 2 ** (semitones / 12)) < 1  # a bin of a clip of one second
    assert rms(y[..., 500:-500]) == pytest.approx(0.5 / math.sqrt(2), rel=0.05)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_no_semitones_change_nothing(preset: str) -> None:
    x = noise()
    assert torch.equal(transforms.get("pitch", preset).apply(x, torch.zeros(1)), x)


def test_what_is_shifted_above_the_nyquist_frequency_does_not_come_back() -> None:
    assert rms(PITCH.apply(tone(3000), torch.tensor([10.0]))) < 0.01 * rms(tone(3000))


def test_a_shift_stays_where_it_was_in_time() -> None:
    x = torch.zeros(1, 1, RATE)
    x[..., 3000:4000] = tone(500)[..., :1000]
    for semitones in (-10.0, -3.0, 4.0, 10.0):
        y = PITCH.apply(x, torch.tensor([semitones]))
        outside = torch.cat([y[..., :2700], y[..., 4300:]], dim=-1)
        assert outside.square().sum() < 0.01 * y.square().sum()


@pytest.mark.parametrize("semitones", [-10.0, -4.0, 5.0, 10.0])
def test_the_loudness_follows_that_of_the_clip(semitones: float) -> None:
    loudness = 0.5 - 0.5 * torch.cos(2 * math.pi * 5 * torch.arange(RATE) / RATE)
    y = PITCH.apply(tone(600) * loudness, torch.tensor([semitones]))
    measured = y.view(-1, 80).square().mean(dim=1).mul(8).sqrt()
    expected = loudness.view(-1, 80).square().mean(dim=1).sqrt()
    assert (measured - expected).abs()[5:-5].mean() < 0.015


def test_a_clip_starts_at_full_strength() -> None:
    y = PITCH.apply(tone(700), torch.tensor([-4.0]))
    assert rms(y[..., :50]) == pytest.approx(rms(tone(700)), rel=0.03)


@given(semitones=st.floats(-6, 6))
@settings(deadline=None, max_examples=10)
def test_the_opposite_shift_brings_a_tone_back(semitones: float) -> None:
    params = torch.tensor([semitones])
    restored = PITCH.invert(PITCH.apply(tone(700), params), params)
    assert abs(peak(restored) - 700) < 1
    assert rms(restored[..., 500:-500]) == pytest.approx(rms(tone(700)), rel=0.05)


def test_silence_stays_silence() -> None:
    assert PITCH.apply(torch.zeros(2, 1, 2000), torch.tensor([5.0])).abs().max() == 0


def test_a_clip_shorter_than_a_frame() -> None:
    assert PITCH.apply(noise(2, 1), torch.tensor([-10.0])).shape == (2, 1, 1)
    assert PITCH.apply(noise(2, 100), torch.tensor([7.0])).isfinite().all()


def test_the_paper_has_longer_frames() -> None:
    paper = transforms.get("pitch", "paper")
    assert isinstance(paper, transforms.Pitch)
    assert (paper.n_fft, paper.hop) == (512, 128)
    assert abs(peak(paper.apply(tone(440, 16000), torch.tensor([7.0])), 16000) - 440 * 2 ** (7 / 12)) < 1


@pytest.mark.parametrize(("n_fft", "hop"), [(256, 128), (256, 0), (256, 60)])
def test_frames_that_do_not_overlap_enough(n_fft: int, hop: int) -> None:
    with pytest.raises(ValueError, match="n_fft must be a multiple of hop"):
        transforms.Pitch(n_fft, hop)


def test_semitones_are_encoded_as_parts_of_ten() -> None:
    assert torch.equal(PITCH.encode(PITCH.regular()), torch.arange(-10, 11).view(-1, 1) / 10)


def test_real_speech_moves_by_the_shift() -> None:
    with np.load(real_file("SCN_DATA_DIR", "speech-commands.npz")) as file:
        x = torch.from_numpy(file["x_train"][:1000:20]).float().div(32768).unsqueeze(1)
    x = x[x.square().mean((1, 2)) > 4e-4]
    for semitones in (-8.0, 4.0):
        y = PITCH.apply(x, torch.tensor([semitones]))
        shifts = torch.tensor([_shift(a, b) for a, b in zip(_bands(x), _bands(y), strict=True)])
        assert shifts.median().item() == pytest.approx(semitones, abs=0.5)
        assert rms(y) == pytest.approx(rms(x), rel=0.3)


def _bands(x: Tensor) -> Tensor:
    """Logarithmic energy in bands a quarter of a semitone apart, from 150 Hz: (B, bands)."""
    energy = torch.fft.rfft(x[:, 0]).abs().square().cumsum(dim=1)
    edges = (150 * 2 ** (torch.arange(216) / 48) * x.shape[-1] / RATE).long()
    return torch.nn.functional.avg_pool1d((energy[:, edges].diff(dim=1) + 1e-6).log(), 9, 1)


def _shift(before: Tensor, after: Tensor) -> float:
    """By how many semitones the bands match best."""
    scores = {}
    for k in range(-60, 61):
        a, b = before[max(0, -k) : len(before) - max(0, k)], after[max(0, k) : len(after) - max(0, -k)]
        scores[k / 4] = torch.corrcoef(torch.stack([a, b]))[0, 1].item()
    return max(scores, key=lambda shift: scores[shift])


# speed


@given(factor=st.floats(0.1, 1.0), frequency=st.floats(100, 3500))
@settings(deadline=None, max_examples=25)
def test_a_slowed_tone_is_lower_and_lasts_longer(factor: float, frequency: float) -> None:
    y = WHOLE.apply(tone(frequency), torch.tensor([factor]))
    assert y.shape[-1] == pytest.approx(RATE / factor, abs=1)
    assert abs(peak(y) - frequency * factor) < RATE / y.shape[-1]
    assert rms(y) == pytest.approx(0.5 / math.sqrt(2), rel=0.02)


@pytest.mark.parametrize("stretch", [1.0, 2.5, 4.0, 10.0])
def test_the_length_does_not_depend_on_the_factor(stretch: float) -> None:
    transform = transforms.Speed(stretch)
    y = transform.apply(noise(4), torch.tensor([[0.1], [0.37], [0.9], [1.0]]))
    assert y.shape == (4, 1, 1000 * stretch)
    for i, factor in enumerate((0.1, 0.37, 0.9, 1.0)):
        end = math.ceil(1000 / factor)
        assert y[i, :, end:].abs().sum() == 0
        assert y[i, :, : end // 2].abs().min() > 0


def test_full_speed_changes_nothing_but_the_silence_that_follows() -> None:
    x = noise()
    y = SPEED.apply(x, torch.ones(1))
    assert torch.equal(y[..., :1000], x)
    assert y[..., 1000:].abs().sum() == 0
    assert torch.equal(WHOLE.apply(x, torch.ones(1)), x)


def test_a_clip_that_gets_too_long_is_cut_to_its_loudest_part() -> None:
    x = torch.zeros(2, 1, 1000)
    x[0, 0, 50:150] = tone(1000)[0, 0, :100]
    x[1, 0, 800:900] = tone(2000)[0, 0, :100]
    y = transforms.Speed(1.0).apply(x, torch.tensor([0.1]))
    assert y.shape == x.shape
    torch.testing.assert_close(y.square().sum(-1), 10 * x.square().sum(-1), rtol=0.05, atol=0)
    assert [round(peak(clip), -1) for clip in y] == [100, 200]


def test_the_loudest_part_is_that_of_all_channels() -> None:
    x = torch.zeros(1, 2, 1000)
    x[0, 0, 50:150] = 0.1 * tone(1000)[0, 0, :100]
    x[0, 1, 800:900] = tone(2000)[0, 0, :100]
    y = transforms.Speed(1.0).apply(x, torch.tensor([0.1]))
    assert rms(y[:, 0]) < 0.01 * rms(y[:, 1])
    torch.testing.assert_close(y[:, 1].square().sum(), 10 * x[:, 1].square().sum(), rtol=0.05, atol=0)


@given(factor=st.floats(0.1, 1.0))
@example(factor=0.6663149031775025)  # near 2/3, where few lengths that are fast to transform have the ratio
@settings(deadline=None, max_examples=25)
def test_at_the_old_speed_a_whole_clip_is_what_it_was(factor: float) -> None:
    x, params = noise(2, 4000) * torch.hann_window(4000), torch.tensor([factor])
    x = resample(resample(x, 2000), 4000)  # speech is mostly in the lower half of the frequencies
    restored = WHOLE.invert(WHOLE.apply(x, params), params)
    assert restored.shape == x.shape
    assert rms(restored - x) < 0.1 * rms(x)


def test_the_old_speed_starts_where_the_clip_starts() -> None:
    x = torch.zeros(1, 1, 1000)
    x[..., 300:700] = tone(500)[..., :400]
    for factor in (0.3, 0.5, 1.0):
        params = torch.tensor([factor])
        restored = SPEED.invert(SPEED.apply(x, params), params)
        assert rms(restored - x) < 0.02 * rms(x)


def test_of_a_clip_that_was_cut_the_rest_comes_back_in_full_length() -> None:
    params = torch.tensor([0.1])
    restored = SPEED.invert(SPEED.apply(tone(1000), params), params)
    assert restored.shape == (1, 1, RATE)
    assert abs(peak(restored[..., :3200]) - 1000) < 2
    assert restored[..., 3300:].abs().max() == 0


@pytest.mark.parametrize("stretch", [0.5, 1000.0, float("nan")])
def test_a_stretch_out_of_range(stretch: float) -> None:
    with pytest.raises(ValueError, match="stretch must be from 1 to 128"):
        transforms.Speed(stretch)


def test_the_factor_is_alpha() -> None:
    assert torch.equal(SPEED.encode(SPEED.regular()), torch.linspace(0.1, 1, 10).view(-1, 1))


# both


@each
@pytest.mark.parametrize("invert", [False, True])
def test_groups_and_samples_agree_with_separate_calls(transform: transforms.Transform, invert: bool) -> None:
    x, params = noise(12), transform.sample(4, torch.Generator().manual_seed(1))
    params[0] = transform.parameters[0].low  # for the paper's speed the slowest group sets the length
    change = transform.invert if invert else transform.apply
    together = change(x, params)
    assert torch.equal(together, change(x, params))
    torch.testing.assert_close(change(x, params.repeat_interleave(3, 0)), together, atol=1e-5, rtol=0)
    if invert and transform is WHOLE:  # a single call takes the clip for a longer one
        return
    for group, row, clips in zip(together.split(3), params, x.split(3), strict=True):
        apart = change(clips, row)
        torch.testing.assert_close(group[..., : apart.shape[-1]], apart, atol=1e-5, rtol=0)
        assert group[..., apart.shape[-1] :].abs().sum() == 0


@each
def test_a_large_group_is_the_same_as_its_clips(transform: transforms.Transform) -> None:
    x, params = noise(40, 8000), value(transform, 0.4)
    y = transform.apply(x, params)
    torch.testing.assert_close(y[33:34], transform.apply(x[33:34], params), atol=1e-5, rtol=0)


@each
def test_a_louder_clip_gives_a_louder_result(transform: transforms.Transform) -> None:
    x, params = noise(), value(transform, 0.4)
    quiet, loud = transform.apply(x, params), transform.apply(8 * x, params)
    torch.testing.assert_close(8 * quiet, loud, atol=1e-3, rtol=1e-3)


@each
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_type_stays(transform: transforms.Transform, dtype: torch.dtype) -> None:
    x, params = noise().to(dtype), value(transform, 0.5)
    y = transform.apply(x, params)
    assert y.dtype == transform.invert(y, params).dtype == dtype
    if dtype in (torch.float16, torch.bfloat16):
        assert torch.equal(y, transform.apply(x.float(), params).to(dtype))


@each
def test_several_channels_are_several_clips(transform: transforms.Transform) -> None:
    x = noise(2).repeat(1, 3, 1)
    y = transform.apply(x, value(transform, 0.7))
    torch.testing.assert_close(y[:, 1:2], transform.apply(x[:, :1], value(transform, 0.7)))


@each
def test_an_empty_batch_stays_empty(transform: transforms.Transform) -> None:
    params = value(transform, 0.5)
    length = {PITCH: 1000, SPEED: 4000, WHOLE: 2000}[transform]
    assert transform.apply(noise(0), params).shape == (0, 1, length)


@each
def test_the_input_is_left_alone(transform: transforms.Transform) -> None:
    x = noise()
    for number in (0.3, 1.0):
        transform.apply(x, value(transform, number)).zero_()
        transform.invert(x, value(transform, number)).zero_()
    transform.apply(x, torch.full((1,), 0.0 if transform is PITCH else 1.0)).zero_()
    assert torch.equal(x, noise())


@each
@pytest.mark.parametrize(
    ("params", "message"),
    [
        (torch.tensor([float("nan")]), "finite"),
        (torch.tensor([1000.0]), "must be from .* but is 1000"),
        (torch.tensor([-1000.0]), "must be from .* but is -1000"),
        (torch.ones(3, 1), "3 params cannot be shared out over a batch of 4"),
        (torch.ones(2), r"1 value\(s\) in a row"),
    ],
)
def test_wrong_params(transform: transforms.Transform, params: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transform.apply(noise(), params)


@each
@pytest.mark.parametrize(
    "x", [torch.zeros(4, 1, 8, 8), torch.zeros(4, 800), torch.zeros(4, 1, 0), torch.zeros(4, 1, 9).short()]
)
def test_what_is_no_waveform(transform: transforms.Transform, x: Tensor) -> None:
    with pytest.raises(ValueError, match=r"changes waveforms, floating-point \(B, channels, T\)"):
        transform.apply(x, value(transform, 0.5))


def test_waveforms_are_no_images() -> None:
    with pytest.raises(ValueError, match="images must be floating-point"):
        transforms.get("rotation").apply(noise(), torch.tensor([10.0]))


# the Fourier transforms behind them


@given(before=st.integers(3, 300), after=st.integers(3, 300))
@settings(deadline=None, max_examples=50)
def test_resampling_a_periodic_tone_is_exact(before: int, after: int) -> None:
    cycles = (min(before, after) - 1) // 2
    phase = [2 * math.pi * cycles * torch.arange(n, dtype=torch.float64) / n for n in (before, after)]
    torch.testing.assert_close(resample(phase[0].cos() + 1, after), phase[1].cos() + 1)


def test_resampling_drops_what_only_the_nyquist_frequency_has() -> None:
    assert resample(torch.tensor([1.0, -1.0]).repeat(8), 32).abs().max() < 1e-6


@given(least=st.integers(64, 20_000), ratio=st.floats(0.1, 10))
@settings(deadline=None, max_examples=50)
def test_lengths_are_fast_and_close_to_the_ratio(least: int, ratio: float) -> None:
    n, m = fast_lengths(least, ratio)
    assert least <= n < 2 * least + 64
    assert abs(m - n * ratio) <= max(0.5, 1e-3 * m)
    assert max(_primes(n) + _primes(m)) <= 31
    if n >= 1.13 * least + 64:  # only where no shorter ones keep a clip's length to a tenth of a sample
        near = [
            (short, round(short * ratio) + k)
            for short in _fast(least, least * 9 // 8)
            for k in (-2, -1, 0, 1, 2)
        ]
        good = [(a, b) for a, b in near if abs(b / (a * ratio) - 1) * least < 0.1]
        assert not any(max(_primes(b)) <= 31 for _, b in good if b > 1)


def _fast(low: int, high: int) -> list[int]:
    return [number for number in range(low, high) if max(_primes(number)) <= 31]


def _primes(number: int) -> list[int]:
    found, prime = [1], 2
    while number > 1:
        while number % prime == 0:
            found, number = [*found, prime], number // prime
        prime += 1
    assert all(a <= b for a, b in pairwise(found))
    return found


def test_a_backbone_of_one_size_is_refused_where_inputs_have_several(tmp_path: Path) -> None:
    tones = (np.sin(np.arange(400) * 0.1)[None] * 20000).repeat(32, axis=0).astype(np.int16)
    labels = np.arange(32) % 4
    own = tmp_path / "tones.npz"
    np.savez(own, x_train=tones, y_train=labels, x_test=tones, y_test=labels, sample_rate=800)
    recipe = Recipe(epochs=1, batch_size=16)
    with pytest.raises(ValueError, match=r"takes inputs of one size, but speed \(preset paper\)"):
        plan_run(str(own), "speed", "mlp", "scn", recipe, dims=2, preset="paper")
    plan_run(str(own), "speed", "mlp", "scn", recipe, dims=2)
