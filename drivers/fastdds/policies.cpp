/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.cpp: support of each policy by this driver, in the order of DDSMARK_POLICY_.
 */
#include "internal.hpp"

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    /* reliability */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* history */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* resource limits */ {SUPPORT_OF_BOTH(ENFORCED), "a write to a full history is rejected or times out"},
    /* durability */
    {SUPPORT_OF_BOTH(ENFORCED),
     "`volatile` and `transient_local`; `transient` and `persistent` are rejected, because they need a persistence "
     "store"},
    /* durability service */
    {SUPPORT_OF_BOTH(IGNORED), "stored without effect: late joiners receive the history of the writer"},
    /* deadline */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* latency budget */ {SUPPORT_OF_BOTH(IGNORED), "stored without effect"},
    /* lifespan */
    {SUPPORT_OF_BOTH(ENFORCED), "local to each endpoint: the driver also sets the requested lifespan on the reader"},
    /* liveliness */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* ownership */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* ownership strength */ {SUPPORT_OF_BOTH(ENFORCED), nullptr},
    /* partition */ {SUPPORT_OF_BOTH(ENFORCED), "names may contain wildcards"},
    /* presentation */
    {SUPPORT_OF_BOTH(IGNORED), "stored without effect; `coherent_access` is rejected: there are no coherent sets"},
    /* destination order */ {SUPPORT_OF_BOTH(UNSUPPORTED), "Fast DDS orders samples by reception only"},
    /* time-based filter */ {SUPPORT_OF_BOTH(IGNORED), "stored without effect: every sample is delivered"},
    /* transport priority */ {SUPPORT_OF_BOTH(IGNORED), "stored without effect: the DSCP of packets is not set"},
    /* writer data lifecycle */ {SUPPORT_OF_BOTH(ENFORCED), "affects types with a key only"},
    /* reader data lifecycle */ {SUPPORT_OF_BOTH(IGNORED), "stored without effect: no sample is purged"},
    /* user data */ {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    /* topic data */ {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    /* group data */ {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    /* entity factory */ {SUPPORT_OF_BOTH(UNSUPPORTED), "this driver enables all entities when they are created"},
};
static_assert(DDSMARK_POLICY_ENTITY_FACTORY == DDSMARK_POLICY_COUNT - 1 && DDSMARK_POLICY_DESTINATION_ORDER == 13,
              "the order of the table");
