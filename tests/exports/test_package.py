"""Who an export is from: values that are checked, in the fields that each format has, and names
that a registry or a system keeps for itself."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import call

from mcu_deploy.api.exporting import export
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.exports.formats import formats
from mcu_deploy.exports.package import About
from mcu_deploy.exports.packing import pack
from mcu_deploy.version import VERSION as OURS

VERSION, AUTHOR, URL = "1.4.0-rc.1+b7", "Acme <nn@acme.com>", "https://acme.com/nn?a=1&b=2"


def said_of(folder: Path, format: str) -> tuple[object, ...]:
    """Version, author, address and page, where a format has these."""
    if format == "arduino":
        lines = (folder / "library.properties").read_text().splitlines()
        found = dict(line.split("=", 1) for line in lines)
        return found["version"], found["author"], found["maintainer"], found["url"]
    if format == "platformio":
        found = json.loads((folder / "library.json").read_text())
        (author,) = found["authors"]
        return found["version"], f"{author['name']} <{author['email']}>", found["homepage"]
    if format == "rust":
        found = tomllib.loads((folder / "Cargo.toml").read_text())["package"]
        return found["version"], *found["authors"], found["homepage"]
    if format == "cmake":
        text = (folder / "CMakeLists.txt").read_text()
        return re.findall(r'project\(mcu_networks VERSION (\S+) HOMEPAGE_URL "(\S+)"', text)[0]
    return ()


@pytest.mark.needs_arm_gcc
def test_each_format_says_it_where_it_has_a_field(tmp_path: Path, sine: Path) -> None:
    about = {"version": VERSION, "author": AUTHOR, "url": URL}
    for format in set(formats()) - {"cmsis-pack", "mlf"}:
        export(sine, format, tmp_path / format, **about)
        readme = (tmp_path / format / "README.md").read_text()
        plain = r"Version 1.4.0-rc.1+b7, by Acme \<nn@acme.com\>: <https://acme.com/nn?a=1&b=2>"
        assert plain in readme
    assert said_of(tmp_path / "arduino", "arduino") == (VERSION, AUTHOR, AUTHOR, URL)
    assert "placeholder" not in (tmp_path / "arduino/README.md").read_text()
    assert said_of(tmp_path / "platformio", "platformio") == (VERSION, AUTHOR, URL)
    assert said_of(tmp_path / "rust", "rust") == (VERSION, AUTHOR, URL)
    assert said_of(tmp_path / "cmake", "cmake") == ("1.4.0", URL)


@pytest.mark.needs_arm_gcc
def test_a_pack_is_of_its_author(
    tmp_path: Path, sine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = export(sine, "cmsis-pack", version=VERSION, author=AUTHOR, url=URL)
    assert done.path.name == f"Acme.sine.{VERSION}.pack"
    described = ElementTree.fromstring(zipfile.ZipFile(done.path).read("Acme.sine.pdsc"))
    texts = [described.findtext(tag) for tag in ("vendor", "name", "url", "supportContact")]
    assert texts == ["Acme", "sine", URL + "/", "nn@acme.com"]
    runtime, network = described.iter("component")
    assert (runtime.attrib["Cvendor"], runtime.attrib["Cversion"]) == ("McuDeploy", OURS)
    assert network.attrib["Cversion"] == "1.4.0-rc.1"


@pytest.mark.needs_arm_gcc
def test_without_them_the_placeholders_of_arduino_are_named(tmp_path: Path, sine: Path) -> None:
    export(sine, "arduino", tmp_path / "sine")
    readme = (tmp_path / "sine/README.md").read_text()
    assert "author and maintainer and the URL are placeholders" in readme
    assert "Version" not in readme
    assert (
        "authors"
        not in export(sine, "rust", tmp_path / "crate").path.joinpath("Cargo.toml").read_text()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"version": "1.4"}, "'1.4' is none of semver.org"),
        ({"version": "01.4.0"}, "none of semver.org"),
        ({"version": "1.4.0-01"}, "none of semver.org"),
        ({"version": "1.4.0\n"}, "none of semver.org"),
        ({"version": "1.4.0+" + "a" * 60}, "none of semver.org"),
        ({"author": ""}, "is no name"),
        ({"author": "me\nversion=2.0.0"}, "is no name"),
        ({"author": "me <nowhere>"}, "is no name"),
        ({"author": "x" * 51}, "has 51 characters"),
        ({"url": "acme.com"}, "is no page"),
        ({"author": "me <me@host>"}, "is no name"),
        ({"url": "https://"}, "is no page"),
        ({"url": "https://localhost/"}, "is no page"),
        ({"url": "https://acme.com/a b"}, "is no page"),
        ({"url": 'https://acme.com/"'}, "is no page"),
        ({"url": "https://acme.com:port:1/"}, "is no page"),
        ({"url": "file:///home/me"}, "is no page"),
        ({"name": "2nd"}, "cannot be a library's"),
        ({"name": "n" * 49}, "has 49 characters"),
        ({"name": "Aux"}, "Windows has a device called 'Aux'"),
        ({"name": "lpt1"}, "Windows has a device"),
    ],
)
def test_a_value_that_is_none_is_a_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)) as error:
        About(**given).package("sine")
    assert "\n" not in str(error.value)


def test_an_archive_is_the_same_whatever_the_order_of_its_files() -> None:
    files = {"b.h": b"2", "a/c.h": b"3", "a.h": b"1"}
    turned = dict(reversed(files.items()))
    for as_tar in (True, False):
        assert pack(files, as_tar=as_tar) == pack(turned, as_tar=as_tar)


def test_a_network_s_name_becomes_one_of_a_library() -> None:
    assert [About().package(n).name for n in ("kws", "2nd", "_3", "n" * 48)] == [
        "kws",
        "network_2nd",
        "network_3",
        "n" * 48,
    ]
    with pytest.raises(RequestError, match="Windows has a device"):
        About().package("nul")


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["arduino", "--name", "Arduino_KWS"], "cannot be called Arduino_KWS"),
        (["arduino", "--name", "arduinokws"], "cannot be called arduinokws"),
        (["arduino", "--author", "Arduino LLC"], "maintainer cannot be Arduino LLC"),
        (["cmsis-pack", "--author", "Jane Doe"], "vendor is a word"),
        (["cmsis-pack", "--url", "http://acme.com/"], "by https"),
        (["cmsis-pack", "-o", "."], f"Give -o McuDeploy.sine.{OURS}.pack"),
        (["cmsis-pack", "-o", "kws.pack"], f"Give -o McuDeploy.sine.{OURS}.pack"),
        (["cmsis-pack", "--version", "1.0.0", "-o", f"x/McuDeploy.sine.{OURS}.pack"],
         "Give -o x/McuDeploy.sine.1.0.0.pack"),
    ],
)  # fmt: skip
def test_what_a_registry_does_not_take_is_refused(
    words: list[str], said: str, tmp_path: Path, sine: Path
) -> None:
    done = call("export", sine, "--format", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert said in done.stderr
    assert not [*tmp_path.iterdir()]
