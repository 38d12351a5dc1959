/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: entry, description, and error texts of the library.
 */
#include "internal.h"

#include <pthread.h>
#include <string.h>

/* -- failures ------------------------------------------------------------------------------------------------------ */

ddsmark_status fail_code(int32_t code, const char *function, const char *what) {
  return fail(code_status((uint32_t)code),
              "%s: %s() failed: %s (return code %d); hint: see the messages of Connext in the log of the agent", what,
              function, code_name((uint32_t)code), (int)code);
}

ddsmark_status fail_null(const char *function, const char *what) {
  return fail(DDSMARK_ERROR,
              "%s: %s() returned NULL; hint: see the messages of Connext in the log of the agent, for example about a "
              "missing licence",
              what, function);
}

/* -- what this driver is ------------------------------------------------------------------------------------------- */

static const char *const variables[] = {"NDDS*", "RTI_*"};
static ddsmark_description description = {
    .struct_size = sizeof(ddsmark_description),
    .features = DDSMARK_FEATURE_NATIVE_BATCHING | DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_INSTANCES |
                DDSMARK_FEATURE_MULTICAST | DDSMARK_FEATURE_ASYNC_WRITE,
    .name = "connext",
    .driver_version = DRIVER_VERSION,
    .middleware = "RTI Connext Professional",
    .middleware_version = "not installed",
    .version_source = "library",
    .licence = "LicenseRef-RTI",
    .receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING,
    .type_kinds = 1u << DDSMARK_TYPE_OCTETS | 1u << DDSMARK_TYPE_KEYED,
    .transports = transport_infos,
    .options = option_infos,
    .variables = variables,
    .variable_count = sizeof variables / sizeof variables[0],
};

/* Starts no thread: Connext starts with its first participant. */
static void describe_once(void) {
  const api *a = api_get();
  if (a) {
    description.middleware_version = a->release;
    description.build = library_name(a->library.kind);
  } else {
    description.build = api_failure();
  }
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
