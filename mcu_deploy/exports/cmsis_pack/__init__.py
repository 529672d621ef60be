"""A CMSIS-Pack: the zip with a .pdsc that cpackget, csolution and IDEs install.

Source: Open-CMSIS-Pack/Open-CMSIS-Pack-Spec, schema/PACK.xsd and doxygen/src (the description of
components, conditions and file categories, and how packs are named).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mcu_deploy.boards import Processor
from mcu_deploy.errors import RequestError
from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Archive, Exported
from mcu_deploy.exports.rendering import below, render

NAME = "cmsis-pack"
ARCHIVE = Archive("{package.vendor}.{package.name}.{package.version}.pack", is_read=True)

# PACK.xsd: a component's vendor (CvendorType), which as a pack's has no spaces (RestrictedString),
# and a part of its name that is one of a network (CidPartType).
_VENDOR = re.compile(r"[A-Za-z0-9][-A-Za-z0-9]{1,31}")
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{1,31}")
# What a device with such an FPU says of itself: one with more can do the same.
_DFPU = {
    "fpv4-sp-d16": ("FPU", "SP_FPU", "DP_FPU"),
    "fpv5-sp-d16": ("FPU", "SP_FPU", "DP_FPU"),
    "fpv5-d16": ("DP_FPU",),
    "fp-armv8-d16": ("FPU", "DP_FPU"),
}


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path. RequestError for what no component or pack can have."""
    about = exported.package
    if not _VENDOR.fullmatch(about.vendor):
        raise RequestError(
            f"A CMSIS-Pack's vendor is a word of 2 to 32 letters, digits and dashes, and "
            f"{about.vendor!r} is none. Give one as in --author 'Acme <support@acme.com>'."
        )
    if about.url and not about.url.startswith("https://"):
        raise RequestError(
            f"A CMSIS-Pack's URL is the folder that it is downloaded from, by https, and "
            f"{about.url} is not. Give another --url, or none."
        )
    for network in exported.networks:
        if not _PART.fullmatch(network.name):
            raise RequestError(
                f"A CMSIS component cannot be called {network.name!r}: its name begins with a "
                "letter or a digit and has 2 to 32 characters. Build with --name."
            )
    core = exported.processor.core.replace("cortex-m", "Cortex-M").replace("plus", "+")
    examples = {
        f"example/main_{n.name}.c": render("templates/main.c.j2", replace(exported, networks=(n,)))
        for n in exported.networks
    }
    return {
        f"{about.vendor}.{about.name}.pdsc": render(
            "cmsis_pack/pack.pdsc.j2",
            exported,
            core=core,
            accepted=_accepted(exported.processor, core),
            url=about.url and about.url.rstrip("/") + "/",
        ),
        "README.md": render("cmsis_pack/README.md.j2", exported),
        **parts.library(exported),
        **examples,
        **below("example", parts.samples(exported)),
    }


def _accepted(processor: Processor, core: str) -> tuple[Mapping[str, str], ...]:
    """The attributes of the devices that can run the networks; one of these has to be met."""
    wanted = {"Dcore": core}
    if processor.dsp and processor.architecture.startswith("armv8"):
        wanted["Ddsp"] = "DSP"
    units = _DFPU.get(processor.fpu, ())
    found = [wanted | {"Dfpu": unit} for unit in units] or [wanted]
    if processor.mve:
        vectors = ("MVE", "FP_MVE") if processor.fpu == "none" else ("FP_MVE",)
        found = [one | {"Dmve": vector} for one in found for vector in vectors]
    return tuple(found)
