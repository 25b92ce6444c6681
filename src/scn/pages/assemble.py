"""One page, one file: HTML, style, script, data and the drawing library in a single self-contained document.

The parts are ordinary files beside the code. Arrays are packed one behind the other, compressed, and unpacked
by the browser itself; a content security policy forbids the page every request to anywhere.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import NotThere, ScnError

SHARED = "scn.pages"


class Arrays:
    """Typed arrays for a page, one behind the other. `add` returns what the page needs to find one again.

    The first bytes of all numbers come first, then the second bytes and so on: alike bytes compress better.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def add(self, values: np.ndarray[Any, Any]) -> dict[str, Any]:
        """A description for the JSON of the page: type, shape and place."""
        ordered = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        raw = ordered.reshape(-1, 1).view(np.uint8).T.tobytes()
        found = {"type": values.dtype.name, "shape": list(values.shape), "at": self._length}
        self._parts.append(raw)
        self._length += len(raw)
        return found

    def packed(self) -> str:
        return _packed(b"".join(self._parts))


def assemble(
    package: str,
    scripts: Sequence[str],
    title: str,
    content: Mapping[str, Any],
    arrays: Arrays | None = None,
    *,
    shared: Sequence[str] = ("base.js",),
    draws: bool = True,
) -> bytes:
    """The page of a package that holds page.html, page.css and the named scripts.

    `shared` are scripts of all pages that come first; without `draws` the page has no drawing library.
    """
    style = _part(SHARED, "base.css") + _part(package, "page.css")
    texts = [*(_part(SHARED, name) for name in shared), *(_part(package, name) for name in scripts)]
    values = {
        "title": html.escape(title),
        "style": style,
        "content": _as_json(content),
        "arrays": (arrays or Arrays()).packed(),
        **({"library": _library()} if draws else {}),
        "script": "\n".join(texts),
    }
    page = _part(package, "page.html")
    for name, value in values.items():
        mark = f"<!-- {name} -->"
        if page.count(mark) != 1:
            raise RuntimeError(f"page.html of {package} must hold {mark} once")
        page = page.replace(mark, value)
    return page.encode()


def check_output(path: Path, command: str) -> None:
    """Refuse an output that cannot be written before any work is done."""
    helps = f"choose a file in a folder that you may write to, such as `{command} -o page.html`"
    if path.is_dir():
        raise ScnError(f"{path} is a folder, not a file for a page: {helps}")
    if path.suffix.lower() not in (".html", ".htm"):
        raise ScnError(f"{path} must end in .html, so that a browser opens it: {helps}")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise NotThere(f"{path} cannot be written, because there is no folder {parent}: {helps}")
    if not os.access(parent, os.W_OK):
        raise ScnError(f"{path} cannot be written, because {parent} is read-only: {helps}")


def finite(value: Any) -> Any:
    """The same content with None for numbers that JSON cannot say."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value


def _as_json(content: Mapping[str, Any]) -> str:
    text = json.dumps(finite(content), separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")  # must not end the script it stands in


def _part(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _packed(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


@cache
def _library() -> str:
    """plotly.js, as the Python package plotly brings it."""
    return _packed(files("plotly").joinpath("package_data", "plotly.min.js").read_bytes())
