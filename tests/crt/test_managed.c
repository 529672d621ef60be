/* What networks with --memory plain, mru or bestfit call: the managers behind slots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "mcu/managed.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"

MCU_ALIGNED(64) static uint8_t block[512];
static size_t state[MCU_MANAGER_WORDS];
static uint8_t *slots[3];

typedef int32_t (*take_t)(void *, uint8_t **, uint32_t);
typedef int32_t (*give_t)(void *, uint8_t **);

/* Two buffers, one given back and taken again, one too many. */
static void use(take_t take, give_t give, size_t peak) {
    const mcu_memory_manager_t *manager = (const mcu_memory_manager_t *)(void *)state;
    for (int run = 0; run < 2; ++run) {
        slots[0] = slots[1] = slots[2] = NULL;
        CHECK_INT(take(state, &slots[0], 100), MCU_OK);
        CHECK_INT(take(state, &slots[1], 100), MCU_OK);
        CHECK(slots[0] >= block && slots[1] > slots[0] && ((uintptr_t)slots[1] & 15U) == 0);
        uint8_t *first = slots[0];
        CHECK_INT(give(state, &slots[0]), MCU_OK);
        CHECK(slots[0] == NULL);
        CHECK_INT(give(state, &slots[0]), MCU_ERROR_INVALID_FREE);
        CHECK_INT(take(state, &slots[2], 90), MCU_OK);
        CHECK(slots[2] == first);
        CHECK_INT(take(state, &slots[0], 1000), MCU_ERROR_OUT_OF_MEMORY);
        CHECK(slots[0] == NULL);
        CHECK_INT(give(state, &slots[1]), MCU_OK);
        CHECK_INT(give(state, &slots[2]), MCU_OK);
        CHECK_INT(manager->used, 0);
        CHECK_INT(manager->peak, peak);
    }
}

static void plain_gives_pages(void) {
    CHECK_INT(_mcu_plain_begin(state, block, sizeof block, 5), MCU_OK);
    use(_mcu_plain_take, _mcu_plain_give, 256);
    CHECK_INT(_mcu_plain_begin(state, block, 8, 5), MCU_ERROR_CONFIGURATION);
}

static void mru_and_bestfit_give_blocks(void) {
    const size_t header = 2U * sizeof(void *);
    const size_t size = header + ((100U + header - 1U) & ~(header - 1U));
    CHECK_INT(_mcu_mru_begin(state, block, sizeof block), MCU_OK);
    use(_mcu_block_take, _mcu_block_give, 2U * size);
    CHECK_INT(_mcu_bestfit_begin(state, block, sizeof block), MCU_OK);
    use(_mcu_block_take, _mcu_block_give, 2U * size);
    CHECK_INT(_mcu_bestfit_begin(state, block, 8), MCU_ERROR_CONFIGURATION);
}

int main(void) {
    RUN_TEST(plain_gives_pages);
    RUN_TEST(mru_and_bestfit_give_blocks);
    return check_result();
}
