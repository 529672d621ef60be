/* _mcu_parallel for one core. A file of its own: where a board brings another _mcu_parallel, the
 * linker leaves this member of libmcu_crt.a out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/parallel.h"

void _mcu_parallel(void (*first)(void *context), void (*second)(void *context), void *context) {
    first(context);
    second(context);
}
