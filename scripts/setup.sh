#!/usr/bin/env bash
# Makes the machine ready: compilers and emulator by apt-get, the package and all that its tests
# need into .venv. Quick and quiet when there is nothing to do.
#
# It ends in one sentence on standard error and exit code 1 when it cannot go on; what apt-get and
# pip said is then in build/setup.log. A .venv that could not be finished is removed.
#
# PYTHON=/path/to/python3 chooses the Python; pip's own settings (index, proxy, certificates) apply.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
stamp=.venv/mcu-deploy-setup      # present and equal to key(): nothing to do
unfinished=.venv/mcu-deploy-unfinished # present: an earlier run was killed in the middle
log=build/setup.log
os_release=${MCU_DEPLOY_OS_RELEASE:-/etc/os-release} # the tests of this script give another

say() { printf 'mcu-deploy: %s\n' "$*"; }

stop() {
    printf 'mcu-deploy: %s\n' "$*" >&2
    exit 1
}

# Runs a command with its output in the log and nothing on its standard input.
logged() {
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null
}

log_says() { grep -q -i -E "$1" "$log"; }

# What an installation depends on: where it lies, how it is made, what the package asks for.
key() {
    {
        printf '%s\n' "$root"
        cat scripts/setup.sh
        awk '/^\[/ { keep = /^\[(build-system|project|tool\.hatch)/ } keep' pyproject.toml
    } | sha256sum
}

# ---- What the machine has ----

has_arm_gcc() { command -v arm-none-eabi-gcc >/dev/null; }
has_newlib() { has_arm_gcc && [[ -e $(arm-none-eabi-gcc -print-file-name=nano.specs) ]]; }
has_qemu() { command -v qemu-system-arm >/dev/null; }
has_host_gcc() {
    command -v gcc >/dev/null &&
        printf '#include <stdio.h>\n' | gcc -x c -fsyntax-only - 2>/dev/null
}
has_host_gxx() { command -v g++ >/dev/null; }
has_cmake() { command -v cmake >/dev/null; }
has_ninja() { command -v ninja >/dev/null; }
has_venv() { [[ -x .venv/bin/python ]] && .venv/bin/python -c '' 2>/dev/null; }

is_ready() {
    [[ -f $stamp && $(<"$stamp") == "$(key)" ]] &&
        has_newlib && has_qemu && has_host_gcc && has_host_gxx && has_cmake && has_ninja && has_venv
}

suits() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# Sets `python` to a Python of 3.11 or newer that can make virtual environments.
find_python() {
    local name candidate candidates
    if [[ -n ${PYTHON:-} ]]; then
        suits "$PYTHON" || stop "PYTHON=$PYTHON is not a Python of 3.11 or newer with venv and" \
            "ensurepip: give another, or unset PYTHON to let make setup find one."
        python=$PYTHON
        return
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        mapfile -t candidates < <(type -ap "$name")
        for candidate in ${candidates[@]+"${candidates[@]}"}; do
            # an activated .venv is first on the PATH, and must not be made from itself
            if [[ $candidate != "$root/.venv/"* ]] && suits "$candidate"; then
                python=$candidate
                return
            fi
        done
    done
    return 1
}

find_missing() {
    missing=()
    has_arm_gcc || missing+=(gcc-arm-none-eabi)
    has_newlib || missing+=(libnewlib-arm-none-eabi)
    has_qemu || missing+=(qemu-system-arm)
    has_host_gcc || missing+=(gcc libc6-dev)
    has_host_gxx || missing+=(g++) # the tests compile the headers as C++
    has_cmake || missing+=(cmake) # builds the backends' C tests and the dynamic examples
    has_ninja || missing+=(ninja-build)
    find_python || missing+=(python3-venv)
}

# ---- The system's packages ----

# Sets `system` to the system's name and `family` to debian (one that we know), old or other.
read_system() {
    local ID="" VERSION_ID="" PRETTY_NAME="" oldest
    # shellcheck disable=SC1090
    [[ ! -r $os_release ]] || . "$os_release"
    system=${PRETTY_NAME:-${ID:-this system}}
    case $ID in
        debian | raspbian) oldest=12 ;;
        ubuntu) oldest=24 ;;
        *)
            family=other
            return
            ;;
    esac
    family=debian
    # Debian's testing and unstable have no VERSION_ID
    if [[ ${VERSION_ID%%.*} =~ ^[0-9]+$ ]] && ((${VERSION_ID%%.*} < oldest)); then
        family=old
    fi
}

# Sets `as_root` to what makes a command run as root: nothing, or sudo.
find_root() {
    as_root=()
    [[ $(id -u) != 0 ]] || return 0
    as_root=(sudo)
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null || { [[ -t 0 && -t 2 ]] && sudo -v; }
}

