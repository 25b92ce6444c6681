"""What a registry asks of a package beside its code: version, people, address, licence.

The code is made by scn and under its licence; the network, its version and its address are the user's. What a
person does not say is the truth about the code: its authors, and the page of the paper that it follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from scn.core.errors import ScnError
from scn.core.registry import nearest

AUTHORS = "The scn developers"
PAPER = "https://arxiv.org/abs/2305.13536"
LICENCE = "MIT"
LICENCE_TEXT = Path(__file__).with_name("LICENSE")
_NUMBER, _LABEL = r"(?:0|[1-9]\d*)", r"[0-9A-Za-z-]+"
SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-(?:{_NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:{_NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
    rf"(?:\+{_LABEL}(?:\.{_LABEL})*)?"
)
ADDRESS = re.compile(r"https?://[^\s/]+(?:/\S*)?")


@dataclass(frozen=True)
class Package:
    """author and maintainer: a name, or a name and <address>. url: a page for people about the package."""

    version: str = "1.0.0"
    author: str = AUTHORS
    maintainer: str = ""
    url: str = PAPER

    def __post_init__(self) -> None:
        if not self.maintainer:
            object.__setattr__(self, "maintainer", self.author)
        for name, value in self.to_json().items():
            if not value.strip() or not value.isprintable():
                raise ScnError(f"{name}={value!r} of the package is no line of text: say one")
        if not SEMVER.fullmatch(self.version):
            raise ScnError(f"the version {self.version} is not of three numbers: say one such as 1.0.0")
        if not ADDRESS.fullmatch(self.url):
            raise ScnError(f"the url {self.url} is no web page: say one such as https://example.org/network")
        if self.maintainer.lower().startswith("arduino"):
            raise ScnError("Arduino keeps maintainers whose name starts with Arduino to itself: say another")

    def to_json(self) -> dict[str, str]:
        return asdict(self)


NOBODY = Package()  # nobody has said anything


def package_of(said: Sequence[str]) -> Package:
    """From words of the form name=value."""
    known, values = [field.name for field in fields(Package)], {}
    for word in said:
        name, equals, value = word.partition("=")
        if name not in known:
            raise ScnError(f"a package has no {nearest(name, known)}")
        if not equals:
            raise ScnError(f"`package` takes name=value, but got {word!r}")
        values[name] = value
    return Package(**values)
