"""What the arrays of a data file must be, and what is said of those that are not.

Labels are classes where they are whole numbers, counted from 0 without gaps unless `classes` names them all;
floating-point labels are values to predict. Every error names the array, what it holds and the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scn.core.errors import ScnError
from scn.data import forms
from scn.data.forms import Array, Arrays

SHOWN = 10  # missing labels that a message lists


def check_samples(arrays: Arrays, splits: Sequence[str]) -> None:
    """Refuse samples and measurements of a wrong form, or of different forms in two splits."""
    for split in splits:
        x, params = arrays[f"x_{split}"], arrays.get(f"params_{split}")
        if not forms.known(x):
            raise ScnError(f"x_{split} must be {forms.KNOWN}, but is {_said(x)}{forms.remedy(x)}")
        if len(x) == 0:
            raise ScnError(f"x_{split} has no samples: {_remedy_of_none(split)}")
        if params is not None:
            _check_params(params, split, len(x))
        for key in (f"x_{split}", f"params_{split}"):
            _check_alike(arrays, key, f"{key[: -len(split)]}train")


def _said(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _remedy_of_none(split: str) -> str:
    if split in ("train", "test"):
        return "a data file holds at least one for training and one for the test"
    return f"leave out x_{split} and y_{split}"


def _check_params(params: Array, split: str, count: int) -> None:
    good = params.dtype.kind in "iuf" and params.ndim == 2 and len(params) == count and params.shape[1] > 0
    if good and np.isfinite(params).all():
        return
    wrong = int(count - np.isfinite(params).all(axis=1).sum()) if good else 0
    remedy = f", {wrong} of them not finite: leave those samples out" if wrong else ""
    if params.ndim == 1:
        remedy = f": params_{split}[:, None] has that form"
    raise ScnError(
        f"params_{split} must be a row of finite numbers for each of {count} samples, but is "
        f"{_said(params)}{remedy}"
    )


def _check_alike(arrays: Arrays, key: str, first: str) -> None:
    """Images may differ in size, since all are brought to one; nothing else may."""
    if key not in arrays and first not in arrays:
        return
    missing = next((name for name in (key, first) if name not in arrays), None)
    if missing:
        raise ScnError(f"there is no {missing}, although the other splits have theirs")
    ours, theirs = arrays[key], arrays[first]
    kept = slice(3, None) if ours.dtype == np.uint8 else slice(1, None)
    if ours.dtype.kind != theirs.dtype.kind or ours.shape[kept] != theirs.shape[kept]:
        raise ScnError(f"{key} is {_said(ours)}, but {first} is {_said(theirs)}: splits have one form")


def found_labels(arrays: Arrays, splits: Sequence[str]) -> Arrays:
    """What is known of the labels once they are checked: `classes`, or `targets` and `target_units`."""
    if all(arrays[f"y_{split}"].dtype.kind == "f" for split in splits):
        return _found_targets(arrays, splits)
    for split in splits:
        x, y = arrays[f"x_{split}"], arrays[f"y_{split}"]
        if y.shape != x.shape[:1] or y.dtype.kind not in "iu":
            raise ScnError(
                f"y_{split} must be one whole number for each of {len(x)} samples (or, in every split, "
                f"floating-point values to predict), but is {_said(y)}"
            )
    return {"classes": _found_classes(arrays, splits)}


def _found_classes(arrays: Arrays, splits: Sequence[str]) -> Array:
    every = set(np.unique(np.concatenate([arrays[f"y_{split}"] for split in splits])).tolist())
    lowest, highest = min(every), max(every)
    classes = arrays.get("classes")
    if classes is None and lowest >= 0:
        _refuse_gaps(every)
        classes = np.array([str(i) for i in range(highest + 1)])
    if classes is None or classes.ndim != 1 or lowest < 0 or highest >= len(classes):
        named = 0 if classes is None else classes.size
        raise ScnError(
            f"it holds labels {lowest} to {highest}, but names {named} classes: labels count from 0, and "
            "`classes` is a list of names; values to predict are floating-point numbers"
        )
    return classes


def _refuse_gaps(labels: set[int]) -> None:
    missing = sorted(set(range(max(labels) + 1)) - labels) if max(labels) < 10**6 else []
    if len(labels) == max(labels) + 1:
        return
    listed = ", ".join(map(str, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
    raise ScnError(
        f"the labels go up to {max(labels)}, but only {len(labels)} occur"
        f"{f' (there is no {listed})' if listed else ''}: number the classes from 0 without gaps, by "
        "np.unique(y, return_inverse=True) over all splits, or name every class in `classes`; values to "
        "predict are floating-point numbers"
    )


def refuse_unlearnable(arrays: Arrays, classes: Sequence[str]) -> None:
    """Refuse classes that cannot be learnt: one alone, or one that the training samples lack."""
    known = set(np.unique(arrays["y_train"]).tolist())
    if len(classes) < 2 or len(known) < 2:
        only = ", ".join(classes[label] for label in known)
        raise ScnError(f"all training samples belong to one class ({only}): there is nothing to tell apart")
    for key in sorted(key for key in arrays if key.startswith("y_")):
        unknown = sorted(set(np.unique(arrays[key]).tolist()) - known)
        if unknown:
            names = ", ".join(f'{label} ("{classes[label]}")' for label in unknown[:SHOWN])
            raise ScnError(
                f"{key} has {len(unknown)} class(es) that no training sample has: {names}. Leave these "
                "samples out, or add some of them to the training data"
            )


def _found_targets(arrays: Arrays, splits: Sequence[str]) -> Arrays:
    shape = arrays["y_train"].shape[1:]
    for split in splits:
        _check_targets(arrays[f"y_{split}"], split, len(arrays[f"x_{split}"]), shape)
    count = shape[0] if shape else 1
    usual = ["target"] if count == 1 else [f"target {i}" for i in range(1, count + 1)]
    found = {"targets": arrays.get("targets", np.array(usual))}
    found["target_units"] = arrays.get("target_units", np.array([""] * count))
    found = {key: np.atleast_1d(names) for key, names in found.items()}
    for key, names in found.items():
        if names.shape != (count,):
            raise ScnError(
                f"`{key}` must be {count} name(s), one for each column of y, but is {_said(names)}"
            )
    return found


def _check_targets(y: Array, split: str, count: int, shape: tuple[int, ...]) -> None:
    if len(y) != count or y.ndim > 2 or 0 in y.shape or y.shape[1:] != shape:
        raise ScnError(
            f"y_{split} must be one value to predict for each of {count} samples, or a row of as many as in "
            f"y_train, but is {_said(y)}"
        )
    with np.errstate(over="ignore"):
        rows = y.astype(np.float32).reshape(count, -1)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ScnError(
            f"y_{split} has {count - int(finite.sum())} of {count} values that are not finite in single "
            f"precision, the first at {int(finite.argmin())}: leave those samples out"
        )
    constant = (rows == rows[0]).all(axis=0)
    if constant.any():
        raise ScnError(
            f"y_{split} has the same value {rows[0][constant][0]:g} for all {count} samples in column "
            f"{int(constant.argmax())}: there is nothing to predict, leave it out or take other samples"
        )
