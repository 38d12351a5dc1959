/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.cpp: support of each policy by this driver, in the order of DDSMARK_POLICY_.
 */
#include "internal.hpp"

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    /* reliability */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* history */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* resource limits */ {DDSMARK_SUPPORT_ENFORCED, 0, "a write to a full history is rejected or times out"},
    /* durability */
    {DDSMARK_SUPPORT_ENFORCED, 0,
     "`volatile` and `transient_local`; `transient` and `persistent` are rejected, because they need a persistence "
     "store"},
    /* durability service */
    {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect: late joiners receive the history of the writer"},
    /* deadline */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* latency budget */ {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect"},
    /* lifespan */
    {DDSMARK_SUPPORT_ENFORCED, 0, "local to each endpoint: the driver also sets the requested lifespan on the reader"},
    /* liveliness */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* ownership */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* ownership strength */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* partition */ {DDSMARK_SUPPORT_ENFORCED, 0, "names may contain wildcards"},
    /* presentation */
    {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect; `coherent_access` is rejected: there are no coherent sets"},
    /* destination order */ {DDSMARK_SUPPORT_UNSUPPORTED, 0, "Fast DDS orders samples by reception only"},
    /* time-based filter */ {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect: every sample is delivered"},
    /* transport priority */ {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect: the DSCP of packets is not set"},
    /* writer data lifecycle */ {DDSMARK_SUPPORT_ENFORCED, 0, "affects types with a key only"},
    /* reader data lifecycle */ {DDSMARK_SUPPORT_IGNORED, 0, "stored without effect: no sample is purged"},
    /* user data */ {DDSMARK_SUPPORT_ENFORCED, 0, "sent with discovery"},
    /* topic data */ {DDSMARK_SUPPORT_ENFORCED, 0, "sent with discovery"},
    /* group data */ {DDSMARK_SUPPORT_ENFORCED, 0, "sent with discovery"},
    /* entity factory */ {DDSMARK_SUPPORT_UNSUPPORTED, 0, "this driver enables all entities when they are created"},
};
static_assert(DDSMARK_POLICY_ENTITY_FACTORY == DDSMARK_POLICY_COUNT - 1 && DDSMARK_POLICY_DESTINATION_ORDER == 13,
              "the order of the table");
