/* A board without a clock: the firmware in lock step with a test, over standard input and output.
 *
 * Each message is a u32 of the machine and that many bytes. The program sends what the device has
 * said since its last message, and waits for what the device is to receive. Bit 31 of a length says
 * that the device resets: what it says first after that follows as a message of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcu/firmware.h"
#include "mcu/platform.h"

const char mcu_platform_board[] = "stepped";
const char mcu_platform_core[] = "host";
const uint32_t mcu_platform_clock_hz = 1000;
const uint32_t mcu_platform_baud = 115200;

static uint8_t in[1U << 16], out[1U << 20];
static uint32_t in_size, in_at, out_size;

static void transfer(uint8_t *data, size_t size, int is_output) {
    for (size_t done = 0; done < size;) {
        ssize_t some =
            is_output ? write(1, data + done, size - done) : read(0, data + done, size - done);
        if (some <= 0) {
            exit(0);
        }
        done += (size_t)some;
    }
}

static void say(uint32_t flag) {
    uint32_t head = out_size | flag;
    transfer((uint8_t *)&head, sizeof head, 1);
    transfer(out, out_size, 1);
    out_size = 0;
}

void mcu_platform_init(void) {
}

size_t mcu_platform_read(uint8_t *data, size_t size) {
    size_t left = in_size - in_at;
    size = size < left ? size : left;
    memcpy(data, in + in_at, size);
    in_at += (uint32_t)size;
    return size;
}

void mcu_platform_wait(void) {
    say(0);
    transfer((uint8_t *)&in_size, sizeof in_size, 0);
    if (in_size > sizeof in) {
        abort();
    }
    transfer(in, in_size, 0);
    in_at = 0;
}

void mcu_platform_write(const uint8_t *data, size_t size) {
    if (size > sizeof out - out_size) {
        abort();
    }
    memcpy(out + out_size, data, size);
    out_size += (uint32_t)size;
}

void mcu_platform_reset(void) {
    say(1U << 31);
    execl("/proc/self/exe", "stepped", (char *)NULL);
    abort();
}

void mcu_platform_allow_stop(bool is_allowed) {
    (void)is_allowed;
}

mcu_counter_kind_t mcu_platform_counter_kind(void) {
    return MCU_COUNTER_TICKS;
}

/* Each run takes longer than the one before. */
uint64_t mcu_platform_counter(void) {
    static uint64_t now, step;
    return now += ++step;
}

size_t mcu_platform_stack_size(void) {
    return 4096;
}

size_t mcu_platform_stack_used(void) {
    return 1024;
}

int main(void) {
    mcu_firmware_main();
}
