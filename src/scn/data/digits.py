"""The embedded data set: 1,797 handwritten digits of 8x8 pixels that come with scikit-learn."""

from __future__ import annotations

from functools import cache

import numpy as np

from scn.data.dataset import Arrays
from scn.data.sources import Request, Source, register

TEST_SHARE = 0.25


def read(_: Request) -> Arrays:
    """The digits are read once a process; nobody can write to them."""
    return dict(_divided())


@cache
def _divided() -> Arrays:
    """A fixed quarter of the digits, drawn class by class, is the test split."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = (digits.images * (255 / 16)).round().astype(np.uint8)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits.target, test_size=TEST_SHARE, random_state=0, stratify=digits.target
    )
    arrays = {
        "x_train": x_train,
        "y_train": y_train,
        "x_test": x_test,
        "y_test": y_test,
        "classes": np.array([str(i) for i in range(10)]),
        "provenance": np.array(
            "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, 1998, UCI Machine "
            "Learning Repository, CC BY 4.0; the 1,797 test images as distributed by scikit-learn"
        ),
    }
    for array in arrays.values():
        array.setflags(write=False)
    return arrays


register(
    Source(
        name="digits",
        description="1,797 handwritten digits, 8x8, of scikit-learn",
        licence="CC BY 4.0",
        read=read,
    )
)
