/* Runs examples/two_models_main.c (its main renamed) and looks at what it leaves behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "check.h"

int example_main(void);
extern int32_t heard[2];
extern int32_t seen;

static void both_microphones_and_the_camera_are_classified(void) {
    heard[0] = heard[1] = seen = -1;
    CHECK_INT(example_main(), 0);
    CHECK_INT(heard[0], (490 * 2) % 12); /* the stand-in's class: the sum of what it hears */
    CHECK_INT(heard[1], (490 * 6) % 12);
    CHECK_INT(seen, (27648 * 4) % 2);
}

int main(void) {
    RUN_TEST(both_microphones_and_the_camera_are_classified);
    return check_result();
}
