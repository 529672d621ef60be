/* Reorder: the same tensor in another memory order. size and step: of y's axes in memory order, the
 * elements along each and how far apart they lie in x; bytes: of an element.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

static inline void dynref_reorder(const uint8_t *x, uint8_t *y, int32_t bytes, int32_t size_0,
                                  int32_t size_1, int32_t size_2, int32_t size_3, int32_t step_0,
                                  int32_t step_1, int32_t step_2, int32_t step_3) {
    for (int32_t i = 0; i < size_0; i++) {
        for (int32_t j = 0; j < size_1; j++) {
            for (int32_t k = 0; k < size_2; k++) {
                const uint8_t *from = x + (i * step_0 + j * step_1 + k * step_2) * bytes;
                for (int32_t l = 0; l < size_3; l++, from += step_3 * bytes, y += bytes) {
                    memcpy(y, from, (size_t)bytes);
                }
            }
        }
    }
}
