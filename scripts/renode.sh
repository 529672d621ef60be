#!/usr/bin/env bash
# Downloads the Renode emulator through Antmicro's renode-run, unless a Renode is there already: the
# release that mcu_deploy/device/emulators/renode.py names, with which the tests ran, and no nightly.
# renode-run gets a virtual environment of its own inside .venv: it asks for old versions of
# packages that mcu-deploy uses too. Ends in one sentence and exit code 1 where it cannot.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/renode.log
# not on PyPI; the state of July 2026 (version 0.5.0)
source=git+https://github.com/antmicro/renode-run@898ff4f316f10d800c4cc8d4e1582d55f5faa4ad

stop() {
    printf 'mcu-deploy: %s\n' "$*" >&2
    exit 1
}

logged() {
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null
}

# Prints where Renode is; fails where it is not.
find_renode() {
    .venv/bin/python -c 'from mcu_deploy.device.emulators import launcher_named
print(launcher_named("renode").find().path)' 2>/dev/null
}

if renode=$(find_renode); then
    printf 'mcu-deploy: Renode is here already: %s\n' "$renode"
    exit 0
fi

mkdir -p build
: >"$log"
command -v git >/dev/null ||
    stop "git is missing, and renode-run comes by it: run 'apt-get install git' and make renode again."
printf 'mcu-deploy: downloading Renode through renode-run (output: %s)\n' "$log"
by_hand="download Renode from renode.io where there is a network, and name its renode program in MCU_DEPLOY_RENODE"
if ! { [[ -x .venv/bin/renode-run ]] ||
    { logged .venv/bin/python -m venv --clear .venv/renode-run &&
        logged .venv/renode-run/bin/python -m pip install --disable-pip-version-check "$source" &&
        ln -sf ../renode-run/bin/renode-run .venv/bin/renode-run; }; }; then
    stop "renode-run could not be installed from github.com: check the network (output: $log) and run" \
        "make renode again, or $by_hand."
fi
read -r release package < <(.venv/bin/python -c 'from mcu_deploy.device.emulators import renode
print(renode.RELEASE, renode.PACKAGE)')
logged .venv/bin/renode-run install --version-override "$release" "$package" ||
    stop "renode-run could not download Renode $release from github.com: check the network (output:" \
        "$log) and run make renode again, or $by_hand."
renode=$(find_renode) ||
    stop "renode-run downloaded a Renode that mcu-deploy does not find: see $log, and name the" \
        "renode program in MCU_DEPLOY_RENODE."
printf 'mcu-deploy: Renode is ready: %s\n' "$renode"
