/* Faults on request, to test the fault handler and the way of its report to the host.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/protocol.h"

#if MCU_TEST_COMMANDS

enum {
    TEST_LOG = 0,
    UNDEFINED,
    BAD_READ,
    BAD_WRITE,
    BAD_JUMP,
    UNALIGNED,
    DIVISION,
    OVERFLOW,
    STATE,
    ENDLESS
};

/* In the SRAM region, above every SRAM, alias and bit-band of the supported chips: a bus error on
 * a Cortex-M, and not mapped in a process of the host. */
#define NOWHERE     ((uintptr_t)0x3F000000U)
#define IN_NO_LAYER 0xFFFFFFFFU

static uint32_t armed_what;
static uint32_t armed_model;
static uint32_t armed_layer = IN_NO_LAYER;

static bool core_can(uint32_t what) {
#if defined(__ARM_ARCH) && __ARM_ARCH_PROFILE == 'M'
#if !defined(__ARM_FEATURE_IDIV)
    if (what == DIVISION) {
        return false;
    }
#endif
    return what <= ENDLESS;
#else
    return what <= BAD_JUMP || what == OVERFLOW || what == ENDLESS;
#endif
}

static uint32_t overflow(uint32_t depth) {
    volatile uint8_t frame[256];
    frame[depth & 255U] = (uint8_t)depth;
    if (depth == 0xFFFFFFFFU) {
        return 0;
    }
    return overflow(depth + 1U) + frame[depth & 255U];
}

static void jump(uintptr_t address) {
    void (*volatile function)(void) = (void (*)(void))address;
    function();
}

static void provoke(uint32_t what) {
    volatile uint32_t *nowhere = (volatile uint32_t *)NOWHERE;
    switch (what) {
    case UNDEFINED:
        __builtin_trap();
        break;
    case BAD_READ:
        (void)*nowhere;
        break;
    case BAD_WRITE:
        *nowhere = 1;
        break;
    case BAD_JUMP:
        jump(NOWHERE | 1U);
        break;
    case OVERFLOW:
        (void)overflow(0);
        break;
    case ENDLESS:
        for (volatile bool ends = false; !ends;) {
        }
        break;
#if defined(__ARM_ARCH) && __ARM_ARCH_PROFILE == 'M'
    case UNALIGNED: {
        static uint32_t words[4];
#if __ARM_ARCH >= 7
        __asm volatile("ldrd r2, r3, [%0]" ::"r"((uintptr_t)words + 1U) : "r2", "r3", "memory");
#else
        __asm volatile("ldr r2, [%0]" ::"r"((uintptr_t)words + 1U) : "r2", "memory");
#endif
        break;
    }
#if defined(__ARM_FEATURE_IDIV)
    case DIVISION:
        __asm volatile("udiv r2, %0, %1" ::"r"(1U), "r"(0U) : "r2");
        break;
#endif
    case STATE:
        jump((uintptr_t)&provoke & ~(uintptr_t)1U);
        break;
#endif
    default:
        break;
    }
}

void mcu_provoke_in_layer(uint32_t model, uint32_t layer) {
    if (armed_layer == layer && armed_model == model) {
        armed_layer = IN_NO_LAYER;
        provoke(armed_what);
    }
}

void mcu_provoke_request(mcu_reader_t *request, mcu_message_t *reply) {
    size_t size = request->left;
    uint32_t what = mcu_get_u8(request);
    uint32_t when = mcu_get_u8(request);
    uint32_t index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &index);
    uint32_t layer = mcu_get_u16(request);
    if (size != 6U) {
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_LENGTH, (int32_t)size);
    } else if (!core_can(what) || when > 1U || (what == ENDLESS && when == 0U)) {
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_VALUE, (int32_t)what);
    } else if (what == TEST_LOG) {
        mcu_log("test");
    } else if (when == 0U) {
        provoke(what);
    } else if (entry != NULL && layer >= entry->model->num_layers) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_LAYER, (int32_t)entry->model->num_layers);
    } else if (entry != NULL) {
        armed_what = what;
        armed_model = index;
        armed_layer = layer;
    }
}

#endif /* MCU_TEST_COMMANDS */
