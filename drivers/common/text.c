/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: growing strings.
 */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *more = NULL;
  const int n = vasprintf(&more, format, arguments);
  va_end(arguments);
  if (n < 0) {
    t->failed = true;
    return;
  }
  if (t->length + (size_t)n + 1 > t->capacity) {
    const size_t capacity = 2 * (t->length + (size_t)n + 1);
    char *data = realloc(t->data, capacity);
    if (data == NULL) {
      t->failed = true;
      free(more);
      return;
    }
    t->data = data;
    t->capacity = capacity;
  }
  memcpy(t->data + t->length, more, (size_t)n + 1);
  t->length += (size_t)n;
  free(more);
}

void text_add_escaped(text *t, const char *value) {
  for (; *value; value++) {
    switch (*value) {
    case '<':
      text_add(t, "&lt;");
      break;
    case '>':
      text_add(t, "&gt;");
      break;
    case '&':
      text_add(t, "&amp;");
      break;
    case '"':
      text_add(t, "&quot;");
      break;
    default:
      text_add(t, "%c", *value);
    }
  }
}

void text_free(text *t) {
  free(t->data);
  *t = (text){0};
}
