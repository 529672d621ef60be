/* Memory and text of an answer: all of it is given back at once, by `release`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_TEXT_H
#define DYNAMICREF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks of memory that end together. An arena is the handle of an answer. */
typedef struct arena arena_t;

/* NULL where there is no memory. */
arena_t *arena_create(void);

/* Zeroed memory, aligned for any type; NULL where there is none. */
void *arena_take(arena_t *arena, size_t elements, size_t bytes_each);

/* A copy in the arena; NULL where there is no memory, or nothing to copy. */
void *arena_copy(arena_t *arena, const void *from, size_t elements, size_t bytes_each);

/* A copy of the characters from begin to end, ended by a zero; NULL where there is no memory. */
char *arena_text(arena_t *arena, const char *begin, const char *end);

void arena_free(arena_t *arena);

/* Text that grows in a buffer of fixed size. */
typedef struct text {
    char characters[2048];
    size_t length;
    bool is_cut; /* it did not fit */
} text_t;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void text_add(text_t *text, const char *format, ...);

#endif
