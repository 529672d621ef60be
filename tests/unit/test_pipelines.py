"""`mcu-deploy ci` without a build: its configuration, the table, what changed, the first files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import call

from mcu_deploy import resources
from mcu_deploy.device.emulators.renode import PACKAGE, RELEASE
from mcu_deploy.errors import RequestError
from mcu_deploy.pipelines import first
from mcu_deploy.pipelines.comparing import NUMBERS, compare
from mcu_deploy.pipelines.configuration import Configuration, read_configuration
from mcu_deploy.pipelines.markdown import markdown
from mcu_deploy.pipelines.provider import pipeline_text, provider_named
from mcu_deploy.pipelines.providers import NAMES
from mcu_deploy.pipelines.result import BuildOutcome, PipelineResult
from mcu_deploy.pipelines.table import COLUMNS, CostRow, read_table, renew_table, table_text

SINE = CostRow(
    "sine", "mps2-an386", "balanced", 3000, 500, 300, 1000, 2000, 220, "12.2.1", "0.1.0"
)  # fmt: skip
SIZE = replace(SINE, goal="size", flash_bytes=2000)
BARE = replace(SINE, board="nucleo_l476rg", instructions=None, cycles=None)
ONE_PERCENT = dict.fromkeys(NUMBERS, 1.0)
MODEL = '[models.sine]\nfile = "sine.tflite"\n'


def configured(folder: Path, text: str) -> Configuration:
    path = folder / "mcu-deploy.toml"
    path.write_text(text, encoding="utf-8")
    return read_configuration(path)


# ---- mcu-deploy.toml ----


def test_a_model_has_what_is_said_for_all_but_where_it_says_otherwise(tmp_path: Path) -> None:
    read = configured(
        tmp_path,
        'boards = ["mps2-an386", "stm32f746"]\ngoals = ["speed", "size"]\nthreshold = 2\n'
        '[models.kws]\nfile = "models/kws.onnx"\ndata = "kws.npz"\nsamples = 3\n'
        '[models.sine]\nfile = "sine.tflite"\nboards = ["host"]\ngoals = ["ram"]\n'
        'options = {memory = "compact", no-float = true, keep = ["a", "b"], backend = "CpuRef"}\n',
    )
    assert [job.key for job in read.jobs] == [
        ("kws", "mps2-an386", "speed"),
        ("kws", "mps2-an386", "size"),
        ("kws", "stm32f746", "speed"),
        ("kws", "stm32f746", "size"),
        ("sine", "host", "ram"),
    ]
    kws, sine = read.models
    assert (kws.file, kws.data, kws.samples) == (
        tmp_path / "models/kws.onnx", tmp_path / "kws.npz", 3,
    )  # fmt: skip
    assert (sine.data, sine.samples) == (None, 8)
    options = read.jobs[-1].options
    assert (options.memory, options.no_float, options.optimize_for) == ("compact", True, "ram")
    assert (options.requests.keep, options.backends) == (("a", "b"), ("CpuRef",))
    assert read.table == tmp_path / "mcu-deploy.csv"
    assert set(read.thresholds.values()) == {2}


def test_the_page_has_a_configuration_that_can_be_read(tmp_path: Path, repository: Path) -> None:
    page = (repository / "docs" / "ci.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    mine = tmp_path / "boards" / "mine"
    mine.mkdir(parents=True)
    (mine / "board.toml").write_text('inherits = "stm32f746"\nname = "mine"\n')
    read = configured(tmp_path, text)
    assert [job.key for job in read.jobs][2:] == [
        ("kws", "mine", "balanced"),
        ("person", "mps2-an386", "speed"),
        ("person", "mps2-an386", "size"),
    ]
    (by_number,) = re.findall(r"`(threshold = \{.*\})`", page)
    assert configured(tmp_path, text.replace("threshold = 1 ", f"{by_number} ")).thresholds
    assert f"```text\n{','.join(COLUMNS)}\n" in page


def test_a_number_may_have_a_threshold_of_its_own(tmp_path: Path) -> None:
    text = 'boards = ["host"]\nthreshold = {default = 0.5, stack_bytes = 10}\n' + MODEL
    found = configured(tmp_path, text).thresholds
    assert found == dict.fromkeys(NUMBERS, 0.5) | {"stack_bytes": 10}


def test_a_board_of_ones_own_is_a_path_from_the_file(tmp_path: Path, repository: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_bytes((repository / "boards" / "host" / "board.toml").read_bytes())
    (job,) = configured(tmp_path, f'boards = ["./own.toml"]\n{MODEL}').jobs
    assert job.board.name == "host"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("boards = [", "is no TOML file"),
        ('boards = ["host"]\n', "there is no table [models.NAME]"),
        (MODEL, "[models.sine]: there are no boards for it"),
        (f'boards = ["mps2-an368"]\n{MODEL}', "boards: There is no board called 'mps2-an368'"),
        (f'boards = ["host", "host"]\n{MODEL}', "boards names host twice"),
        (f'boards = "host"\n{MODEL}', "boards must be a list, not 'host'"),
        (f'bords = ["host"]\n{MODEL}', "the unknown key 'bords' (did you mean 'boards'?)"),
        (f'boards = ["host"]\ngoals = ["fast"]\n{MODEL}', "goals: fast is not known"),
        (f'boards = ["host"]\ngoals = []\n{MODEL}', "at least"),
        (f'boards = ["host"]\nsamples = 0\n{MODEL}', "samples is 0"),
        (
            f'boards = ["host"]\nthreshold = -1\n{MODEL}',
            "threshold = -1.0 is out of range",
        ),
        (f'boards = ["host"]\nthreshold = nan\n{MODEL}', "threshold is no number"),
        (f'boards = ["host"]\nthreshold = {{flash = 1}}\n{MODEL}', "'flash' in [threshold] ("),
        ('boards = ["host"]\n[models.sine]\n', "[models.sine]: there is no `file`"),
        ('boards = ["host"]\n[models."a b"]\nfile = "x"\n', "call it by letters"),
        ('boards = ["host"]\nmodels = 3\n', "models must be a table"),
        (f'boards = ["host"]\n{MODEL}options = {{memori = "x"}}', "did you mean 'memory'?"),
        (f'boards = ["host"]\n{MODEL}options = {{memory = "x"}}', "--memory x is not known"),
        (
            f'boards = ["host"]\n{MODEL}options = {{keep = "x"}}',
            "options]: keep must be a list",
        ),
    ],
)
def test_what_is_wrong_in_the_configuration_is_a_sentence(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match=re.escape(said)) as error:
        configured(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "mcu-deploy.toml"))
    assert error.value.exit_code == 1


# ---- The table ----


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = tmp_path / "mcu-deploy.csv"
    renew_table(table, [SINE, SIZE, BARE])
    assert [*read_table(table).values()] == [SINE, SIZE, BARE]
    renew_table(table, [BARE])
    assert [*read_table(table)] == [BARE.key]
    assert table.read_text().splitlines()[1] == (
        "sine,nucleo_l476rg,balanced,3000,500,300,,,220,12.2.1,0.1.0"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("3000", "3k"), "line 2 is wrong: flash_bytes must be a whole number, not '3k'"),
        (("3000", ""), "line 2 is wrong: flash_bytes must be"),
        (("3000,", ""), "line 2 has 10 cells and not 11"),
        (("sine,mps2-an386,size", "sine,mps2-an386,balanced"), "line 3 has sine mps2-an386"),
        (("sine,mps2-an386,size", "<<<<<<< HEAD\nsine,mps2-an386,size"), "line 3 has 1 cells"),
        (("macs,", "macs,energy,"), "was written by another version of mcu-deploy"),
    ],
)
def test_a_damaged_table_is_refused_and_can_be_renewed(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    table = tmp_path / "mcu-deploy.csv"
    table.write_text(table_text([SINE, SIZE]).replace(*change))
    with pytest.raises(RequestError, match=re.escape(said)):
        read_table(table)
    renew_table(table, [SINE])
    assert read_table(table) == {SINE.key: SINE}


@pytest.mark.parametrize("content", [b"", b"# My project\n", b"\xff\xfe\0", b'"'])
def test_what_is_no_table_is_never_overwritten(content: bytes, tmp_path: Path) -> None:
    other = tmp_path / "README.md"
    other.write_bytes(content)
    for use in (read_table, lambda path: renew_table(path, [SINE])):
        with pytest.raises(RequestError, match="is no table of `mcu-deploy ci`"):
            use(other)
    assert other.read_bytes() == content


# ---- What changed ----


def compared(before: list[CostRow], now: list[CostRow], thresholds: dict[str, float] = ONE_PERCENT):
    return compare({r.key: r for r in before}, now, {r.key for r in now}, thresholds)


def test_growth_over_the_threshold_is_told_and_nothing_else() -> None:
    at_it = replace(SINE, flash_bytes=3030, ram_bytes=400)
    found = compared([SINE], [at_it])
    assert [(c.number, c.before, c.after) for c in found.changes] == [
        ("flash_bytes", 3000, 3030),
        ("ram_bytes", 500, 400),
    ]
    assert found.grown == ()
    (grown,) = compared([SINE], [replace(at_it, flash_bytes=3031)]).grown
    assert (grown.number, round(grown.percent or 0, 3)) == ("flash_bytes", 1.033)
    assert compared(
        [SINE], [replace(SINE, flash_bytes=3001)], ONE_PERCENT | {"flash_bytes": 0}
    ).grown
    from_nothing = compared([replace(SINE, stack_bytes=0)], [SINE])
    assert [c.number for c in from_nothing.grown] == ["stack_bytes"]


def test_a_number_that_comes_or_goes_and_macs_are_shown_and_allowed() -> None:
    gone = compared([SINE], [replace(SINE, cycles=None, macs=440)])
    assert [(c.number, c.percent) for c in gone.changes] == [("cycles", None), ("macs", 100)]
    assert not gone.grown
    assert not compared([replace(SINE, cycles=None)], [SINE]).grown


def test_rows_come_and_go() -> None:
    old = replace(SINE, model="old")
    found = compare({r.key: r for r in (SINE, old, BARE)}, [SINE, SIZE], {SINE.key, BARE.key}, {})
    assert (found.added, found.removed, found.unchanged) == ((SIZE,), (old,), 1)


def result_of(folder: Path, before: list[CostRow], now: list[CostRow]) -> PipelineResult:
    configuration = configured(
        folder, f'boards = ["mps2-an386"]\ngoals = ["balanced", "size"]\n{MODEL}'
    )
    rows = {row.key: row for row in now}
    outcomes = [
        BuildOutcome(job, rows.get(job.key), "built and checked", ())
        if job.key in rows
        else BuildOutcome(job, None, "", ("build: `no` @model ```",))
        for job in configuration.jobs
    ]
    return PipelineResult(configuration, tuple(outcomes), compared(before, now))


def test_the_text_has_before_after_and_percent_of_what_changed(tmp_path: Path) -> None:
    other = replace(SINE, flash_bytes=2500, cycles=2100, gcc="11.1")
    text = markdown(result_of(tmp_path, [other, SIZE], [SINE, SIZE]))
    assert text.startswith(
        "<!-- mcu-deploy ci -->\n### ❌ mcu-deploy: 1 of 2 builds grew too much\n\n"
        "| model | board | goal |  | before | after | change |  |\n"
        "| --- | --- | --- | --- | --: | --: | --: | --- |\n"
        "| sine | mps2-an386 | balanced | flash | 2,500 | 3,000 | +20.00 % | over 1 % |\n"
        "| sine | mps2-an386 | balanced | modelled cycles | 2,100 | 2,000 | -4.76 % |  |\n\n"
        "1 build is unchanged.\n\n"
    )
    assert "mcu-deploy.csv was made with gcc 11.1" in text
    same = result_of(tmp_path, [SINE, SIZE], [SINE, SIZE])
    assert same.passed
    assert markdown(same).startswith(
        "<!-- mcu-deploy ci -->\n### ✅ mcu-deploy: 2 builds, as before\n\n"
        "2 builds are unchanged.\n"
    )


def test_what_failed_is_no_markup_in_the_text(tmp_path: Path) -> None:
    failed = result_of(tmp_path, [SINE], [SINE])
    assert failed.verdict == "1 of 2 builds failed"
    assert "````text\nsine on mps2-an386 for size: build: `no` @model ```\n````\n" in markdown(
        failed
    )


# ---- The first files ----


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_init_writes_a_pipeline_and_a_configuration_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    for model in ("models/b.onnx", "models/a b.tflite", 'models/"quoted".onnx', "models/b.tflite"):
        (tmp_path / model).touch()
    done = call("ci", "--init", name, "--source", "mcu-deploy==0.1.0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    target = tmp_path / provider_named(name).file
    assert f"wrote {provider_named(name).file}\nwrote mcu-deploy.toml\n" in done.stdout
    assert 'MCU_DEPLOY: "mcu-deploy==0.1.0"' in target.read_text()
    assert "renode" not in target.read_text()
    models = read_configuration(tmp_path / "mcu-deploy.toml").models
    assert [(m.name, m.file.name) for m in models] == [
        ("quoted", '"quoted".onnx'), ("a_b", "a b.tflite"), ("b", "b.onnx"), ("b_2", "b.tflite"),
    ]  # fmt: skip
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = call("ci", "--init", "github", cwd=tmp_path)
    if name == "github":
        assert again.returncode == 1
        assert "is there already, and is not overwritten" in again.stderr
    for path, content in before.items():
        assert path.read_bytes() == content


def test_another_pipeline_of_gitlab_stays_and_is_told_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".gitlab-ci.yml").write_text("job: {script: [make]}\n")
    done = call("ci", "--init", "gitlab", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "add to .gitlab-ci.yml: include: [{local: .gitlab/mcu-deploy.yml}]" in done.stdout
    assert (tmp_path / ".gitlab-ci.yml").read_text() == "job: {script: [make]}\n"
    assert (tmp_path / ".gitlab" / "mcu-deploy.yml").is_file()
    assert call("ci", "--init", "gitlab", cwd=tmp_path).returncode == 1


def test_boards_that_only_renode_has_bring_it_into_the_pipeline(tmp_path: Path) -> None:
    configured(tmp_path, f'boards = ["mps2-an386", "stm32f746"]\n{MODEL}')
    for name in NAMES:
        assert call("ci", "--init", name, cwd=tmp_path).returncode == 0
        text = (tmp_path / provider_named(name).file).read_text()
        (command,) = re.findall(r'renode-run"? (install (?:.*\\\n)*.*)\n', text)
        assert f"--version-override {RELEASE} {PACKAGE}" in re.sub(r"[\\\s]+", " ", command)
        assert f"renode-{RELEASE}\n" in text  # a cache with another one is not taken


def test_init_inside_of_a_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").mkdir()
    done = call("ci", "--init", "github", cwd=tmp_path / "inner")
    assert (done.returncode, list((tmp_path / "inner").iterdir())) == (1, [])
    assert "at the top of the repository" in done.stderr


@pytest.mark.parametrize(
    ("noted", "spec"),
    [
        (None, f"mcu-deploy=={first.VERSION}"),
        (
            '{"url": "https://host/x", "vcs_info": {"vcs": "git", "commit_id": "12ab"}}',
            "git+https://host/x@12ab",
        ),
        ('{"url": "https://host/x.whl", "archive_info": {}}', "https://host/x.whl"),
        ('{"url": "file:///home/me/mcu-deploy", "dir_info": {}}', first._WHEEL),
    ],
)
def test_a_runner_installs_what_is_installed_here(
    noted: str | None, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / f"mcu_deploy-{first.VERSION}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: mcu-deploy\nVersion: {first.VERSION}\n")
    if noted is not None:
        (info / "direct_url.json").write_text(noted)
    monkeypatch.syspath_prepend(tmp_path)
    found = first.installed_from()
    assert found.spec == spec
    assert bool(found.note) == (spec == first._WHEEL)


def test_what_is_installed_cannot_break_out_of_the_text() -> None:
    for name in NAMES:
        text = pipeline_text(provider_named(name), 'x"\nevil: << y >>')
        assert 'MCU_DEPLOY: "x\\"\\nevil: << y >>"\n' in text


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    for words in (["--init", "github", "--update"], ["--source", "x"], ["--init", "jenkins"]):
        assert call("ci", *words, cwd=tmp_path).returncode == 2
    assert call("ci", cwd=tmp_path).returncode == 1
    assert not list(tmp_path.iterdir())


# ---- Runs that fail ----


def test_an_old_report_is_not_taken_for_that_of_a_run_which_fails(tmp_path: Path) -> None:
    report, own = tmp_path / "out" / "report.md", tmp_path / "mine.md"
    report.parent.mkdir()
    old = "<!-- mcu-deploy ci -->\n### ✅ mcu-deploy: 2 builds, as before\n"
    report.write_text(old, encoding="utf-8")
    own.write_text("mine")
    words = ("ci", "-o", "out", "--report")
    assert call(*words, report, cwd=tmp_path).returncode == 1
    assert "❌ mcu-deploy: it could not begin" in (text := report.read_text(encoding="utf-8"))
    assert "The configuration mcu-deploy.toml does not exist" in text
    assert call(*words, own, cwd=tmp_path).returncode == 1
    assert own.read_text() == "mine"

    configured(tmp_path, f'boards = ["host"]\n{MODEL}')
    report.write_text(old, encoding="utf-8")
    (tmp_path / "out" / "mcu-deploy.csv").write_text("old")
    assert call(*words, report, cwd=tmp_path).returncode == 1
    assert "1 of 1 build failed" in report.read_text(encoding="utf-8")
    assert read_table(tmp_path / "out" / "mcu-deploy.csv") == {}
    renew_table(tmp_path / "mcu-deploy.csv", [SINE])
    done = call("ci", "-o", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert "mcu-deploy.csv is the table itself" in done.stderr
    assert read_table(tmp_path / "mcu-deploy.csv") == {SINE.key: SINE}


@pytest.mark.needs_host_gcc
def test_what_fails_of_a_build_is_said_where_it_is_listed(tmp_path: Path) -> None:
    configured(tmp_path, f'boards = ["host"]\n{MODEL}data = "none.npz"\n')
    (tmp_path / "sine.tflite").symlink_to(resources.root() / "examples" / "cmake" / "sine.tflite")
    done = call("ci", "--report", "sine.tflite/report.md", cwd=tmp_path)
    assert "sine.tflite/report.md cannot be written (a file is in" in done.stderr
    assert "sine on host" not in done.stdout
    done = call("ci", "--update", "--report", "report.md", cwd=tmp_path)
    assert done.returncode == 1
    assert "sine on host: built and checked, but validate fails\n" in done.stdout
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| built and checked, but validate fails |" in text
    assert "Mend what failed first: `mcu-deploy ci --update` renews" in text
    assert not (tmp_path / "mcu-deploy.csv").exists()


def test_advice_is_followed_by_no_refusal(tmp_path: Path) -> None:
    (grown,) = result_of(tmp_path, [SINE, SIZE], [SINE, replace(SIZE, ram_bytes=999)]).advice("t")
    path = tmp_path / "mcu-deploy.toml"
    assert grown == (
        f"Where it is wanted, `mcu-deploy ci --config {path} --update` renews t: commit it."
    )
    (failed,) = result_of(tmp_path, [], [SINE]).advice("t")
    assert failed.startswith("Mend what failed first: ")

    (tmp_path / "repository").mkdir()
    assert call("ci", "--init", "github", cwd=tmp_path / "repository").returncode == 0
    (tmp_path / "repository" / "mcu-deploy.toml").unlink()
    said = call("ci", cwd=tmp_path / "repository").stderr
    assert "`mcu-deploy ci --init github` or `--init gitlab` writes a first one" in said
    done = call("ci", "--init", "github", cwd=tmp_path / "repository")
    assert done.returncode == 0, done.stderr
    assert "mcu-deploy.yml is there already, and stays as it is." in done.stdout
    assert (tmp_path / "repository" / "mcu-deploy.toml").is_file()
