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
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {ENFORCED, 0, "the option `send_window` also blocks a reliable writer"},
    [DDSMARK_POLICY_DURABILITY] =
        {ENFORCED, 0, "`transient` and `persistent` samples outlive their writer only with RTI Persistence Service"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {DDSMARK_SUPPORT_NEEDS_SERVICE, 0, "only RTI Persistence Service uses it"},
    [DDSMARK_POLICY_DEADLINE] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LATENCY_BUDGET] =
        {HINT, 0, "sets the sending order of asynchronous writers, with flow controllers that schedule by deadline"},
    [DDSMARK_POLICY_LIFESPAN] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_LIVELINESS] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PARTITION] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PRESENTATION] = {HINT, 0,
                                     "`coherent_access` is rejected: the driver contract has no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = {ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] =
        {HINT, 0, "sets the DSCP of packets only if a property sets the priority mask of the transport"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] =
        {ENFORCED, 0, "as documented by DDS; samples without data are not delivered to ddsmark"},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] =
        {ENFORCED, 0, "as documented by DDS; samples without data are not delivered to ddsmark"},
    [DDSMARK_POLICY_USER_DATA] = {ENFORCED, 0, "sent with discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {ENFORCED, 0, "sent with discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {ENFORCED, 0, "sent with discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {DDSMARK_SUPPORT_UNSUPPORTED, 0,
                                       "this driver enables all entities when they are created"},
};
