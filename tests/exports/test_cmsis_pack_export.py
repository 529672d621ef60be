"""The exported CMSIS-Pack: what its description names, built; and the description by its schema."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export
from mcu_deploy.version import VERSION as OURS

SCHEMA = os.environ.get("CMSIS_PACK_XSD", "")


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory, sine: Path, quarter: Path) -> Path:
    """The pack, unzipped."""
    folder = tmp_path_factory.mktemp("pack")
    done = export(sine, "cmsis-pack", folder / f"McuDeploy.sine.{OURS}.pack", data=quarter)
    with zipfile.ZipFile(done.path) as archive:
        assert {(m.external_attr >> 16, m.date_time[:3]) for m in archive.infolist()} == {
            (0o644, (1980, 1, 1))
        }
        archive.extractall(folder / "sine")
    return folder / "sine"


def test_by_default_the_pack_is_called_as_installers_want(
    tmp_path: Path, sine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = export(sine, "cmsis-pack")
    [described] = [name for name in done.files if name.endswith(".pdsc")]
    package = ElementTree.fromstring(zipfile.ZipFile(done.path).read(described))
    vendor, name = package.findtext("vendor"), package.findtext("name")
    version = package.find("releases/release").attrib["version"]
    assert (described, done.path.name) == (
        f"{vendor}.{name}.pdsc",
        f"{vendor}.{name}.{version}.pack",
    )


def test_the_components_are_for_the_core_and_its_fpu(pack: Path) -> None:
    package = ElementTree.parse(pack / "McuDeploy.sine.pdsc").getroot()
    conditions = {c.attrib["id"]: c for c in package.iter("condition")}
    accepted = [tuple(one.attrib.values()) for one in conditions["Core"].iter("accept")]
    assert accepted == [("Cortex-M4", unit) for unit in ("FPU", "SP_FPU", "DP_FPU")]
    required = [tuple(one.attrib.values()) for one in conditions["Network"].iter("require")]
    components = list(package.iter("component"))
    assert [c.attrib["condition"] for c in components] == ["Core", "Network"]
    runtime = components[0].attrib
    names = ("Cvendor", "Cclass", "Cgroup", "Cversion")
    assert required == [("Core",), tuple(runtime[name] for name in names)]


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_what_the_components_name_is_a_program_that_answers(
    tmp_path: Path, pack: Path, repository: Path
) -> None:
    files = [f.attrib for f in ElementTree.parse(pack / "McuDeploy.sine.pdsc").iter("file")]
    assert all((pack / f["name"]).exists() for f in files)
    sources = [pack / f["name"] for f in files if f["category"] == "sourceC"]
    headers = [f for f in files if f["category"] == "header"]
    include = [pack / f.get("path", str(Path(f["name"]).parent)) for f in headers]
    said = programs.answer_of(tmp_path, sources, sorted({*include}), repository)
    assert said == "sine: 1 of 1 values as expected, value 126\n"


@pytest.mark.skipif(
    not SCHEMA or shutil.which("xmllint") is None,
    reason="the schema of CMSIS-Packs is not there; set CMSIS_PACK_XSD to schema/PACK.xsd of "
    "github.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec, and install xmllint (libxml2-utils)",
)
def test_the_description_is_valid_against_its_schema(
    tmp_path: Path, pack: Path, sine: Path
) -> None:
    about = {
        "version": "1.4.0-rc.1+b7",
        "author": "Acme <nn@acme.com>",
        "url": "https://a.com/?b&c",
    }
    own = export(sine, "cmsis-pack", tmp_path / "Acme.sine.1.4.0-rc.1+b7.pack", **about).path
    with zipfile.ZipFile(own) as archive:
        archive.extract("Acme.sine.pdsc", tmp_path)
    for described in (pack / "McuDeploy.sine.pdsc", tmp_path / "Acme.sine.pdsc"):
        done = subprocess.run(
            ["xmllint", "--noout", "--schema", SCHEMA, described], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
