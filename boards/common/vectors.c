/* The vector table of a firmware with the protocol: interrupts that no driver of ours enables have
 * no entry. (What `mcu-deploy new` writes has one for each, which a function of the user's
 * replaces.) SPDX-License-Identifier: Apache-2.0 */
#include "board.h"

typedef void (*mcu_vector_t)(void);

struct mcu_vectors {
    uint32_t *initial_sp;
    mcu_vector_t system[15]; /* exceptions 1 .. 15 */
    mcu_vector_t interrupts[MCU_SERIAL_IRQ + 1];
};

#define MCU_SYSTEM(number) system[(number)-1]

__attribute__((section(".vectors"), used)) const struct mcu_vectors mcu_vectors = {
    .initial_sp = __handler_stack_top,
    .MCU_SYSTEM(1) = mcu_reset_handler,
    .MCU_SYSTEM(2) = mcu_fault_entry,  /* NMI */
    .MCU_SYSTEM(3) = mcu_fault_entry,  /* HardFault */
    .MCU_SYSTEM(4) = mcu_fault_entry,  /* MemManage */
    .MCU_SYSTEM(5) = mcu_fault_entry,  /* BusFault */
    .MCU_SYSTEM(6) = mcu_fault_entry,  /* UsageFault */
    .MCU_SYSTEM(7) = mcu_fault_entry,  /* SecureFault (Armv8-M) */
    .MCU_SYSTEM(11) = mcu_fault_entry, /* SVCall: nobody calls it */
    .MCU_SYSTEM(12) = mcu_fault_entry, /* DebugMonitor */
    .MCU_SYSTEM(14) = mcu_fault_entry, /* PendSV: the host stops a run */
    .MCU_SYSTEM(15) = mcu_counter_systick_handler,
    .interrupts[MCU_SERIAL_IRQ] = mcu_serial_handler,
};
