"""`export`: the networks of a build in the form that another ecosystem's tools take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import compiler, resources
from mcu_deploy.api.folder import ObjectFolder, open_objects
from mcu_deploy.api.several import SEPARATOR
from mcu_deploy.api.sized import at_sizes, samples_in
from mcu_deploy.errors import RequestError
from mcu_deploy.exports.formats import Format, format_named
from mcu_deploy.exports.model import Exported, ExportedNetwork
from mcu_deploy.exports.package import About, Package
from mcu_deploy.exports.packing import pack
from mcu_deploy.exports.values import origin_of, sample_of, sample_values
from mcu_deploy.output import locked, require_outside, write_file
from mcu_deploy.output.paths import write_files
from mcu_deploy.report import NetworkReport
from mcu_deploy.session import Session
from mcu_deploy.version import VERSION

# mcu_run wants an arena, which a program has to compile with sizes of its own.
_LEFT_OUT = ("mcu_run.c",)


@dataclass(frozen=True)
class Export:
    """What was written: the folder or the archive, and the files in it."""

    path: Path
    format: str
    networks: tuple[str, ...]
    files: tuple[str, ...]


def export(
    source: str | Path,
    format: str,
    output: str | Path | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    author: str | None = None,
    url: str | None = None,
    data: str | Path | Mapping[str, str | Path] | None = None,
    session: Session | None = None,
) -> Export:
    """Writes the networks of a build folder in a format of `mcu_deploy.exports`.

    output: a folder, or the archive where the format is one; build/FORMAT/NAME by default. An
    earlier export there is replaced when the new one is whole; a build, and a folder with anything
    of the user's in it, are refused. name: of the library or package, by default the first
    network's. version: of it, by semver.org, by default mcu-deploy's. author: "NAME" or
    "NAME <EMAIL>", url: a page about it; where the format has a field for them. data: the .npz file
    whose first sample the example runs, of several networks one each by name; a made-up sample by
    default.
    Raises UsageError for an unknown format and for values that are none, RequestError for a build
    that cannot be exported and for names and authors that the format cannot have.
    """
    chosen = format_named(format)
    folder = open_objects(source)
    about = About(name, version, author, url).package(folder.networks[0].name)
    exported = collect(folder, about, data=data, session=session)
    files = dict(sorted(chosen.files(exported).items()))
    path = _place(chosen, about, None if output is None else Path(output))
    _write(path, chosen, files)
    return Export(path, chosen.NAME, tuple(n.name for n in exported.networks), tuple(files))


def _place(format: Format, about: Package, output: Path | None) -> Path:
    """The folder or archive to write. RequestError for an archive of a name that it cannot have."""
    archive = format.ARCHIVE
    called = about.name if archive is None else archive.name_for(about)
    if output is None:
        return Path("build", format.NAME, called)
    if archive is not None and archive.is_read and output.name != called:
        named = output / called if output.is_dir() else output.with_name(called)
        raise RequestError(
            f"A {format.NAME} called {output.name} cannot be installed: tools read from the file's "
            f"name what is in it, which is {called}. Give -o {named}, or other "
            "values for --name, --version and --author."
        )
    return output


def _write(path: Path, format: Format, files: Mapping[str, bytes]) -> None:
    require_outside(path)
    if format.ARCHIVE is not None:
        write_file(path, pack(files, as_tar=format.ARCHIVE.name.endswith(".tar")))
        return
    with locked(path) as folder:
        if (folder.real / "report.json").exists():
            raise RequestError(f"{path} is a build folder; choose another folder with -o.")
        folder.require_pristine()
        with folder.replaced() as aside:
            write_files(files, aside)


def collect(
    folder: ObjectFolder,
    about: Package,
    *,
    data: str | Path | Mapping[str, str | Path] | None = None,
    session: Session | None = None,
) -> Exported:
    """What formats are given of a build folder. Raises RequestError where it cannot be exported."""
    if folder.board.is_host:
        raise RequestError(
            f"{folder.directory} was built for this machine (--board host), and an export is for "
            "a microcontroller. Build for a board or with --core, and export that."
        )
    reports = folder.networks
    samples = _by_network(data, [n.name for n in reports])
    with folder.session(session) as own:
        networks = [_network(folder, n, samples.get(n.name), own) for n in reports]
    sources = {
        file.name: file.read_bytes()
        for file in sorted((resources.crt() / "src").glob("*.c"))
        if file.name not in _LEFT_OUT
    }
    return Exported(
        package=about,
        version=VERSION,
        processor=folder.board,
        networks=tuple(networks),
        headers=_headers([*sources.values(), *(n.source.encode() for n in networks)]),
        sources=sources,
        licence=(resources.root() / "LICENSE").read_bytes(),
    )


def _by_network(
    data: str | Path | Mapping[str, str | Path] | None, networks: Sequence[str]
) -> Mapping[str, str | Path]:
    if data is None:
        return {}
    if isinstance(data, Mapping):
        for name in data:
            if name not in networks:
                raise RequestError(
                    f"--data names the network {name!r}; the build holds {', '.join(networks)}."
                )
        return data
    if len(networks) > 1:
        raise RequestError(
            f"The build holds the networks {', '.join(networks)}: say whose samples {data} holds, "
            f"as in --data {networks[0]}{SEPARATOR}{data}."
        )
    return {networks[0]: data}


def _headers(sources: Sequence[bytes]) -> dict[str, bytes]:
    """The runtime's headers that these include, and those that these include, and its C++ one."""
    found: dict[str, bytes] = {}
    wanted = ["mcu/runtime.hpp"]
    texts = [*sources]
    while wanted or texts:
        for name in wanted:
            if name not in found:
                found[name] = (resources.crt() / "include" / name).read_bytes()
                texts.append(found[name])
        wanted = [m.decode() for text in texts for m in re.findall(rb'#include "(mcu/\S+)"', text)]
        wanted, texts = [name for name in wanted if name not in found], []
    return dict(sorted(found.items()))


def _network(
    folder: ObjectFolder, report: NetworkReport, data: str | Path | None, session: Session
) -> ExportedNetwork:
    network = folder.compile_again(report.name, session)
    file = folder.directory / f"network_{report.name}.c"
    if not file.is_file() or file.read_bytes() != network.sources.source.encode():
        raise RequestError(
            f"{file} is not what mcu-deploy {VERSION} makes of the model that the build kept: it "
            "was changed, or another version built it. Build again, and export that."
        )
    size = network.selection.size
    samples, at = sample_of(network, data if size is None else None), network
    if size is not None and data is not None:
        samples = replace(samples_in(data, network).first(1), origin=origin_of(data))
        (at,) = at_sizes(folder, network, samples, session)
    inputs, outputs = sample_values(at, samples)
    sources = compiler.sources_anywhere(network, folder.board)
    return ExportedNetwork(
        name=report.name,
        source=sources.source,
        header=sources.with_stack(report.stack_bytes, report.second_stack_bytes or None),
        report=report,
        alignment=network.plan.workspace_alignment,
        inputs=inputs,
        outputs=outputs,
        origin=samples.origin,
        size=None if size is None else inputs[size.tensor].array.shape[size.axis],
    )
