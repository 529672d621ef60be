"""The files that most formats hold, each under the name that it is included or known by."""

from __future__ import annotations

from mcu_deploy.errors import RequestError
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render


def headers_of(exported: Exported) -> dict[str, bytes]:
    """What programs include: network_<name>.h, mcu/runtime.h and what that includes."""
    own = {f"network_{n.name}.h": n.header.encode() for n in exported.networks}
    return {**own, **exported.headers}


_HOT_SECTION = """/* {comment} */
#if !defined(MCU_HOT_SECTION)
#define MCU_HOT_SECTION "{section}"
#endif

"""


def network_sources(exported: Exported, section: str = "", comment: str = "") -> dict[str, bytes]:
    """network_<name>.c, weights and all. section: for kernels that run from RAM, another than the
    headers', and a comment on it."""
    lines = _HOT_SECTION.format(section=section, comment=comment) if section else ""
    return {
        f"network_{n.name}.c": n.source.replace(
            "#include", f"{lines if n.report.hot_code_bytes else ''}#include", 1
        ).encode()
        for n in exported.networks
    }


def library(
    exported: Exported, headers: str = "include", sources: str = "src", runtime: str = "src/runtime"
) -> dict[str, bytes]:
    """The licence and all C that is compiled, in the folders that a format has for it."""
    return {
        "LICENSE": exported.licence,
        **below(headers, headers_of(exported)),
        **below(sources, network_sources(exported)),
        **below(runtime, exported.sources),
    }


def samples(exported: Exported) -> dict[str, bytes]:
    """sample_<name>.h: the inputs of one sample and the outputs that belong to it, as arrays."""
    return {
        f"sample_{n.name}.h": render("templates/sample.h.j2", exported, network=n)
        for n in exported.networks
    }


def require_largest(exported: Exported, format: str) -> None:
    """For a format whose programs run the largest size alone. RequestError for another sample."""
    for n in exported.networks:
        if n.report.size is not None and n.size != n.report.size.most:
            raise RequestError(
                f"The programs of a {format} export run the largest size, which is "
                f"{n.report.size.most} of {n.name!r}, and its sample has {n.size}. Give samples of "
                "that size, or leave --data out."
            )
