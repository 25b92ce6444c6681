"""A network in a browser: a WebAssembly module that describes itself, and a page for phone and desk."""

from scn.web.module import wasm
from scn.web.target import write

__all__ = ["wasm", "write"]
