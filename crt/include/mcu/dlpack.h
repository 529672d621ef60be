/* The tensor types of DLPack 0.x, as far as a microcontroller needs them.
 * Layout and names follow https://github.com/dmlc/dlpack (include/dlpack/dlpack.h, DLTensor);
 * a project that already has DLPack's own header defines MCU_HAVE_DLPACK and includes it first.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_DLPACK_H
#define MCU_DLPACK_H

#include <stdint.h>

#ifndef MCU_HAVE_DLPACK

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { kDLCPU = 1 } DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0U,
    kDLUInt = 1U,
    kDLFloat = 2U,
    kDLBfloat = 4U,
    kDLBool = 6U,
    kDLFloat8_e4m3fn = 10U,
    kDLFloat8_e4m3fnuz = 11U,
    kDLFloat8_e5m2 = 12U,
    kDLFloat8_e5m2fnuz = 13U,
    kDLFloat8_e8m0fnu = 14U,
    kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

typedef struct {
    uint8_t code;   /* a DLDataTypeCode */
    uint8_t bits;   /* of one lane; of fewer than 8 several share a byte, from its lowest bits */
    uint16_t lanes; /* 1 for everything here */
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: compact, row-major */
    uint64_t byte_offset;
} DLTensor;

#ifdef __cplusplus
}
#endif

#endif /* MCU_HAVE_DLPACK */
#endif /* MCU_DLPACK_H */
