/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c: the description of this driver.
 */
#include "harness.h"

void test_describe(void) {
  check_description("cyclonedds");
  const ddsmark_description *info = d->describe();
  /* Both tested builds install the library under its version. */
  CHECK(strcmp(info->version_source, "library") == 0);
  CHECK_U64(info->receive_modes, 7);
  CHECK_U64(info->type_kinds, 3);
  const uint32_t f = info->features;
  CHECK(f & DDSMARK_FEATURE_NATIVE_BATCHING && !(f & DDSMARK_FEATURE_APPLICATION_BATCHING));
  CHECK(f & DDSMARK_FEATURE_WAIT_ACKED && f & DDSMARK_FEATURE_INSTANCES && !(f & DDSMARK_FEATURE_WRITER_LOANS));
  CHECK(f & DDSMARK_FEATURE_CONTENT_FILTER);
  CHECK(!(f & DDSMARK_FEATURE_LOCATORS) && (f & DDSMARK_FEATURE_ECHO_IN_LISTENER));
  CHECK(d->writer_assert_liveliness != NULL);
}

void test_policies_as_known(void) {
  const ddsmark_policy_support *p = d->describe()->policies;
  CHECK_U64(p[DDSMARK_POLICY_RELIABILITY].reader, DDSMARK_SUPPORT_ENFORCED);
  CHECK_U64(p[DDSMARK_POLICY_PRESENTATION].reader, DDSMARK_SUPPORT_MATCHED_ONLY);
  CHECK_U64(p[DDSMARK_POLICY_TRANSPORT_PRIORITY].reader, DDSMARK_SUPPORT_HINT);
  CHECK_U64(p[DDSMARK_POLICY_RESOURCE_LIMITS].writer, DDSMARK_SUPPORT_IGNORED);
  CHECK_U64(p[DDSMARK_POLICY_RESOURCE_LIMITS].reader, DDSMARK_SUPPORT_ENFORCED);
  CHECK_U64(p[DDSMARK_POLICY_READER_DATA_LIFECYCLE].reader, DDSMARK_SUPPORT_IGNORED);
  CHECK_U64(p[DDSMARK_POLICY_ENTITY_FACTORY].reader, DDSMARK_SUPPORT_UNSUPPORTED);
}
