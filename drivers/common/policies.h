/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.h: policies as bits, and their offsets in a ddsmark_qos. For drivers and their tests.
 */
#ifndef DDSMARK_COMMON_POLICIES_H
#define DDSMARK_COMMON_POLICIES_H

#include <stddef.h>
#include <stdint.h>

#include "ddsmark/driver.h"

/* The bit of a policy. */
#define POLICY(policy) (UINT64_C(1) << DDSMARK_POLICY_##policy)
/* Policies that DDS defines for writers only, or for readers only. */
#define WRITER_ONLY                                                                                                    \
  (POLICY(DURABILITY_SERVICE) | POLICY(LIFESPAN) | POLICY(OWNERSHIP_STRENGTH) | POLICY(TRANSPORT_PRIORITY) |           \
   POLICY(WRITER_DATA_LIFECYCLE))
#define READER_ONLY (POLICY(TIME_BASED_FILTER) | POLICY(READER_DATA_LIFECYCLE))
/* The support of writers and of readers in a ddsmark_policy_support, if it is the same. */
#define SUPPORT_OF_BOTH(support) DDSMARK_SUPPORT_##support, DDSMARK_SUPPORT_##support

/* Kind of endpoint. */
typedef enum side { SIDE_WRITER, SIDE_READER } side;

/* Returns the DDSMARK_SUPPORT_ of policy number `policy` on this side. */
static inline uint32_t support_of(const ddsmark_policy_support *supports, side s, uint32_t policy) {
  return s == SIDE_WRITER ? supports[policy].writer : supports[policy].reader;
}

/* End offset of a field: a policy beyond the end of the caller's struct is absent. */
#define END(field) (offsetof(ddsmark_qos, field) + sizeof(((ddsmark_qos *)0)->field))

#endif
