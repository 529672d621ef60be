/* The smallest program around a network: one inference, no board support, no printing.
 *
 * This is the main.c of TVM's ahead-of-time runtime in this API. It needs
 * what `mcu-deploy build` puts into a folder, kws here:
 *
 *     $ arm-none-eabi-gcc <the board's flags> -I kws/include \
 *           -DMCU_ARENA_NUM_PAGES=64 -DMCU_ARENA_PAGE_SIZE_LOG2=10 \
 *           examples/bare_main.c kws/arena/arena.c kws/network_kws.o kws/libmcu_crt.a \
 *           <your start-up code and linker script>
 *
 * main returns the class of the sample, 0 to 11, or 100 and more where the run was refused:
 * mcu_error_string(100 - result) says why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"
#include "network_kws.h"

/* One second of sound as 49 frames of 10 features each. -DFEATURES='"sample.inc"' takes the
 * numbers, separated by commas, from a file. */
static int8_t features[1 * 49 * 10 * 1] = {
#ifdef FEATURES
#include FEATURES
#else
    0
#endif
};
static int8_t scores[1 * 12];

int main(void) {
    static const int64_t features_shape[4] = {1, 49, 10, 1};
    static const int64_t scores_shape[2] = {1, 12};
    const DLDataType int8 = {kDLInt, 8, 1};

    DLTensor inputs[1] = {mcu_tensor(features, int8, features_shape, 4)};
    DLTensor outputs[1] = {mcu_tensor(scores, int8, scores_shape, 2)};

    int32_t status = mcu_run(mcu_network_kws, inputs, 1, outputs, 1);
    if (status != MCU_OK) {
        return 100 - (int)status;
    }
    int best = 0;
    for (int i = 1; i < 12; ++i) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}
