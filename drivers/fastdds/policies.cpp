/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.cpp: support of each policy by this driver, in the order of DDSMARK_POLICY_.
 */
#include "internal.hpp"

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    /* reliability */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* history */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* resource limits */ {DDSMARK_SUPPORT_ENFORCED, 0, "of writers a full history refuses or times out"},
    /* durability */
    {DDSMARK_SUPPORT_ENFORCED, 0,
     "volatile and transient-local; transient and persistent are refused: they keep data only with a store"},
    /* durability service */ {DDSMARK_SUPPORT_IGNORED, 0, "stored; the writer's history is what late joiners get"},
    /* deadline */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* latency budget */ {DDSMARK_SUPPORT_IGNORED, 0, "stored"},
    /* lifespan */ {DDSMARK_SUPPORT_ENFORCED, 0, "each side by itself: set on writer and reader"},
    /* liveliness */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* ownership */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* ownership strength */ {DDSMARK_SUPPORT_ENFORCED, 0, nullptr},
    /* partition */ {DDSMARK_SUPPORT_ENFORCED, 0, "with wildcards"},
    /* presentation */ {DDSMARK_SUPPORT_IGNORED, 0, "stored; there are no coherent sets"},
    /* destination order */ {DDSMARK_SUPPORT_UNSUPPORTED, 0, "by reception only"},
    /* time-based filter */ {DDSMARK_SUPPORT_IGNORED, 0, "stored; every sample is given"},
    /* transport priority */ {DDSMARK_SUPPORT_IGNORED, 0, "stored; no DSCP"},
    /* writer data lifecycle */ {DDSMARK_SUPPORT_ENFORCED, 0, "of types with a key"},
    /* reader data lifecycle */ {DDSMARK_SUPPORT_IGNORED, 0, "stored; nothing is purged"},
    /* user data */ {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    /* topic data */ {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    /* group data */ {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    /* entity factory */ {DDSMARK_SUPPORT_UNSUPPORTED, 0, "what is opened is enabled"},
};
static_assert(DDSMARK_POLICY_ENTITY_FACTORY == DDSMARK_POLICY_COUNT - 1 && DDSMARK_POLICY_DESTINATION_ORDER == 13,
              "the order of the table");
