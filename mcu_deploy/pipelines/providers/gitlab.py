"""GitLab CI/CD.

Its keywords: docs.gitlab.com, "CI/CD YAML syntax reference".
"""

from __future__ import annotations

from mcu_deploy.pipelines.provider import Provider

_BESIDE = ".gitlab/mcu-deploy.yml"

_TEMPLATE = """\
# Builds, checks and validates the models of mcu-deploy.toml, and fails where they grew beyond what
# mcu-deploy.csv and the threshold allow. Written by `mcu-deploy ci --init gitlab`; it is yours to
# change.
mcu-deploy:
  stage: test
  # A fixed system: another compiler makes other numbers.
  image: python:3.12-bookworm
  timeout: 1 hour
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  variables:
    # What pip installs: NAME==VERSION, a URL (git+https://...@TAG), or a wheel in this repository.
    MCU_DEPLOY: << source >>
    PIP_CACHE_DIR: $CI_PROJECT_DIR/.cache/pip
<% if renode %>
    MCU_DEPLOY_RENODE: $CI_PROJECT_DIR/.cache/renode-<< renode_release >>
<% endif %>
  cache:
    key: mcu-deploy-1
    paths:
      - .cache/
  before_script:
    - |
      packages="<< packages >>"
      if ! dpkg --status $packages > /dev/null 2>&1; then
        apt-get update
        apt-get install --yes --no-install-recommends $packages
      fi
    - python -m pip install "$MCU_DEPLOY"
<% if renode %>
    - |
      if ! command -v renode && [ ! -e "$MCU_DEPLOY_RENODE/renode" ]; then
        python -m venv /tmp/renode-run
        /tmp/renode-run/bin/python -m pip install << renode_run >>
        /tmp/renode-run/bin/renode-run install --direct --path "$MCU_DEPLOY_RENODE" \\
          --version-override << renode_release >> << renode_package >>
      fi
<% endif %>
  script:
    - mcu-deploy ci --report build/ci/report.md
  # The merge request links to these: the report, the numbers as a new table, objects, headers and
  # firmware. A job's own token may not write comments.
  artifacts:
    when: always
    expose_as: mcu-deploy
    paths:
      - build/ci/
"""

PROVIDER = Provider(
    "GitLab",
    ".gitlab-ci.yml",
    _TEMPLATE,
    beside=_BESIDE,
    remedy=f"For GitLab to read it, add to .gitlab-ci.yml: include: [{{local: {_BESIDE}}}]",
)
