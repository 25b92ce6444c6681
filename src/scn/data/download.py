"""One file from the web: resumed where it stopped, checked, and only then given its name.

While it grows it is called NAME.part. Its address must be https; plain http is taken from this very
machine, where the person said so, or where a sha256 proves what arrived.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from scn.core.errors import Failed, ScnError
from scn.core.storage import failures_named
from scn.data.watch import Watch, unwatched

CHUNK = 1 << 18
ATTEMPTS = 3  # of a connection that breaks off
TIMEOUT = 60.0
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class BrokenOff(Failed):
    """A connection that ended before the file did."""


class WrongFile(Failed):
    """A file that came, but is not the one that was asked for."""


@dataclass(frozen=True)
class Remote:
    """A file at an address. size in bytes and checksum ("sha256:...", "md5:...") where they are known."""

    url: str
    size: int | None = None
    checksum: str | None = None

    @property
    def name(self) -> str:
        return urllib.parse.unquote(urllib.parse.urlsplit(self.url).path).rsplit("/", 1)[-1]

    @property
    def check(self) -> str:
        """What a download is checked against, in words."""
        kinds = ["size"] * (self.size is not None)
        kinds += [self.checksum.split(":")[0]] if self.checksum else []
        return " and ".join(kinds) or "not checked"

    def difference(self, path: Path) -> str | None:
        """What is wrong with a local copy, or None."""
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"it has {size:,} bytes instead of {self.size:,}"
        if self.checksum is not None:
            kind, expected = self.checksum.split(":")
            with path.open("rb") as file:
                found = hashlib.file_digest(file, kind).hexdigest()
            if found != expected:
                return f"its {kind} is {found} instead of {expected}"
        return None


def download(remote: Remote, folder: Path, watch: Watch = unwatched, *, plain: bool = False) -> Path:
    """The file in `folder`, whole and checked. plain: the person gave this address, http is allowed."""
    plain = plain or (remote.checksum or "").startswith("sha256:")
    if not _allowed(remote.url, plain):
        raise ScnError(f"{remote.url} is refused: data are fetched by https")
    target = folder / remote.name
    if target.is_file():
        if wrong := remote.difference(target):
            raise WrongFile(f"{target} is not {remote.url}: {wrong}. Remove it to fetch it again")
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{remote.name}.part"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _go_on(remote, part, watch, plain)
            break
        except BrokenOff:
            if attempt == ATTEMPTS:
                raise
    if wrong := remote.difference(part):
        part.unlink()
        raise WrongFile(f"what came from {remote.url} is not the expected file: {wrong}")
    return part.replace(target)


def _go_on(remote: Remote, part: Path, watch: Watch, plain: bool) -> None:
    """Fetch what `part` lacks."""
    have = part.stat().st_size if part.exists() else 0
    if remote.size is not None and have > remote.size:
        part.unlink()
        have = 0
    if have and have == remote.size:
        return
    try:
        response = _open(remote.url, have, plain)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and have:  # the part is as long as the file, or longer
            part.unlink()
            raise BrokenOff(f"{remote.url} has no bytes after {have:,}") from error
        raise Failed(f"{remote.url} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"{remote.url} cannot be reached: {getattr(error, 'reason', error)}") from error
    with response:
        start, total = _extent(response, have)
        if None not in (remote.size, total) and total != remote.size:
            raise WrongFile(f"{remote.url} has {total:,} bytes instead of {remote.size:,}")
        with part.open("ab" if start else "wb") as file:
            count = None if total is None else -(-(total - start) // CHUNK)
            for chunk in watch(_chunks(response, remote.url), f"get {remote.name}", count):
                with failures_named(part):
                    file.write(chunk)
    got = part.stat().st_size
    if total is not None and got < total:
        raise BrokenOff(
            f"{remote.url} broke off after {got:,} of {total:,} bytes: the same command goes on from there"
        )


def _chunks(response: IO[bytes], url: str) -> Iterator[bytes]:
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise BrokenOff(f"{url} broke off: {error!r}. The same command goes on from there") from error


def _extent(response: Any, have: int) -> tuple[int, int | None]:
    """Where the answer starts in the file, and how long the whole file is, if the server says so."""
    length = response.headers.get("Content-Length")
    left = int(length) if length is not None and length.isdigit() else None
    start = have if response.status == 206 else 0  # a server may send the whole file again
    if start and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise Failed(f"{response.url} sent another part than was asked for")
    return start, None if left is None else start + left


def _open(url: str, start: int, plain: bool) -> Any:
    class Redirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *arguments: Any) -> urllib.request.Request | None:
            if not _allowed(arguments[-1], plain):
                raise Failed(f"{url} leads to {arguments[-1]}, which is not https")
            return super().redirect_request(*arguments)

    headers = {"User-Agent": "scn"} | ({"Range": f"bytes={start}-"} if start else {})
    request = urllib.request.Request(url, headers=headers)
    return urllib.request.build_opener(Redirect).open(request, timeout=TIMEOUT)


def _allowed(url: str, plain: bool) -> bool:
    address = urllib.parse.urlsplit(url)
    if address.scheme == "http":
        return plain or address.hostname in THIS_MACHINE
    return address.scheme == "https"
