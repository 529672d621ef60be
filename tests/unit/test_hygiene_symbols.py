"""The rules for a network's object, each on a real object that breaks just that rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hygiene_cases import M0, M4F, build, network, rules, run, symbols

from mcu_deploy.elf.reader import read_elf
from mcu_deploy.hygiene import check_files, check_object
from mcu_deploy.hygiene.findings import LinkUnit
from mcu_deploy.hygiene.symbols import check_abi_version, descriptors, load_rules

pytestmark = pytest.mark.needs_arm_gcc

# name: (source, the rules that it breaks, a symbol that a finding must name)
BAD = {
    "extra_function": (
        network(extra="int kws_helper(int a) { return a + 1; }"),
        {"extra-global"},
        "kws_helper",
    ),
    "extra_data": (
        network(extra="extern const int _mcu_kws_table[]; const int _mcu_kws_table[2] = {1, 2};"),
        {"extra-global"},
        "_mcu_kws_table",
    ),
    "hidden": (
        network(extra='__attribute__((visibility("hidden"))) void _mcu_kws_f(void) {}'),
        {"extra-global"},
        "_mcu_kws_f",
    ),
    "common": (
        network(extra="int _mcu_kws_shared __attribute__((common));"),
        {"common-symbol"},
        "_mcu_kws_shared",
    ),
    "weak": (
        network(extra="__attribute__((weak)) int _mcu_kws_f(void) { return 1; }"),
        {"weak-symbol"},
        "_mcu_kws_f",
    ),
    "weak_reference": (
        network(extra="extern void other(void) __attribute__((weak));", body="if (other) other();"),
        {"weak-symbol"},
        "other",
    ),
    "data": (
        network(extra="static int _mcu_kws_n = 5;", body="sum += _mcu_kws_n++;"),
        {"writable-data"},
        ".data",
    ),
    "bss": (
        network(extra="static int _mcu_kws_n;", body="sum += _mcu_kws_n++;"),
        {"writable-data"},
        ".bss",
    ),
    "thread_data": (
        network(extra="static __thread int _mcu_kws_n = 5;", body="sum += _mcu_kws_n++;"),
        {"writable-data"},
        ".tdata",
    ),
    "writable_code": (
        network(extra='__asm__(".pushsection .x, \\"awx\\", %progbits\\nnop\\n.popsection");'),
        {"writable-data"},
        ".x",
    ),
    "constructor": (
        network(
            extra="__attribute__((constructor)) static void _mcu_kws_init(void) { _mcu_run_end("
            "0, 0, 0, 0); }"
        ),
        {"init-array"},
        ".init_array",
    ),
    "old_constructor": (
        network(
            extra='__asm__(".pushsection .ctors, \\"aw\\", %progbits\\n.word 1\\n.popsection");'
        ),
        {"init-array"},
        ".ctors",
    ),
    "destructor_of_another_name": (
        network(extra='__asm__(".pushsection .x, \\"aw\\", %fini_array\\n.word 1\\n.popsection");'),
        {"init-array"},
        ".x",
    ),
    "heap": (
        network(body="{ void *volatile p = malloc(16); free(p); }"),
        {"undefined-symbol"},
        "malloc",
    ),
    "print": (network(body='printf("%d %d", sum, n);'), {"undefined-symbol"}, "printf"),
    "missing_own": (
        network(extra="extern const int8_t _mcu_kws_more[];", body="sum += _mcu_kws_more[n];"),
        {"undefined-symbol"},
        "_mcu_kws_more",
    ),
    "foreign_name": (
        network(
            extra="__attribute__((noinline)) static int helper(int a) { return a * 3; }",
            body="sum = helper(sum);",
        ),
        {"local-name"},
        "helper",
    ),
    "other_models_name": (
        network(
            extra="__attribute__((noinline)) static int _mcu_vww_f(int a) { return a * 3; }",
            body="sum = _mcu_vww_f(sum);",
        ),
        {"local-name"},
        "_mcu_vww_f",
    ),
    "old_abi": (network(abi="99"), {"abi-version"}, "_mcu_network_kws"),
    "writable_descriptor": (
        network(const=""),
        {"descriptor-not-constant", "writable-data"},
        "_mcu_network_kws",
    ),
    "descriptor_without_bytes": (
        '__asm__(".section .x, \\"a\\", %nobits\\n.global _mcu_network_kws\\n"'
        '"_mcu_network_kws: .space 96\\n.size _mcu_network_kws, 96");',
        {"descriptor-not-constant", "abi-version"},
        "_mcu_network_kws",
    ),
    "two": (network("kws") + network("vww"), {"extra-descriptor"}, "_mcu_network_vww"),
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    sources = {f"{name}.c": source for name, (source, _, _) in BAD.items()}
    return build(tmp_path_factory.mktemp("symbols"), sources, *M4F)


@pytest.mark.parametrize("name", BAD)
def test_finds_each_broken_rule_and_nothing_else(name: str, objects: dict[str, Path]) -> None:
    _, broken, symbol = BAD[name]
    findings = check_object(objects[name])
    assert rules(findings) == broken
    assert symbol in {finding.symbol for finding in findings}
    assert all(finding.message.endswith(".") for finding in findings)
    assert all(finding.remedy.endswith(".") for finding in findings)
    # The same object on the command line is known for a network by its descriptor.
    assert check_files([objects[name]]).findings == findings


def test_a_finding_of_the_heap_says_what_to_do(objects: dict[str, Path]) -> None:
    findings = check_object(objects["heap"])
    assert symbols(findings, "undefined-symbol") == {"malloc", "free"}
    assert all("heap" in finding.remedy for finding in findings)


CLEAN = network(
    extra="""
