#!/usr/bin/env bash
# Checks formatting and types of all sources with the tools in .venv; --fix formats them.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
bin=.venv/bin
mapfile -t c_files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.h')
failed=()

check() {
    "${@:2}" || failed+=("$1")
}

if [[ ${1:-} == --fix ]]; then
    check "ruff check" $bin/ruff check --quiet --fix .
    check "ruff format" $bin/ruff format --quiet .
    [[ ${#c_files[@]} == 0 ]] || check clang-format $bin/clang-format -i "${c_files[@]}"
else
    check "ruff check" $bin/ruff check --quiet .
    check "ruff format" $bin/ruff format --quiet --check .
    check mypy $bin/mypy
    [[ ${#c_files[@]} == 0 ]] ||
        check clang-format $bin/clang-format --dry-run -Werror --ferror-limit=3 "${c_files[@]}"
fi

if ((${#failed[@]})); then
    list=$(printf ', %s' "${failed[@]}")
    echo "lint: not clean: ${list:2}; make format mends what can be mended by itself" >&2
    exit 1
fi
