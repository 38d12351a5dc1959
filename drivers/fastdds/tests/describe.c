/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c: the description of this driver.
 */
#include "harness.h"

void test_describe(void) {
  check_description("fastdds");
  const ddsmark_description *info = d->describe();
  CHECK_U64(info->receive_modes, 7);
  CHECK_U64(info->type_kinds, 7);
  CHECK_U64(info->transport_count, info->middleware_version[0] == '2' ? 6 : 7);
  const uint32_t f = info->features;
  CHECK(!(f & DDSMARK_FEATURE_NATIVE_BATCHING) && f & DDSMARK_FEATURE_APPLICATION_BATCHING);
  CHECK(f & DDSMARK_FEATURE_WAIT_ACKED && f & DDSMARK_FEATURE_INSTANCES && f & DDSMARK_FEATURE_WRITER_LOANS);
  const bool threads_have_names = strncmp(info->middleware_version, "2.9.", 4) != 0;
  CHECK_U64(info->kept_thread_count, threads_have_names);
  CHECK(!threads_have_names || strcmp(info->kept_threads[0], "dds.shm.wdog") == 0);
  CHECK(!(f & DDSMARK_FEATURE_LOCATORS) && (f & DDSMARK_FEATURE_ECHO_IN_LISTENER));
}

void test_policies_as_known(void) {
  const ddsmark_policy_support *p = d->describe()->policies;
  CHECK_U64(p[DDSMARK_POLICY_RELIABILITY].reader, DDSMARK_SUPPORT_ENFORCED);
  CHECK_U64(p[DDSMARK_POLICY_DESTINATION_ORDER].reader, DDSMARK_SUPPORT_UNSUPPORTED);
  CHECK_U64(p[DDSMARK_POLICY_TIME_BASED_FILTER].reader, DDSMARK_SUPPORT_IGNORED);
  CHECK_U64(p[DDSMARK_POLICY_WRITER_DATA_LIFECYCLE].reader, DDSMARK_SUPPORT_ENFORCED);
  CHECK_U64(p[DDSMARK_POLICY_ENTITY_FACTORY].reader, DDSMARK_SUPPORT_UNSUPPORTED);
}
