"""Archives, read member by member into memory: nothing is ever unpacked to the disk.

A member whose name or link leads out of the archive's own folder is refused all the same: no official
archive has one, so the file is not what it claims to be. A folder is read like the archive it came from.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scn.core.errors import ScnError

_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


@dataclass(frozen=True)
class Entry:
    """One file of an archive. `read` works until the next entry is asked for."""

    name: str
    read: Callable[[], bytes]

    @property
    def parts(self) -> list[str]:
        return self.name.split("/")

    @property
    def file(self) -> str:
        """The last part of the name."""
        return self.parts[-1]


def entries(path: Path) -> Iterator[Entry]:
    """The files of a folder, a .zip, a .deb, or a .tar with any packing, in the archive's own order."""
    if path.is_dir():
        yield from _of_folder(path)
        return
    with path.open("rb") as file, _whole(path):
        magic = file.read(len(_AR_MAGIC))
        file.seek(0)
        if magic.startswith(b"PK"):
            yield from _of_zip(file, path)
        elif magic == _AR_MAGIC:
            yield from _of_tar(_data_of_deb(file, path), path)
        else:
            yield from _of_tar(file, path)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """What the libraries say of a damaged archive, as one kind of error that names the file."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise ScnError(f"{path} is not a whole archive: {error}") from error


def _checked(name: str, path: Path) -> str:
    plain = name.replace("\\", "/")
    if plain.startswith("/") or ".." in plain.split("/") or plain[1:2] == ":":
        raise ScnError(f"{path} is refused: its member {name!r} leads out of the archive's own folder")
    return plain.removeprefix("./")


def _of_folder(path: Path) -> Iterator[Entry]:
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield Entry(file.relative_to(path).as_posix(), file.read_bytes)


def _of_zip(file: IO[bytes], path: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = _checked(member.filename, path)

            def read(member: zipfile.ZipInfo = member) -> bytes:
                with _whole(path):
                    return archive.read(member)

            if not member.is_dir():
                yield Entry(name, read)


def _of_tar(file: IO[bytes], path: Path) -> Iterator[Entry]:
    with tarfile.open(fileobj=file) as archive:
        for member in archive:
            name = _checked(member.name, path)
            if member.issym() or member.islnk():
                _checked(member.linkname, path)

            def read(member: tarfile.TarInfo = member) -> bytes:
                with _whole(path):
                    content = archive.extractfile(member)
                    assert content is not None
                    return content.read()

            if member.isfile():
                yield Entry(name, read)


def _data_of_deb(file: IO[bytes], path: Path) -> IO[bytes]:
    """The inner archive data.tar.*: a .deb is an `ar` file of three members."""
    file.seek(len(_AR_MAGIC))
    while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
        name, size = header[:16].decode("ascii", "replace").strip(), header[48:58].strip()
        if not size.isdigit():
            break
        content = file.read(int(size) + int(size) % 2)
        if name.startswith("data.tar"):
            return io.BytesIO(content)
    raise ScnError(f"{path} is not a whole Debian package: it has no data.tar")
