/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: function table, description, and opening of participants.
 */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

/* -- open and close ------------------------------------------------------------------------------------------------ */

static void discard(ddsmark_participant *p) {
  plan_free(&p->plan);
  free(p);
}

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  ddsmark_participant_config c;
  ddsmark_status status = config_in(config, &c);
  if (status != DDSMARK_OK)
    return status;
  ddsmark_participant *p = calloc(1, sizeof *p);
  if (p == NULL)
    return fail_memory("a participant");
  status = plan_make(&c, &p->plan);
  if (status == DDSMARK_OK && (p->api = api_get()) == NULL)
    status = fail(DDSMARK_ERROR, "%s", api_failure());
  if (status == DDSMARK_OK && p->plan.transport != TRANSPORT_UDP4)
    leftovers_remove();
  if (status == DDSMARK_OK && (status = participant_make(p)) == DDSMARK_OK && (status = trial(p)) != DDSMARK_OK)
    participant_unmake(p);
  if (status == DDSMARK_OK)
    *out = p;
  else
    discard(p);
  return status;
}

ddsmark_status participant_close(ddsmark_participant *p) {
  const ddsmark_status status = participant_unmake(p);
  discard(p);
  return status;
}

/* -- function table ------------------------------------------------------------------------------------------------ */

static const ddsmark_driver driver = DDS_DRIVER_TABLE;

const ddsmark_driver *ddsmark_driver_entry(void) {
  return &driver;
}
