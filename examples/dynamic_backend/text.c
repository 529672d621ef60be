/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union block {
    union block *next;
    long long alignment_of_integers;
    long double alignment_of_reals;
} block_t;

struct arena {
    block_t *blocks; /* each stands before the memory that was taken with it */
};

arena_t *arena_create(void) {
    return calloc(1, sizeof(arena_t));
}

void *arena_take(arena_t *arena, size_t elements, size_t bytes_each) {
    if (bytes_each != 0 && elements > (SIZE_MAX - sizeof(block_t)) / bytes_each) {
        return NULL;
    }
    block_t *block = calloc(1, sizeof(block_t) + elements * bytes_each);
    if (block == NULL) {
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block + 1;
}

void *arena_copy(arena_t *arena, const void *from, size_t elements, size_t bytes_each) {
    void *copy = from == NULL ? NULL : arena_take(arena, elements, bytes_each);
    if (copy != NULL) {
        memcpy(copy, from, elements * bytes_each);
    }
    return copy;
}

char *arena_text(arena_t *arena, const char *begin, const char *end) {
    const size_t length = (size_t)(end - begin);
    char *copy = arena_take(arena, length + 1, 1);
    if (copy != NULL) {
        memcpy(copy, begin, length);
    }
    return copy;
}

void arena_free(arena_t *arena) {
    if (arena == NULL) {
        return;
    }
    while (arena->blocks != NULL) {
        block_t *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    free(arena);
}

void text_add(text_t *text, const char *format, ...) {
    const size_t room = sizeof text->characters - text->length;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->characters + text->length, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room) {
        text->is_cut = true;
        return;
    }
    text->length += (size_t)length;
}
