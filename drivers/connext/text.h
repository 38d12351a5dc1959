/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h: a string that grows.
 */
#ifndef DDSMARK_CONNEXT_TEXT_H
#define DDSMARK_CONNEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* `failed` is set when memory has run out, and then stays. All 0 is an empty one. */
typedef struct text {
  char *data;
  size_t length, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As the content of an XML element. */
void text_add_escaped(text *t, const char *value);
void text_free(text *t);

#endif
