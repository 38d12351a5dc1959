/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c: text that grows, and the options that a driver is given.
 */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

void text_free(text *t) {
  free(t->data);
  *t = (text){0};
}

const char *option_value(const ddsmark_participant_config *config, const char *name) {
  for (uint32_t i = 0; i < config->option_count; i++)
    if (strcmp(config->options[i].name, name) == 0)
      return config->options[i].value;
  return NULL;
}

ddsmark_status option_names_check(const ddsmark_participant_config *config, const ddsmark_option_info *infos,
                                  uint32_t count) {
  for (uint32_t i = 0; i < config->option_count; i++) {
    const char *name = config->options[i].name;
    if (name == NULL || config->options[i].value == NULL)
      return fail(DDSMARK_BAD_ARGUMENT, "option %u has no name or no value", i);
    uint32_t known = 0;
    while (known < count && strcmp(infos[known].name, name) != 0)
      known++;
    if (known < count)
      continue;
    text names = {0};
    for (uint32_t k = 0; k < count; k++)
      text_add(&names, "%s%s", k ? ", " : "", infos[k].name);
    fail(DDSMARK_BAD_ARGUMENT, "option `%s` is unknown to this driver; hint: it has %s", name,
         names.failed ? "others" : names.data);
    text_free(&names);
    return DDSMARK_BAD_ARGUMENT;
  }
  return DDSMARK_OK;
}

ddsmark_status option_number(const ddsmark_participant_config *config, const char *name, uint64_t min, uint64_t max,
                             uint64_t *out) {
  const char *value = option_value(config, name);
  if (value == NULL)
    return DDSMARK_OK;
  char *end = NULL;
  errno = 0;
  const unsigned long long n = strtoull(value, &end, 10);
  if (errno || !isdigit((unsigned char)value[0]) || *end != '\0' || n < min || n > max)
    return fail(DDSMARK_BAD_ARGUMENT, "option `%s` is `%s`; hint: a whole number, %llu..%llu", name, value,
                (unsigned long long)min, (unsigned long long)max);
  *out = n;
  return DDSMARK_OK;
}

ddsmark_status peers_check(const ddsmark_participant_config *config) {
  for (uint32_t i = 0; i < config->peer_count; i++)
    if (config->peers == NULL || config->peers[i] == NULL || config->peers[i][0] == '\0')
      return fail(DDSMARK_BAD_ARGUMENT, "peer %u is empty", i);
  return DDSMARK_OK;
}

bool is_loopback_peer(const char *peer) {
  return strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0 || strcasecmp(peer, "localhost") == 0;
}
