/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: support of each policy by this driver.
 */
#include "internal.h"

#define ENFORCED DDSMARK_SUPPORT_ENFORCED
#define HINT DDSMARK_SUPPORT_HINT

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_HISTORY] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {ENFORCED, 0,
                                        "of writers and readers; a reliable writer also blocks by the "
                                        "option send_window"},
    [DDSMARK_POLICY_DURABILITY] = {ENFORCED, 0,
                                   "transient and persistent outlive their writer only with RTI Persistence Service"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {DDSMARK_SUPPORT_NEEDS_SERVICE, 0, "RTI Persistence Service reads it"},
    [DDSMARK_POLICY_DEADLINE] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LATENCY_BUDGET] = {HINT, 0,
                                       "orders what asynchronous writers send, with flow controllers that look "
                                       "at it"},
    [DDSMARK_POLICY_LIFESPAN] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LIVELINESS] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PARTITION] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PRESENTATION] = {HINT, 0, "coherent access is refused: the contract has no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] = {HINT, 0, "no DSCP unless a transport's priority mask is set as a property"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = {ENFORCED, 0, "as documented; samples without data are not given here"},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = {ENFORCED, 0, "as documented; samples without data are not given here"},
    [DDSMARK_POLICY_USER_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {DDSMARK_SUPPORT_UNSUPPORTED, 0, "what is not enabled could not be used here"},
};