static int _mcu_kws_switch(int n) {
    switch (n) { case 0: return 7; case 1: return 5; case 2: return 31; case 3: return 2;
                 case 4: return 11; case 5: return 13; default: return 0; }
}
__attribute__((noinline)) static int _mcu_kws_jump(int n, int a) {
    switch (n) { case 0: return a * 7; case 1: return a ^ 5; case 2: return 31 - a;
                 case 3: return a >> 2; case 4: return a * a; case 5: return a | 13; }
    return a;
}
__attribute__((noinline)) static const char *_mcu_kws_name(int n) {
    static const char _mcu_kws_letters[3][4] = {"ab", "cd", "ef"};
    return n > 2 ? __func__ : _mcu_kws_letters[n];
}
""",
    body="""
    sum += _mcu_kws_switch(n) + _mcu_kws_jump(n, sum) + _mcu_kws_name(n)[0];
    sum += (int32_t)(((int64_t)sum << 20) / (n + 3));
    sum += __builtin_popcount((unsigned)sum) + (int)((double)sum * 1.5);
    sum += (int)(expf((float)sum) + nearbyintf(tanhf((float)n)) + erff((float)n));
    memmove(x, x + n, (size_t)sum); memset(x, 0, (size_t)n); memcpy(x, x + 32, (size_t)n);
    """,
)


def test_a_network_with_what_is_allowed_is_clean(tmp_path: Path) -> None:
    clean = build(tmp_path / "m4", {"kws.c": CLEAN}, *M4F, "-g", "-ffunction-sections")
    assert check_object(clean["kws"], expected_name="kws") == ()
    # Thumb-1 switch tables call __gnu_thumb1_case_*, and everything else is a call too.
    small = build(tmp_path / "m0", {"kws.c": CLEAN}, *M0, "-Os")
    assert b"__gnu_thumb1_case" in small["kws"].read_bytes()
    assert check_object(small["kws"]) == ()


def test_a_network_of_another_name_is_found(tmp_path: Path) -> None:
    made = build(tmp_path, {"kws.c": network(), "plain.c": "int f(void) { return 1; }"}, *M4F)
    assert rules(check_object(made["kws"], expected_name="vww")) == {"descriptor-name"}
    assert rules(check_object(made["plain"], expected_name="kws")) == {
        "no-descriptor",
        "extra-global",
    }


def test_ordinary_objects_are_not_held_to_the_rules_of_networks(tmp_path: Path) -> None:
    source = '#include <stdio.h>\nint counter; int main(void) { return printf("%d", counter++); }'
    made = build(tmp_path, {"main.c": source}, *M4F)
    assert check_files([made["main"]]).exit_code == 0
    strict = check_files([made["main"]], strict=True)
    assert rules(strict.findings) == {
        "no-descriptor",
        "extra-global",
        "undefined-symbol",
        "writable-data",
    }


@pytest.mark.needs_host_gcc
def test_host_objects_keep_the_same_rules(tmp_path: Path) -> None:
    sources = {"kws.c": network(), "old.c": network("old", abi="7"), "bad.c": BAD["heap"][0]}
    made = build(tmp_path / "nopic", sources, "-fno-pie", compiler="gcc")
    assert check_object(made["kws"], expected_name="kws") == ()
    assert check_files([made["kws"]]).files[0].models[0].workspace_bytes == 64
    assert rules(check_object(made["old"])) == {"abi-version"}
    assert rules(check_object(made["bad"])) == {"undefined-symbol"}
    pic = build(tmp_path / "pic", {"kws.c": network()}, "-fPIC", compiler="gcc")
    findings = check_object(pic["kws"])
    assert {"descriptor-not-constant", "writable-data"} <= rules(findings)
    assert any("-fno-pie" in finding.remedy for finding in findings)


def test_a_stripped_network_cannot_be_checked(tmp_path: Path) -> None:
    """Without mapping symbols code and literal pools look alike."""
    made = build(tmp_path, {"kws.c": network()}, *M4F)
    assert check_object(made["kws"]) == ()
    run(["arm-none-eabi-strip", "--strip-unneeded", "kws.o"], tmp_path)
    assert check_object(made["kws"]) == ()  # binutils keeps them
    rename = ["--redefine-sym", "$t=_mcu_kws_t", "--redefine-sym", "$d=_mcu_kws_d"]
    run(["arm-none-eabi-objcopy", *rename, "kws.o"], tmp_path)
    assert rules(check_object(made["kws"])) == {"no-mapping-symbols"}


def test_of_a_stripped_object_that_is_no_network_it_is_noted(tmp_path: Path) -> None:
    made = build(tmp_path, {"plain.c": "int f(int a) { return a + 1; }"}, *M4F)
    assert check_files([made["plain"]]).files[0].notes == ()
    run(["arm-none-eabi-objcopy", "--redefine-sym", "$t=x", "plain.o"], tmp_path)
    report = check_files([made["plain"]])
    said = "the object is stripped: its instructions could not be checked"
    assert (report.findings, report.files[0].notes) == ((), (said,))


def test_an_object_of_an_older_minor_version_fits(tmp_path: Path) -> None:
    """Its major version, and no more than the runtime has, as _mcu_abi_fits says."""
    made = build(tmp_path, {"kws.c": network(abi="(4U << 16) | 3U")})
    unit = LinkUnit("kws.o", "", read_elf(made["kws"].read_bytes()))
    symbol = descriptors(unit.elf)[0][1]
    for runtime, fits in (((4, 3), True), ((4, 9), True), ((4, 2), False), ((5, 3), False)):
        own = replace(load_rules(), abi_version=(runtime[0] << 16) | runtime[1])
        found = check_abi_version(unit, symbol, "kws", own)
        assert (found == []) is fits, runtime
        assert fits or "is 4.3, and" in found[0].message


def test_the_rules_come_from_the_headers() -> None:
    loaded = load_rules()
    assert loaded.abi_version >= 1 << 16
    assert {"_mcu_run_begin", "_mcu_run_end"} <= loaded.entry_points
    assert "_mcu_layer_event" not in loaded.entry_points


def test_writable_data_is_told_with_its_names(tmp_path: Path) -> None:
    named = network(extra="static int _mcu_kws_n = 5;", body="sum += _mcu_kws_n++;")
    nameless = ' .section .data,"aw",%progbits\n .word 1\n'
    made = build(tmp_path, {"named.c": named, "nameless.s": nameless}, *M4F)
    told = [
        finding.message for name in ("named", "nameless")
        for finding in check_files([made[name]]).findings if finding.rule == "writable-data"
    ]  # fmt: skip
    assert told[0].endswith("holds 4 bytes of writable data (_mcu_kws_n).")
    assert all("(" not in message for message in told[1:])
