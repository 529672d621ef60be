"""The models of the memory managers against the C of crt/: on this machine, and on a Cortex-M4."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manager_cases import (
    CONFIGURATIONS,
    CRT,
    LARGEST_BLOCK,
    SOURCES,
    RealManagers,
    random_sequence,
    sequences,
)
from sampling import examples

from mcu_deploy.plan.managers import (
    CONFIGURATIONS as BY_NAME,
)
from mcu_deploy.plan.managers import (
    Allocate,
    BlockConfiguration,
    Configuration,
    Free,
    PageConfiguration,
    Request,
    fit,
    least_bytes,
    simulate,
    smallest_block,
)

HERE = Path(__file__).resolve().parent
ANY_CONFIGURATION = st.sampled_from(CONFIGURATIONS)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> RealManagers:
    return RealManagers(tmp_path_factory.mktemp("managers"))


def model(
    configuration: Configuration, requests: list[Request], size: int, word: int, start: int = 0
) -> tuple[tuple[int, ...], int, int, bool] | None:
    manager = configuration.manager(size, word, start)
    if manager is None:
        return None
    trace = simulate(manager, requests)
    return trace.addresses, trace.used, trace.peak, trace.complete


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(600, 60), deadline=None)
@given(
    configuration=ANY_CONFIGURATION,
    requests=sequences((1, 4, 16, 32, 64)),
    size=st.one_of(st.integers(0, 200), st.integers(0, 4096)),
    start=st.integers(0, 127),
)
def test_the_model_gives_the_addresses_of_the_c(
    real: RealManagers,
    configuration: Configuration,
    requests: list[Request],
    size: int,
    start: int,
) -> None:
    assert model(configuration, requests, size, 8, start) == real.run(
        configuration, requests, size, start
    )


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(200, 25), deadline=None)
@given(configuration=ANY_CONFIGURATION, requests=sequences())
def test_the_smallest_block_is_the_first_that_serves(
    real: RealManagers, configuration: Configuration, requests: list[Request]
) -> None:
    """Every multiple of 16 below it is tried in C, so that none is left out wrongly."""
    size = smallest_block(configuration, [requests], word=8)
    if size <= LARGEST_BLOCK:
        done = real.run(configuration, requests, size, 0)
        assert done is not None
        assert done[3]
        assert done == model(configuration, requests, size, 8)
    for smaller in range(0, min(size, LARGEST_BLOCK), 16):
        failed = real.run(configuration, requests, smaller, 0)
        assert failed is None or not failed[3]


def test_a_larger_block_may_fail_where_a_smaller_one_serves() -> None:
    """Why the search has to look at each size: mru cuts the last part where it did not fit."""
    configuration = BlockConfiguration(nearest=False)
    for seed in range(400):
        requests = random_sequence(seed, 30)
        size = smallest_block(configuration, [requests])
        later = (configuration.manager(size + 16 * k) for k in range(1, 40))
        if not all(m is not None and simulate(m, requests).complete for m in later):
            return
    raise AssertionError("no such sequence was found; smallest_block could bisect")


@settings(max_examples=examples(200, 25), deadline=None)
@given(configuration=ANY_CONFIGURATION, sequences_=st.lists(sequences(), min_size=2, max_size=3))
def test_one_block_for_several_sequences_is_the_first_that_serves_each(
    configuration: Configuration, sequences_: list[list[Request]]
) -> None:
    size = smallest_block(configuration, sequences_)
    for tried in range(0, size + 16, 16):
        managers = [(configuration.manager(tried), requests) for requests in sequences_]
        served = [m is not None and simulate(m, requests).complete for m, requests in managers]
        assert all(served) == (tried == size)


def test_each_strategy_fits_a_chain_of_tensors() -> None:
    requests: list[Request] = [Allocate(0, 1000)]
    for k in range(1, 10):
        requests += [Allocate(k, 1000 + 100 * (k % 3)), Free(k - 1)]
    for name in BY_NAME:
        managed = fit(name, [requests])
        assert all(trace.complete for trace in managed.traces)
        assert 2300 < managed.peak <= managed.bytes < 3600, name
        assert least_bytes(managed.configuration, requests) <= managed.bytes


C_PROGRAM = """\
#include "check.h"
#include "mcu/memory.h"

