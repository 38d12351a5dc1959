/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: entry, description, and error texts of the library.
 */
#include "internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dds/version.h"

/* -- failures ------------------------------------------------------------------------------------------------------ */

ddsmark_status fail_dds(dds_return_t code, const char *function, const char *format, ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  fail(DDSMARK_ERROR, "%s: %s() failed: %s; hint: see the messages of Cyclone DDS in the log of the agent", what,
       function, dds_strretcode(code));
  _Static_assert(DDS_RETCODE_TIMEOUT == -CODE_TIMEOUT, "the codes of the standard, below 0");
  return code_status((uint32_t)-code);
}

/* -- what this driver is ------------------------------------------------------------------------------------------- */

static const char *const variables[] = {"CYCLONEDDS_*"};
static char version[32];
static ddsmark_description description = {
    .struct_size = sizeof(ddsmark_description),
    .features = DDSMARK_FEATURE_NATIVE_BATCHING | DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_INSTANCES |
                DDSMARK_FEATURE_MULTICAST | DDSMARK_FEATURE_CONTENT_FILTER | DDSMARK_FEATURE_ECHO_IN_LISTENER,
    .name = "cyclonedds",
    .driver_version = DRIVER_VERSION,
    .middleware = "Eclipse Cyclone DDS",
    .licence = "EPL-2.0 OR BSD-3-Clause",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING | 1u << DDSMARK_RECEIVE_LISTENER,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS | 1u << DDSMARK_TYPE_KEYED,
    .transports = transport_infos,
    .options = option_infos,
    .variables = variables,
    .variable_count = sizeof variables / sizeof variables[0],
};

static void describe_once(void) {
  /* Cyclone DDS has no function for its version, but its file is libddsc.so.<version>. */
  const bool asked = library_version((void *)(uintptr_t)&dds_create_domain, "libddsc", version, sizeof version);
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

static const ddsmark_driver driver = DDS_DRIVER_TABLE;

const ddsmark_driver *ddsmark_driver_entry(void) {
  return &driver;
}
