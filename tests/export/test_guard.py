"""The guard in C decides what the one in Python decides, and inference does what was decided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from guarded import KINDS, NOT_CONFIGURED, guarded, library, run_c, stream
from scn.export import Options
from scn.transforms.guard import REFUSE, AlphaGuard, Policy
from scn.transforms.guard.decisions import RANGE, RATE, TIMEOUT, WAITING

STREAMS = {
    "rotation": "range=refuse,rate=2+90/s:keep,timeout=2s:neutral,step=1",
    "brightness": "range=neutral,rate=0.5/s:refuse,timeout=400ms:keep,recover=2",
    "translation": "rate=1+100/s:neutral,rate.down=2+300/s:refuse,range.right=refuse,timeout=1s:refuse",
    "rotation+scaling": "rate.angle=5+200/s:keep,rate.factor=0.02+1/s:neutral,step.angle=2,recover=3",
    "rotation-3d": "range=refuse,rate=20+400/s:refuse,timeout=3s:neutral,recover=4",
    "light": "range=keep,timeout=1.5s:refuse,step=5",
}


@pytest.mark.parametrize("kind", STREAMS)
def test_c_decides_as_python_does(kind: str, tmp_path: Path) -> None:
    transform, text = KINDS[kind], STREAMS[kind]
    options = Options(guard=text)
    seen = stream(transform, 5000, seed=len(kind))
    found, wishes = run_c(library(guarded(transform), options, tmp_path), seen, transform.alpha_dim)
    guard = AlphaGuard(Policy.read(text, transform.parameters))
    decided = [
        guard.tick(int(now)) if is_tick else guard.reading(reading, int(now))
        for reading, now, is_tick in zip(seen.readings, seen.now, seen.is_tick, strict=True)
    ]
    assert [d.status for d in decided] == found[:, 0].tolist()
    assert [d.in_force for d in decided] == found[:, 1].tolist()
    wished = [i for i, d in enumerate(decided) if d.configure is not None]
    assert wished == np.flatnonzero(found[:, 2]).tolist()
    settings = torch.tensor(np.array([decided[i].configure for i in wished]))
    assert np.abs(wishes[wished] - transform.encode(settings).numpy()).max() < 1e-4
    assert set(found[:, 4]) == {0}
    statuses = {d.status for d in decided}
    assert statuses >= {0, RANGE}
    assert (RATE in statuses) == ("rate" in text)
    assert (TIMEOUT in statuses) == ("timeout" in text)
    assert len(wished) > 100
    refused = found[:, 1] == REFUSE
    assert (found[refused, 3] == NOT_CONFIGURED).all()
    assert refused.any() == ("refuse" in text)
    assert WAITING in statuses or text == STREAMS["brightness"]