typedef struct request {
    int16_t slot; /* below zero: give back -1 - slot */
    uint16_t size, alignment;
    int32_t address; /* -1: refused */
} request_t;

static const request_t requests[] = {
%(rows)s
};
static uint8_t memory[%(block)d] __attribute__((aligned(64)));
static void *held[8];

static void ask(mcu_memory_manager_t *manager, size_t from, size_t to, long used, long peak) {
    for (size_t i = from; i < to; ++i) {
        const request_t *r = &requests[i];
        if (r->slot < 0) {
            CHECK_INT(manager->free(manager, held[-1 - r->slot]), 0);
        } else {
            void *data = NULL;
            (void)manager->allocate(manager, r->size, r->alignment, &data);
            held[r->slot] = data;
            CHECK_INT(data == NULL ? -1 : (uint8_t *)data - memory, r->address);
        }
    }
    CHECK_INT((long)manager->used, used);
    CHECK_INT((long)manager->peak, peak);
}

static void addresses_are_those_of_the_model(void) {
    mcu_page_manager_t pages;
    mcu_block_manager_t blocks;
%(runs)s
}

int main(void) {
    RUN_TEST(addresses_are_those_of_the_model);
    return check_result();
}
"""


def c_program(seeds: range) -> str:
    """A program that asks the managers for random sequences, and compares with the models."""
    rows: list[str] = []
    runs: list[str] = []
    for seed in seeds:
        for configuration in CONFIGURATIONS:
            requests = random_sequence(seed)
            # Mostly a block that serves all of it, sometimes one that ends in a refusal.
            size = smallest_block(configuration, [requests]) - 16 * (seed % 3 == 0)
            manager = configuration.manager(size)
            assert manager is not None
            trace = simulate(manager, requests)
            first, addresses = len(rows), iter(trace.addresses)
            for request in requests:
                if isinstance(request, Free):
                    rows.append(f"    {{{-1 - request.slot}, 0, 1, 0}},")
                    continue
                address = next(addresses, -1)
                rows.append(
                    f"    {{{request.slot}, {request.bytes}, {request.alignment}, {address}}},"
                )
                if address < 0:
                    break
            if isinstance(configuration, PageConfiguration):
                log2 = configuration.page_size_log2
                init = f"mcu_page_manager_init(&pages, memory, {size}, {log2}, NULL, 0)"
                base = "pages"
            else:
                assert isinstance(configuration, BlockConfiguration)
                which = "bestfit" if configuration.nearest else "mru"
                init, base = f"mcu_{which}_init(&blocks, memory, {size})", "blocks"
            runs.append(f"    CHECK_INT({init}, 0);")
            runs.append(f"    ask(&{base}.base, {first}, {len(rows)}, {trace.used}, {trace.peak});")
    text = {"rows": "\n".join(rows), "runs": "\n".join(runs), "block": LARGEST_BLOCK}
    return C_PROGRAM % text


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_model_gives_the_addresses_on_a_cortex_m4(tmp_path: Path) -> None:
    source, elf = tmp_path / "managers.c", tmp_path / "managers.elf"
    source.write_text(c_program(range(60)))
    core = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
    target = HERE / "target"
    link = ["-nostartfiles", "--specs=nano.specs", "-T", target / "mps2-an386.ld"]
    sources = [source, HERE / "check.c", target / "startup.c", *SOURCES]
    gcc = ["arm-none-eabi-gcc", "-Os", *core, f"-I{CRT / 'include'}", f"-I{HERE}", *link]
    subprocess.run([*gcc, *sources, "-o", elf], check=True, timeout=60)
    qemu = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none"]
    semihosting = ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*qemu, *semihosting, "-kernel", elf], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok addresses_are_those_of_the_model" in done.stdout + done.stderr
