"""What is said of an export where it is published: its name, its version, who it is from.

Sources: semver.org 2.0.0 (versions); docs.microsoft.com, "Naming Files, Paths, and Namespaces" (the
names of devices, which no file and no folder on Windows can have).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from mcu_deploy.errors import RequestError, UsageError, shorten
from mcu_deploy.options.checked import Checked
from mcu_deploy.options.flags import option
from mcu_deploy.version import VERSION

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LONGEST_NAME = 48  # a network's; with what formats put before it, fewer than any registry allows
_WINDOWS = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_BEFORE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"(?P<release>{_NUMBER}\.{_NUMBER}\.{_NUMBER})(?P<before>-{_BEFORE}(?:\.{_BEFORE})*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_AUTHOR = re.compile(
    r"(?P<name>[^<>]*[^<>\s])(?: +<(?P<email>[^<>\s@]+@[^<>\s@.]+(?:\.[^<>\s@.]+)+)>)?"
)
# What PlatformIO allows for a version and for each half of an author; the other formats allow more.
_LONGEST = 50
_LONGEST_URL = 255


@dataclass(frozen=True)
class Package:
    """An export as a library or package.

    name: letters, digits and underscores. version: of semver.org, of mcu-deploy where the user gave
    none. author, email, url: who it is from and a page about it; empty where the user said nothing.
    """

    name: str
    version: str = VERSION
    author: str = ""
    email: str = ""
    url: str = ""

    @property
    def release(self) -> str:
        """The three numbers of the version."""
        return _parts(self.version)["release"]

    @property
    def vendor(self) -> str:
        """Who a CMSIS-Pack is of, in its file's name too."""
        return self.author or "McuDeploy"

    @property
    def precedence(self) -> str:
        """The version without what was built how ("+..."), which does not order versions."""
        return self.version.partition("+")[0]

    @property
    def contact(self) -> str:
        """The author as he was given: NAME <EMAIL>, or NAME."""
        return f"{self.author} <{self.email}>" if self.email else self.author


@dataclass(frozen=True)
class About(Checked):
    """What a user says of an export, as it was typed; None where nothing was said."""

    name: str | None = option(
        None, "--name", "Of the library or package; the first network's by default."
    )
    version: str | None = option(
        None, "--version", "Of the library or package; mcu-deploy's by default."
    )
    author: str | None = option(None, "--author", "Who it is from.", metavar="'NAME <EMAIL>'")
    url: str | None = option(None, "--url", "A page about it; of a CMSIS-Pack, its folder.")

    def package(self, network: str) -> Package:
        """The package that is asked for, each value checked. network: the first one's name, of
        which the package's is made where none is given. Raises UsageError, and RequestError for a
        name that no package can have."""
        contact = None if self.author is None else _author(self.author)
        return Package(
            _name(self.name, network),
            VERSION if self.version is None else _version(self.version),
            contact["name"] if contact else "",
            (contact["email"] or "") if contact else "",
            "" if self.url is None else _url(self.url),
        )


def _name(name: str | None, network: str) -> str:
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(
            f"The name {shorten(name)!r} cannot be a library's in every ecosystem: give --name a "
            "letter, then letters, digits and underscores."
        )
    called = name or _library(network)
    if len(called) > _LONGEST_NAME:
        raise RequestError(
            f"The name {shorten(called)} has {len(called)} characters: give --name at most "
            f"{_LONGEST_NAME}, which every registry takes."
        )
    if _WINDOWS.fullmatch(called):
        raise RequestError(
            f"Windows has a device called {called!r}, and no file or folder of that name: give "
            "another with --name."
        )
    return called


def _library(network: str) -> str:
    """The name of a library with this network: it begins with a letter."""
    return network if network[0].isalpha() else f"network_{network.strip('_')}"


def _parts(version: str) -> re.Match[str]:
    found = _VERSION.fullmatch(version)
    if found is None or len(version) > _LONGEST:
        raise UsageError(
            f"The version {shorten(version)!r} is none of semver.org: give --version three numbers "
            "as in 1.4.0, then -rc.1 or +build.7 if need be."
        )
    return found


def _version(version: str) -> str:
    return _parts(version).group()


def _author(text: str) -> re.Match[str]:
    found = _AUTHOR.fullmatch(text.strip())
    if found is None or not text.isprintable():
        raise UsageError(
            f"The author {shorten(text)!r} is no name: give --author 'NAME' or "
            "'NAME <ADDRESS@HOST>', in one line."
        )
    for what, part in (("name", found["name"]), ("address", found["email"] or "")):
        if len(part) > _LONGEST:
            raise UsageError(
                f"The {what} of the author has {len(part)} characters: give --author at most "
                f"{_LONGEST} for each."
            )
    return found


def _url(text: str) -> str:
    try:
        split = urlsplit(text)
        is_named = "." in (split.hostname or "").strip(".")  # for others to find, too
        is_page = split.scheme in ("http", "https") and is_named and split.port != 0
    except ValueError:  # a port that is no number, half of an address in brackets
        is_page = False
    plain = re.fullmatch(r"[!#-;=?-\[\]_a-z~]+", text)  # RFC 3986, section 2
    if not is_page or plain is None or len(text) > _LONGEST_URL:
        raise UsageError(
            f"The URL {shorten(text)!r} is no page: give --url https://HOST/PATH, a HOST "
            f"like acme.com, no spaces, and at most {_LONGEST_URL} characters."
        )
    return text
