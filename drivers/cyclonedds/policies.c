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
#define LIFESPAN_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, NULL}
#else
#define LIFESPAN_SUPPORT {DDSMARK_SUPPORT_UNSUPPORTED, 0, "this Cyclone DDS was built without it"}
#endif
#ifdef DDS_HAS_DEADLINE_MISSED
#define DEADLINE_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, NULL}
#else
#define DEADLINE_SUPPORT {DDSMARK_SUPPORT_UNSUPPORTED, 0, "this Cyclone DDS was built without it"}
#endif

/* 0.10 stores it without effect, as tested with 0.10.2; no header shows this. */
#ifdef HAVE_TIME_BASED_FILTER
#define TIME_BASED_FILTER_SUPPORT {DDSMARK_SUPPORT_ENFORCED, 0, "by source timestamp"}
#else
#define TIME_BASED_FILTER_SUPPORT {DDSMARK_SUPPORT_IGNORED, 0, "stored; this version delivers every sample"}
#endif

const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT] = {
    [DDSMARK_POLICY_RELIABILITY] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_HISTORY] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_RESOURCE_LIMITS] = {DDSMARK_SUPPORT_ENFORCED, 0,
                                        "of readers; of writers the bytes not acknowledged are bounded, not the "
                                        "samples: by send_queue, or the option whc_high"},
    [DDSMARK_POLICY_DURABILITY] =
        {DDSMARK_SUPPORT_ENFORCED, 0,
         "volatile and transient-local; transient and persistent are refused: no service; what "
         "a late joiner gets is set by the durability service's history"},
    [DDSMARK_POLICY_DURABILITY_SERVICE] = {DDSMARK_SUPPORT_ENFORCED, 0,
                                           "its history decides what a late joiner of a transient-local writer gets; "
                                           "cleanup delay and limits are stored only"},
    [DDSMARK_POLICY_DEADLINE] = DEADLINE_SUPPORT,
    [DDSMARK_POLICY_LATENCY_BUDGET] = {DDSMARK_SUPPORT_HINT, 0,
                                       "more than 0 at the writer: a thread of the library's packs and sends"},
    [DDSMARK_POLICY_LIFESPAN] = LIFESPAN_SUPPORT,
    [DDSMARK_POLICY_LIVELINESS] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_OWNERSHIP_STRENGTH] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PARTITION] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_PRESENTATION] = {DDSMARK_SUPPORT_MATCHED_ONLY, 0,
                                     "coherent access is refused: there are no coherent sets"},
    [DDSMARK_POLICY_DESTINATION_ORDER] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_TIME_BASED_FILTER] = TIME_BASED_FILTER_SUPPORT,
    [DDSMARK_POLICY_TRANSPORT_PRIORITY] = {DDSMARK_SUPPORT_HINT, 0,
                                           "no DSCP; only a threshold for delivery by the receiving thread"},
    [DDSMARK_POLICY_WRITER_DATA_LIFECYCLE] = {DDSMARK_SUPPORT_ENFORCED, 0, NULL},
    [DDSMARK_POLICY_READER_DATA_LIFECYCLE] = {DDSMARK_SUPPORT_IGNORED, 0, "stored; nothing is purged"},
    [DDSMARK_POLICY_USER_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_TOPIC_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_GROUP_DATA] = {DDSMARK_SUPPORT_ENFORCED, 0, "carried by discovery"},
    [DDSMARK_POLICY_ENTITY_FACTORY] = {DDSMARK_SUPPORT_UNSUPPORTED, 0, "there is no call that sets it"},
};
