/* SPDX-License-Identifier: Apache-2.0
 *
 * policies.c: support of each policy by this driver.
 */
#include "internal.h"

#ifdef HAVE_FEATURES_H
#include "dds/features.h"
#else /* without the header: built with its defaults, which have both */
#define DDS_HAS_LIFESPAN 1
#define DDS_HAS_DEADLINE_MISSED 1
#endif

#ifdef DDS_HAS_LIFESPAN
#define LIFESPAN_SUPPORT {SUPPORT_OF_BOTH(ENFORCED), NULL}
#else
#define LIFESPAN_SUPPORT {SUPPORT_OF_BOTH(UNSUPPORTED), "this Cyclone DDS was built without this policy"}
#endif
#ifdef DDS_HAS_DEADLINE_MISSED
#define DEADLINE_SUPPORT {SUPPORT_OF_BOTH(ENFORCED), NULL}
#else
#define DEADLINE_SUPPORT {SUPPORT_OF_BOTH(UNSUPPORTED), "this Cyclone DDS was built without this policy"}
#endif

/* 0.10 stores it without effect, as tested with 0.10.2; no header shows this. */
#ifdef HAVE_TIME_BASED_FILTER
#define TIME_BASED_FILTER_SUPPORT {SUPPORT_OF_BOTH(ENFORCED), "filters by source timestamp"}
#else
#define TIME_BASED_FILTER_SUPPORT                                                                                      \
  {SUPPORT_OF_BOTH(IGNORED), "stored without effect: this version delivers every sample"}
#endif

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_HISTORY] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {DDSMARK_SUPPORT_IGNORED, DDSMARK_SUPPORT_ENFORCED,
                                        "limits the samples of readers; writers block at a number of unacknowledged "
                                        "bytes instead, set by `send_queue` or the option `whc_high`"},
    [DDSMARK_POLICY_DURABILITY] =
        {SUPPORT_OF_BOTH(ENFORCED),
         "`volatile` and `transient_local`; `transient` and `persistent` are rejected, because there is no durability "
         "service; policy `durability_service` sets the history of late joiners"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {SUPPORT_OF_BOTH(ENFORCED),
                                           "its history is what a late joiner of a `transient_local` writer receives; "
                                           "`service_cleanup` and the limits have no effect"},
    [DDSMARK_POLICY_DEADLINE] = DEADLINE_SUPPORT,
    [DDSMARK_POLICY_LATENCY_BUDGET] =
        {SUPPORT_OF_BOTH(HINT), "if above 0 at the writer, a thread of Cyclone DDS batches and sends the samples"},
    [DDSMARK_POLICY_LIFESPAN] = LIFESPAN_SUPPORT,
    [DDSMARK_POLICY_LIVELINESS] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_PARTITION] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_PRESENTATION] = {SUPPORT_OF_BOTH(MATCHED_ONLY),
                                     "`coherent_access` is rejected: there are no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = TIME_BASED_FILTER_SUPPORT,
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] =
        {SUPPORT_OF_BOTH(HINT),
         "does not set the DSCP of packets; is only compared with the threshold for delivery by the receive thread"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = {SUPPORT_OF_BOTH(ENFORCED), NULL},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = {SUPPORT_OF_BOTH(IGNORED), "stored without effect: no sample is purged"},
    [DDSMARK_POLICY_USER_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {SUPPORT_OF_BOTH(ENFORCED), "sent with discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {SUPPORT_OF_BOTH(UNSUPPORTED),
                                       "Cyclone DDS enables all entities when they are created"},
};
