/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: the entry, what this driver is, and the text of the last failure.
 */
#include "internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/version.h"

/* -- failures ------------------------------------------------------------------------------------------------------ */

static _Thread_local char last_failure[2048];

static const char *last_error(void) {
  return last_failure;
}

ddsmark_status fail(ddsmark_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_failure, sizeof last_failure, format, arguments);
  va_end(arguments);
  return status;
}

ddsmark_status fail_dds(dds_return_t code, const char *what) {
  fail(DDSMARK_ERROR, "%s: %s; hint: what Cyclone DDS has to say about it is on standard error", what,
       dds_strretcode(code));
  switch (code) {
  case DDS_RETCODE_TIMEOUT:
    return DDSMARK_TIMED_OUT;
  case DDS_RETCODE_UNSUPPORTED:
    return DDSMARK_UNSUPPORTED;
  case DDS_RETCODE_BAD_PARAMETER:
    return DDSMARK_BAD_ARGUMENT;
  case DDS_RETCODE_INCONSISTENT_POLICY:
    return DDSMARK_INCONSISTENT;
  default:
    return DDSMARK_ERROR;
  }
}

void copy_in(void *to, size_t size, const void *from, uint32_t from_size) {
  memset(to, 0, size);
  memcpy(to, from, from_size < size ? from_size : size);
}

/* -- what this driver is ------------------------------------------------------------------------------------------- */

/* Cyclone DDS has no call that tells its version, but it is installed as libddsc.so.<version>: the file that was
 * loaded, symbolic links followed, tells. */
static bool version_of_library(char *out, size_t size) {
  Dl_info info;
  char path[PATH_MAX];
  if (dladdr((void *)(uintptr_t)&dds_create_domain, &info) == 0 || realpath(info.dli_fname, path) == NULL)
    return false;
  const char *name = strrchr(path, '/');
  unsigned major, minor, patch;
  int end = 0;
  if (name == NULL || sscanf(name, "/libddsc.so.%u.%u.%u%n", &major, &minor, &patch, &end) != 3 || name[end] != '\0')
    return false;
  snprintf(out, size, "%u.%u.%u", major, minor, patch);
  return true;
}

static char version[32];
static ddsmark_description description = {
    .struct_size = sizeof(ddsmark_description),
    .features = DDSMARK_FEATURE_NATIVE_BATCHING | DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_INSTANCES |
                DDSMARK_FEATURE_MULTICAST,
    .name = "cyclonedds",
    .driver_version = DRIVER_VERSION,
    .middleware = "Eclipse Cyclone DDS",
    .licence = "EPL-2.0 OR BSD-3-Clause",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING | 1u << DDSMARK_RECEIVE_LISTENER,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS | 1u << DDSMARK_TYPE_KEYED,
    .transports = transport_infos,
    .options = option_infos,
};

static void describe_once(void) {
  const bool asked = version_of_library(version, sizeof version);
  description.middleware_version = asked ? version : DDS_VERSION;
  description.version_source = asked ? "library" : "headers";
  description.build = CYCLONE_BUILD[0] ? CYCLONE_BUILD : NULL;
  description.transport_count = transport_count;
  description.option_count = option_count;
  memcpy(description.policies, policy_supports, sizeof description.policies);
}

static const ddsmark_description *describe(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, describe_once);
  return &description;
}

static const ddsmark_driver driver = {
    .abi_version = DDSMARK_ABI_VERSION,
    .struct_size = sizeof(ddsmark_driver),
    .describe = describe,
    .last_error = last_error,
    .participant_open = participant_open,
    .participant_close = participant_close,
    .participant_settings = participant_settings,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .writer_matched = writer_matched,
    .writer_qos = writer_qos,
    .writer_settings = writer_settings,
    .writer_counters = writer_counters,
    .writer_write = writer_write,
    .writer_flush = writer_flush,
    .writer_wait_acked = writer_wait_acked,
    .writer_dispose = writer_dispose,
    .writer_unregister = writer_unregister,
    .writer_assert_liveliness = writer_assert_liveliness,
    .reader_open = reader_open,
    .reader_close = reader_close,
    .reader_matched = reader_matched,
    .reader_qos = reader_qos,
    .reader_settings = reader_settings,
    .reader_counters = reader_counters,
    .reader_receive = reader_receive,
};

const ddsmark_driver *ddsmark_driver_entry(void) {
  return &driver;
}
