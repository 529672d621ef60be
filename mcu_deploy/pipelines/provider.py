"""What a provider of pipelines is: the files that it reads, as text with places for a few words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module

import jinja2

from mcu_deploy.device.emulators.renode import PACKAGE, RELEASE
from mcu_deploy.options.checked import require_word
from mcu_deploy.pipelines import providers

# renode-run is not on PyPI: the state of July 2026 (version 0.5.0), as in scripts/renode.sh.
_RENODE_RUN = "git+https://github.com/antmicro/renode-run@898ff4f316f10d800c4cc8d4e1582d55f5faa4ad"
# What mcu-deploy asks of a Debian or Ubuntu: compiler, C library, emulator.
_PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"


@dataclass(frozen=True)
class Provider:
    """A provider, as a value PROVIDER of its module.

    title: how people call it. file: what it reads, below the repository's top; where that is there
    already, `beside` is written, and `remedy` says what the user has to do then (both empty: the
    file is refused). template: of jinja, with << >> and <% %>, as YAML is full of braces.
    """

    title: str
    file: str
    template: str
    beside: str = ""
    remedy: str = ""


def provider_named(name: str) -> Provider:
    """A provider. UsageError, with those there are, for any other name."""
    require_word("--init", name, providers.NAMES)
    found: Provider = import_module(f"{providers.__name__}.{name}").PROVIDER
    return found


def pipeline_text(
    provider: Provider,
    source: str,
    *,
    renode: bool = False,
    firmware: bool = False,
    emulated: bool = False,
) -> str:
    """The text of a pipeline's file.

    source: what pip installs to get mcu-deploy; renode: whether boards need that emulator.
    firmware: whether it is that of a project of `mcu-deploy new`, whose firmware GitHub's builds,
    too; emulated: and tests.
    """
    environment = jinja2.Environment(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    words = {
        # A text of JSON is one of YAML, whatever is in it.
        "source": json.dumps(source),
        "renode": renode,
        "firmware": firmware,
        "emulated": emulated,
        "renode_run": _RENODE_RUN,
        "renode_package": PACKAGE,
        "renode_release": RELEASE,
        "packages": _PACKAGES,
    }
    return environment.from_string(provider.template).render(words)
