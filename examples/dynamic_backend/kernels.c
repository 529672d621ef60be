/* A file of kernels/ holds one function, `static inline RESULT NAME(PARAMETERS) { BODY }`, and is C
 * that any compiler reads. In the network the functions have other names: $NAME stands for them, so
 * each "dynref_" becomes "$dynref_".
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <ctype.h>
#include <string.h>

#include "kernel_files.h" /* made by the build: const char kernel_file_conv[], ... */

static const char *const files[NUM_KERNELS] = {
    [KERNEL_QUANTIZE] = kernel_file_quantize,         [KERNEL_CONV] = kernel_file_conv,
    [KERNEL_DEPTHWISE] = kernel_file_depthwise,       [KERNEL_GEMM] = kernel_file_gemm,
    [KERNEL_AVERAGE_POOL] = kernel_file_average_pool, [KERNEL_SOFTMAX] = kernel_file_softmax,
    [KERNEL_REORDER] = kernel_file_reorder,
};

static const char *skip_space(const char *at) {
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* The begin of the name that ends at `end`. */
static const char *begin_of_name(const char *end) {
    while (isalnum((unsigned char)end[-1]) || end[-1] == '_') {
        end--;
    }
    return end;
}

static const char *trim_space(const char *end) {
    while (isspace((unsigned char)end[-1])) {
        end--;
    }
    return end;
}

/* "const int8_t *x, int32_t n)": the parameters up to the bracket. */
static bool read_parameters(mcu_function_t *function, arena_t *arena, const char *at) {
    uint32_t count = 1;
    for (const char *c = at; *c != ')'; c++) {
        count += *c == ',';
    }
    mcu_parameter_t *parameters = arena_take(arena, count, sizeof *parameters);
    if (parameters == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *type = skip_space(at);
        const char *end = type + strcspn(type, ",)");
        const char *name = begin_of_name(end);
        parameters[i].type = arena_text(arena, type, trim_space(name));
        parameters[i].name = arena_text(arena, name, end);
        if (parameters[i].type == NULL || parameters[i].name == NULL) {
            return false;
        }
        at = end + 1;
    }
    function->parameters = parameters;
    function->num_parameters = count;
    return true;
}

/* The body, with a $ before each name of a kernel. */
static char *read_body(arena_t *arena, const char *begin, const char *end) {
    static const char prefix[] = "dynref_";
    size_t names = 0;
    for (const char *c = strstr(begin, prefix); c != NULL && c < end; c = strstr(c + 1, prefix)) {
        names++;
    }
    char *body = arena_take(arena, (size_t)(end - begin) + names + 1, 1);
    if (body == NULL) {
        return NULL;
    }
    for (char *next = body; begin < end; begin++) {
        if (strncmp(begin, prefix, sizeof prefix - 1) == 0) {
            *next++ = '$';
        }
        *next++ = *begin;
    }
    return body;
}

static bool read_file(mcu_function_t *function, arena_t *arena, const char *file) {
    static const char qualifiers[] = "static inline ";
    const char *result = strstr(file, qualifiers) + sizeof qualifiers - 1;
    const char *bracket = strchr(result, '(');
    const char *name = begin_of_name(bracket);
    function->is_helper = 1;
    function->stem = arena_text(arena, name, bracket);
    function->result = arena_text(arena, result, trim_space(name));
    function->body = read_body(arena, strchr(bracket, '{'), strrchr(bracket, '}') + 1);
    return function->stem != NULL && function->result != NULL && function->body != NULL &&
           read_parameters(function, arena, bracket + 1);
}

bool kernels_read(kernels_t *kernels, arena_t *arena) {
    for (size_t k = 0; k < NUM_KERNELS; k++) {
        if (!read_file(&kernels->functions[k], arena, files[k])) {
            return false;
        }
    }
    return true;
}
