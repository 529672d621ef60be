"""GitHub Actions.

Versions of actions: the tags of github.com/actions/checkout, setup-python, cache, upload-artifact.
What a runner is: docs.github.com, "Workflow syntax for GitHub Actions".
"""

from __future__ import annotations

from mcu_deploy.pipelines.provider import Provider

_TEMPLATE = """\
<% if firmware %>
# Builds<< ' and tests' if emulated >> the firmware. Builds, checks and validates the models of
# mcu-deploy.toml, and fails where they grew beyond what mcu-deploy.csv and the threshold allow.
# Written by `mcu-deploy new`; it is yours to change.
<% else %>
# Builds, checks and validates the models of mcu-deploy.toml, and fails where they grew beyond what
# mcu-deploy.csv and the threshold allow. Written by `mcu-deploy ci --init github`; it is yours to
# change.
<% endif %>
name: mcu-deploy

on:
  push:
    branches: [main, master]
  pull_request:

permissions:
  contents: read
  pull-requests: write # for the comment

env:
  # What pip installs: NAME==VERSION, a URL (git+https://...@TAG), or a wheel in this repository.
  MCU_DEPLOY: << source >>

defaults:
  run:
    shell: bash

jobs:
  models:
    # A fixed system: another compiler makes other numbers.
    runs-on: ubuntu-24.04
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v6
        with:
          lfs: true

      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"

      - name: Install the compiler and QEMU
        run: |
          packages="<< packages >><< ' cmake ninja-build' if firmware >>"
          if ! dpkg --status $packages > /dev/null 2>&1; then
            sudo apt-get update
            sudo apt-get install --yes --no-install-recommends $packages
          fi

      - name: Install mcu-deploy
        run: python -m pip install "$MCU_DEPLOY"

<% if renode %>
      - name: Keep Renode
        uses: actions/cache@v5
        with:
          path: ~/.config/renode
          key: renode-<< renode_release >>

      - name: Install Renode
        run: |
          if ! command -v renode && [ ! -e ~/.config/renode/renode-run.json ]; then
            python -m venv "$RUNNER_TEMP/renode-run"
            "$RUNNER_TEMP/renode-run/bin/python" -m pip install << renode_run >>
            "$RUNNER_TEMP/renode-run/bin/renode-run" install --version-override \\
              << renode_release >> << renode_package >>
          fi

<% endif %>
<% if firmware %>
      - name: Build the firmware
        run: |
          cmake --preset firmware
          cmake --build --preset firmware

<% if emulated %>
      - name: Test the firmware
        run: ctest --preset firmware

<% endif %>
      # Without mcu-deploy.csv there is nothing to compare with: commit the one of the artifact.
      - name: Build, check, validate, compare
        run: mcu-deploy ci --report build/ci/report.md $(test -e mcu-deploy.csv || echo --update)
<% else %>
      - name: Build, check, validate, compare
        run: mcu-deploy ci --report build/ci/report.md
<% endif %>

      - name: Show the report
        if: ${{ !cancelled() }}
        run: |
          if [ -e build/ci/report.md ]; then
            cat build/ci/report.md >> "$GITHUB_STEP_SUMMARY"
          fi

      # From a fork nobody may write comments: there the summary has the report.
      - name: Comment on the pull request
        if: >-
          ${{ !cancelled() &&
          github.event.pull_request.head.repo.full_name == github.repository }}
        env:
          GH_TOKEN: ${{ github.token }}
          NUMBER: ${{ github.event.pull_request.number }}
        run: |
          if [ -e build/ci/report.md ]; then
            comments="repos/$GITHUB_REPOSITORY/issues"
            earlier=$(gh api --paginate "$comments/$NUMBER/comments" \\
              --jq '.[] | select(.body | startswith("<!-- mcu-deploy ci -->")) | .id' | sed -n 1p)
            if [ -n "$earlier" ]; then
              gh api --silent --method PATCH "$comments/comments/$earlier" \\
                --field body=@build/ci/report.md
            else
              gh api --silent "$comments/$NUMBER/comments" --field body=@build/ci/report.md
            fi
          fi

      # The report, the numbers as a new table, objects, headers and firmware.
      - uses: actions/upload-artifact@v7
        if: ${{ !cancelled() }}
        with:
          name: mcu-deploy
          path: build/ci/
          if-no-files-found: ignore
"""

PROVIDER = Provider("GitHub Actions", ".github/workflows/mcu-deploy.yml", _TEMPLATE)
