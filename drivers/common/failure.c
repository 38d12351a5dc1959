/* SPDX-License-Identifier: Apache-2.0
 *
 * failure.c: the text of the last error, return codes of DDS, versioned structs, counters.
 */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for the paths of all libraries that were tried. */
static _Thread_local char last_failure[16384];

const char *last_error(void) {
  return last_failure;
}

ddsmark_status fail(ddsmark_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_failure, sizeof last_failure, format, arguments);
  va_end(arguments);
  return status;
}

ddsmark_status fail_memory(const char *what) {
  return fail(DDSMARK_ERROR, "out of memory: cannot allocate %s; hint: check the free memory with `free -m`", what);
}

ddsmark_status fail_sample_size(uint64_t size, uint64_t max_payload) {
  return fail(DDSMARK_TOO_LARGE,
              "a sample of %llu bytes exceeds the maximum of its writer, %llu bytes; hint: open the writer with a "
              "larger `max_payload_bytes`",
              (unsigned long long)size, (unsigned long long)max_payload);
}

const char *code_name(uint32_t code) {
  static const char *const names[] = {"ok",
                                      "error",
                                      "unsupported",
                                      "bad parameter",
                                      "precondition not met",
                                      "out of resources",
                                      "not enabled",
                                      "immutable policy",
                                      "inconsistent policy",
                                      "already deleted",
                                      "timeout",
                                      "no data",
                                      "illegal operation",
                                      "not allowed by security"};
  return code < sizeof names / sizeof names[0] ? names[code] : "unknown";
}

ddsmark_status code_status(uint32_t code) {
  switch (code) {
  case CODE_OK:
    return DDSMARK_OK;
  case CODE_TIMEOUT:
    return DDSMARK_TIMED_OUT;
  case CODE_UNSUPPORTED:
    return DDSMARK_UNSUPPORTED;
  case CODE_BAD_PARAMETER:
    return DDSMARK_BAD_ARGUMENT;
  case CODE_INCONSISTENT_POLICY:
    return DDSMARK_INCONSISTENT;
  default:
    return DDSMARK_ERROR;
  }
}

void copy_in(void *to, size_t size, const void *from, uint32_t from_size) {
  memset(to, 0, size);
  memcpy(to, from, from_size < size ? from_size : size);
}

void counter_set(ddsmark_counters *c, uint32_t which, uint64_t value) {
  c->values[which] = value;
  c->valid |= UINT64_C(1) << which;
}

ddsmark_status counters_out(const ddsmark_counters *from, ddsmark_counters *out) {
  const uint32_t size = out->struct_size;
  if (size < offsetof(ddsmark_counters, values))
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid `struct_size` of ddsmark_counters: %u; hint: set it to the size of the struct", size);
  ddsmark_counters c = *from;
  for (uint32_t i = 0; i < DDSMARK_COUNTER_COUNT; i++)
    if (offsetof(ddsmark_counters, values) + (i + 1) * sizeof c.values[0] > size)
      c.valid &= ~(UINT64_C(1) << i);
  c.struct_size = size;
  memcpy(out, &c, size < sizeof c ? size : sizeof c);
  return DDSMARK_OK;
}
