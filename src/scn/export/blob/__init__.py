"""Base models as a blob: the weights of a network as one file, apart from the code that computes with them.

`format` is the file, `layout` says where the tables of a network lie in it, `code` is the C that checks and
uses it, and `target` writes a blob for firmware that is there already.
"""

from scn.export.blob.format import Blob, read

__all__ = ["Blob", "read"]
