/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.c: content filters of readers.
 *
 * Cyclone DDS has no filters in SQL. It has functions of topics that a reader calls for each sample before it stores
 * it. This driver reads conditions on the key and sets such a function.
 */
#include "internal.h"

#include <string.h>
#include <strings.h>

/* Skips spaces. */
static const char *skip(const char *from) {
  return from + strspn(from, " \t\n");
}

/* Reads a word, without regard to case, and the spaces after it. Returns whether it is there. */
static bool word(const char **at, const char *expected) {
  const size_t length = strlen(expected);
  if (strncasecmp(*at, expected, length) != 0)
    return false;
  *at = skip(*at + length);
  return true;
}

/* Reads a key and the spaces after it. */
static bool key(const char **at, uint32_t *out) {
  const char *digit = *at;
  uint64_t value = 0;
  for (; *digit >= '0' && *digit <= '9' && value <= UINT32_MAX; digit++)
    value = value * 10 + (uint64_t)(*digit - '0');
  if (digit == *at || value > UINT32_MAX)
    return false;
  *out = (uint32_t)value;
  *at = skip(digit);
  return true;
}

/* `key = A`, `key BETWEEN A AND B` or `key >= A AND key <= B`. */
static bool condition(const char *from, key_filter *out) {
  from = skip(from);
  if (!word(&from, "key"))
    return false;
  if (word(&from, "=")) {
    if (!key(&from, &out->first))
      return false;
    out->last = out->first;
  } else if (word(&from, "between")) {
    if (!key(&from, &out->first) || !word(&from, "and") || !key(&from, &out->last))
      return false;
  } else if (!word(&from, ">=") || !key(&from, &out->first) || !word(&from, "and") || !word(&from, "key") ||
             !word(&from, "<=") || !key(&from, &out->last)) {
    return false;
  }
  return *from == '\0' && out->first <= out->last;
}

ddsmark_status filter_read(const char *expression, bool keyed, key_filter *out) {
  if (!condition(expression, out))
    return fail(DDSMARK_UNSUPPORTED,
                "the content filter `%.100s` is not supported: Cyclone DDS lacks filters in SQL, and this driver reads "
                "conditions on the key; hint: use `key = A`, `key BETWEEN A AND B` or `key >= A AND key <= B`",
                expression);
  if (!keyed)
    return fail(DDSMARK_UNSUPPORTED,
                "the content filter `%.100s` is not supported by a type without key; hint: use the "
                "keyed type, or remove `content_filter`",
                expression);
  return DDSMARK_OK;
}

static bool includes(const void *sample, void *argument) {
  const key_filter *filter = argument;
  const uint32_t found = ((const KeyedSample *)sample)->key;
  return found >= filter->first && found <= filter->last;
}

ddsmark_status filter_set(dds_entity_t topic, key_filter *filter) {
  const dds_return_t rc = dds_set_topic_filter_and_arg(topic, includes, filter);
  return rc < 0 ? fail_dds(rc, "dds_set_topic_filter_and_arg", "cannot set the content filter") : DDSMARK_OK;
}
