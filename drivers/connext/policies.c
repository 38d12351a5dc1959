/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: support of each policy by this driver.
 */
#include "internal.h"

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_HISTORY] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {SUPPORT_OF_BOTH(ENFORCED),
                                        "the option `send_window` also blocks a reliable writer"},
    [DDSMARK_POLICY_DURABILITY] =
        {SUPPORT_OF_BOTH(ENFORCED),
         "`transient` and `persistent` samples outlive their writer only with RTI Persistence Service"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {SUPPORT_OF_BOTH(NEEDS_SERVICE), "only RTI Persistence Service uses it"},
    [DDSMARK_POLICY_DEADLINE] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_LATENCY_BUDGET] =
        {SUPPORT_OF_BOTH(HINT),
         "sets the sending order of asynchronous writers, with flow controllers that schedule by deadline"},
    [DDSMARK_POLICY_LIFESPAN] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_LIVELINESS] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_PARTITION] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_PRESENTATION] = {SUPPORT_OF_BOTH(HINT),
                                     "`coherent_access` is rejected: the driver contract has no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] =
        {SUPPORT_OF_BOTH(HINT), "sets the DSCP of packets only if a property sets the priority mask of the transport"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] =
        {SUPPORT_OF_BOTH(ENFORCED), "as documented by DDS; samples without data are not delivered to ddsmark"},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] =
        {SUPPORT_OF_BOTH(ENFORCED), "as documented by DDS; samples without data are not delivered to ddsmark"},
    [DDSMARK_POLICY_USER_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {SUPPORT_OF_BOTH(UNSUPPORTED),
                                       "this driver enables all entities when they are created"},
};