install_packages() {
    local install="apt-get install --no-install-recommends ${missing[*]}"
    if [[ $family != debian ]] || ! command -v apt-get >/dev/null; then
        stop "$system is not a Debian or an Ubuntu, so install what Debian calls ${missing[*]}" \
            "(with Python 3.11 or newer) by hand and run make setup again."
    fi
    find_root || stop "${missing[*]} must be installed and that needs root: run" \
        "'sudo $install', or ask who may, and then make setup again."
    say "installing ${missing[*]} with apt-get (output: $log)"
    local apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get
        -o Acquire::Retries=1 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=60)
    # a broken third-party source fails the update, and need not hinder the installation
    logged "${apt[@]}" update || true
    if logged "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; then
        hash -r
        find_missing
        [[ ${#missing[@]} != 0 ]] || return 0
        stop "apt-get ran but ${missing[*]} cannot be used: see $root/$log, mend the package," \
            "and run make setup again."
    fi
    if log_says 'could not get lock|unable to acquire the dpkg'; then
        stop "another program holds apt-get's lock: wait until it has ended and run make setup again."
    elif log_says 'no space left|enough free space'; then
        stop "the disk is full, so ${missing[*]} could not be installed: make room and run make" \
            "setup again."
    elif log_says 'resolv|failed to fetch|connect|unable to locate package|no installation cand'; then
        stop "apt-get could not download ${missing[*]}: check the network and the package sources" \
            "(apt-get's output is in $root/$log) and run make setup again."
    fi
    stop "apt-get could not install ${missing[*]}: see its output in $root/$log, try" \
        "'$install' by hand, and run make setup again."
}

# ---- The virtual environment ----

drop_unfinished() { [[ ! -e $unfinished ]] || rm -rf .venv; }

make_venv() {
    # scripts in .venv/bin hold the folder's path: after a move they call what is no longer there
    if has_venv && [[ ! -e $unfinished ]] && grep -q -F "$root/.venv/bin/" .venv/bin/pip 2>/dev/null &&
        .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        return
    fi
    if [[ -e $stamp || -e $unfinished ]]; then
        rm -rf .venv
    elif [[ -e .venv || -L .venv ]]; then # somebody else's
        aside=.venv.before-mcu-deploy
        [[ ! -e $aside && ! -L $aside ]] ||
            stop "$root/.venv was not made by make setup: move it away, and run make setup again."
        mv .venv "$aside"
        say "the .venv that was here is now $root/$aside"
    fi
    mkdir .venv
    : >"$unfinished"
    logged "$python" -m venv .venv ||
        stop "$python could not make $root/.venv: see $root/$log, give another Python with" \
            "PYTHON=..., and run make setup again."
}

install_package() {
    say "installing mcu-deploy and its tests' needs into .venv (output: $log)"
    make_venv
    export PIP_RETRIES=${PIP_RETRIES:-2} # pip's own 5 take minutes where there is no network
    if logged .venv/bin/python -m pip install --disable-pip-version-check -e '.[dev]'; then
        rm -f "$unfinished"
        return
    fi
    if log_says 'no space left on device'; then
        stop "the disk is full, so .venv could not be filled: make room and run make setup again."
    elif log_says 'certificate_verify_failed'; then
        stop "pip does not trust the package index's certificate: name your network's own in PIP_CERT" \
            "(or pip's configuration) and run make setup again."
    elif log_says 'connection|resolv|timed out|no matching distribution|could not find a version'; then
        stop "pip could not download the Python packages: check the network and pip's index" \
            "('pip config list'; pip's output is in $root/$log) and run make setup again."
    fi
    stop "pip could not install mcu-deploy into .venv: see $root/$log, mend what it names, and run" \
        "make setup again."
}

# mcu-deploy compiles it on its first use too; here a compiler that cannot do it is told early.
compile_plugin() {
    logged .venv/bin/python -m mcu_deploy.device.emulators.qemu_plugin ||
        stop "gcc could not compile the counting plugin for QEMU: see $root/$log, mend what it names," \
            "and run make setup again."
}

# ---- The way of things ----

read_system
if [[ $family == old ]]; then
    stop "$system is too old for mcu-deploy, which needs Debian 12 or Ubuntu 24.04 or newer for" \
        "their compiler, emulator and Python: use a newer system, or a container such as debian:12."
fi
if is_ready; then exit 0; fi

if ! { mkdir -p build && : >>"$log"; } 2>/dev/null; then
    stop "$root cannot be written to: give yourself the right to write there and run make setup again."
fi
if command -v flock >/dev/null; then
    exec 9>build/setup.lock
    flock 9 # two runs at a time would spoil each other's .venv
    if is_ready; then exit 0; fi
fi
: >"$log"
trap drop_unfinished EXIT
trap 'exit 130' INT TERM HUP

find_missing
[[ ${#missing[@]} == 0 ]] || install_packages
install_package
compile_plugin
key >"$stamp"
.venv/bin/python -c 'import ai_edge_litert' 2>/dev/null ||
    say "'make litert' installs LiteRT (22 MB), which validate compares TFLite models with"
say "ready"
