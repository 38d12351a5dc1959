/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: policies, from ddsmark to Cyclone DDS and back.
 *
 * A dds_qos_t records which of its policies were set; only the dds_qset_* functions do this. Effective values are
 * read back from the entities. Partition, presentation and group data belong to the publisher or subscriber, topic
 * data to the topic. A policy that DDS does not define for the side (lifespan of a reader, time-based filter of a
 * writer) is not set and not reported as present.
 */
#include "internal.h"

/* Both enumerations have the same numbers, so values are cast after a range check. */
_Static_assert((int)DDS_RELIABILITY_RELIABLE == DDSMARK_RELIABLE, "reliability");
_Static_assert((int)DDS_HISTORY_KEEP_ALL == DDSMARK_KEEP_ALL, "history");
_Static_assert((int)DDS_DURABILITY_TRANSIENT_LOCAL == DDSMARK_TRANSIENT_LOCAL, "durability");
_Static_assert((int)DDS_DURABILITY_PERSISTENT == DDSMARK_PERSISTENT, "durability");
_Static_assert((int)DDS_LIVELINESS_MANUAL_BY_PARTICIPANT == DDSMARK_LIVELINESS_BY_PARTICIPANT, "liveliness");
_Static_assert((int)DDS_LIVELINESS_MANUAL_BY_TOPIC == DDSMARK_LIVELINESS_BY_TOPIC, "liveliness");
_Static_assert((int)DDS_OWNERSHIP_EXCLUSIVE == DDSMARK_OWNERSHIP_EXCLUSIVE, "ownership");
_Static_assert((int)DDS_PRESENTATION_GROUP == DDSMARK_SCOPE_GROUP, "presentation");
_Static_assert((int)DDS_DESTINATIONORDER_BY_SOURCE_TIMESTAMP == DDSMARK_ORDER_BY_SOURCE, "destination order");
_Static_assert(DDS_LENGTH_UNLIMITED == DDSMARK_UNLIMITED, "resource limits");

/* -- to Cyclone DDS ------------------------------------------------------------------------------------------------ */

/* Checks for policies that this library does not support. */
static ddsmark_status check(const ddsmark_qos *q) {
  if (q->present & POLICY(DURABILITY) && q->durability > DDSMARK_TRANSIENT_LOCAL)
    return fail(DDSMARK_UNSUPPORTED,
                "the value `%s` of `durability` is not supported: Cyclone DDS has no durability service; hint: use "
                "`transient_local`",
                q->durability == DDSMARK_TRANSIENT ? "transient" : "persistent");
  if (q->present & POLICY(PRESENTATION) && q->coherent_access)
    return fail(DDSMARK_UNSUPPORTED, "`coherent_access` of policy `presentation` is not supported: Cyclone DDS has no "
                                     "coherent sets; hint: set it to false");
  return DDSMARK_OK;
}

static void apply_group(const ddsmark_qos *q, dds_qos_t *group) {
  if (q->present & POLICY(PARTITION)) {
    /* Cyclone DDS does not modify the names, but its parameter lacks const. */
    const char **names = (const char **)(uintptr_t)q->partitions;
    dds_qset_partition(group, q->partition_count, names);
  }
  if (q->present & POLICY(PRESENTATION))
    dds_qset_presentation(group, (dds_presentation_access_scope_kind_t)q->presentation_scope, false,
                          q->ordered_access != 0);
  if (q->present & POLICY(GROUP_DATA))
    dds_qset_groupdata(group, q->group_data, q->group_data_size);
}

static void apply_endpoint(const ddsmark_qos *q, dds_qos_t *e) {
  if (q->present & POLICY(RELIABILITY))
    dds_qset_reliability(e, (dds_reliability_kind_t)q->reliability, duration_of(q->max_blocking_ns));
  if (q->present & POLICY(HISTORY))
    dds_qset_history(e, (dds_history_kind_t)q->history, q->history == DDSMARK_KEEP_ALL ? 1 : q->history_depth);
  if (q->present & POLICY(RESOURCE_LIMITS))
    dds_qset_resource_limits(e, q->max_samples, q->max_instances, q->max_samples_per_instance);
  if (q->present & POLICY(DURABILITY))
    dds_qset_durability(e, (dds_durability_kind_t)q->durability);
  if (q->present & POLICY(DURABILITY_SERVICE))
    dds_qset_durability_service(e, duration_of(q->service_cleanup_ns), (dds_history_kind_t)q->service_history,
                                q->service_history == DDSMARK_KEEP_ALL ? 1 : q->service_history_depth,
                                q->service_max_samples, q->service_max_instances, q->service_max_samples_per_instance);
  if (q->present & POLICY(DEADLINE))
    dds_qset_deadline(e, duration_of(q->deadline_ns));
  if (q->present & POLICY(LATENCY_BUDGET))
    dds_qset_latency_budget(e, duration_of(q->latency_budget_ns));
  if (q->present & POLICY(LIFESPAN))
    dds_qset_lifespan(e, duration_of(q->lifespan_ns));
  if (q->present & POLICY(LIVELINESS))
    dds_qset_liveliness(e, (dds_liveliness_kind_t)q->liveliness, duration_of(q->liveliness_lease_ns));
  if (q->present & POLICY(OWNERSHIP))
    dds_qset_ownership(e, (dds_ownership_kind_t)q->ownership);
  if (q->present & POLICY(OWNERSHIP_STRENGTH))
    dds_qset_ownership_strength(e, q->ownership_strength);
  if (q->present & POLICY(DESTINATION_ORDER))
    dds_qset_destination_order(e, (dds_destination_order_kind_t)q->destination_order);
  if (q->present & POLICY(TIME_BASED_FILTER))
    dds_qset_time_based_filter(e, duration_of(q->minimum_separation_ns));
  if (q->present & POLICY(TRANSPORT_PRIORITY))
    dds_qset_transport_priority(e, q->transport_priority);
  if (q->present & POLICY(WRITER_DATA_LIFECYCLE))
    dds_qset_writer_data_lifecycle(e, q->autodispose_unregistered != 0);
  if (q->present & POLICY(READER_DATA_LIFECYCLE))
    dds_qset_reader_data_lifecycle(e, duration_of(q->autopurge_nowriter_ns), duration_of(q->autopurge_disposed_ns));
  if (q->present & POLICY(USER_DATA))
    dds_qset_userdata(e, q->user_data, q->user_data_size);
}

ddsmark_status qos_make(const ddsmark_qos *asked, side s, qos_set *out) {
  ddsmark_qos q;
  ddsmark_status status;
  if ((status = qos_in(asked, policy_supports, s, s == SIDE_WRITER ? READER_ONLY : WRITER_ONLY, &q)) ||
      (status = check(&q)))
    return status;
  *out = (qos_set){dds_create_qos(), dds_create_qos(), dds_create_qos()};
  if (q.present & POLICY(TOPIC_DATA))
    dds_qset_topicdata(out->topic, q.topic_data, q.topic_data_size);
  apply_group(&q, out->group);
  apply_endpoint(&q, out->endpoint);
  /* The representation that all DDS implementations can read. */
  const dds_data_representation_id_t xcdr1[] = {DDS_DATA_REPRESENTATION_XCDR1};
  dds_qset_data_representation(out->endpoint, 1, xcdr1);
  return DDSMARK_OK;
}

void qos_free(qos_set *set) {
  dds_delete_qos(set->topic);
  dds_delete_qos(set->group);
  dds_delete_qos(set->endpoint);
}

/* -- and back ------------------------------------------------------------------------------------------------------ */

static uint64_t ns_of(dds_duration_t d) {
  return d == DDS_INFINITY ? DDSMARK_DURATION_INFINITE : (uint64_t)d;
}

/* The kinds are enums of Cyclone DDS, read through a variable of that type. */
#define READ_KIND(field, type, call)                                                                                   \
  do {                                                                                                                 \
    type kind;                                                                                                         \
    if ((got = (call)))                                                                                                \
      q->field = (int32_t)kind;                                                                                        \
  } while (0)

static void read_endpoint_kinds(const dds_qos_t *e, side s, ddsmark_qos *q) {
  bool got;
  dds_duration_t d = 0;
  READ_KIND(reliability, dds_reliability_kind_t, dds_qget_reliability(e, &kind, &d));
  q->max_blocking_ns = s == SIDE_WRITER ? ns_of(d) : 0;
  q->present |= got ? POLICY(RELIABILITY) : 0;
  READ_KIND(history, dds_history_kind_t, dds_qget_history(e, &kind, &q->history_depth));
  q->present |= got ? POLICY(HISTORY) : 0;
  READ_KIND(durability, dds_durability_kind_t, dds_qget_durability(e, &kind));
  q->present |= got ? POLICY(DURABILITY) : 0;
  READ_KIND(liveliness, dds_liveliness_kind_t, dds_qget_liveliness(e, &kind, &d));
  q->liveliness_lease_ns = ns_of(d);
  q->present |= got ? POLICY(LIVELINESS) : 0;
  READ_KIND(ownership, dds_ownership_kind_t, dds_qget_ownership(e, &kind));
  q->present |= got ? POLICY(OWNERSHIP) : 0;
  READ_KIND(destination_order, dds_destination_order_kind_t, dds_qget_destination_order(e, &kind));
  q->present |= got ? POLICY(DESTINATION_ORDER) : 0;
}

static void read_writer(const dds_qos_t *e, ddsmark_qos *q) {
  bool got, flag = false;
  dds_duration_t d = 0;
  READ_KIND(service_history, dds_history_kind_t,
            dds_qget_durability_service(e, &d, &kind, &q->service_history_depth, &q->service_max_samples,
                                        &q->service_max_instances, &q->service_max_samples_per_instance));
  q->service_cleanup_ns = ns_of(d);
  /* Only its history acts: with another value than the default of the rest, that would be reported as effective. */
  const bool acts = got && d == 0 && q->service_max_samples == DDSMARK_UNLIMITED &&
                    q->service_max_instances == DDSMARK_UNLIMITED &&
                    q->service_max_samples_per_instance == DDSMARK_UNLIMITED;
  q->present |= acts ? POLICY(DURABILITY_SERVICE) : 0;
  if (dds_qget_lifespan(e, &d)) {
    q->lifespan_ns = ns_of(d);
    q->present |= POLICY(LIFESPAN);
  }
  if (dds_qget_ownership_strength(e, &q->ownership_strength))
    q->present |= POLICY(OWNERSHIP_STRENGTH);
  if (dds_qget_transport_priority(e, &q->transport_priority))
    q->present |= POLICY(TRANSPORT_PRIORITY);
  if (dds_qget_writer_data_lifecycle(e, &flag)) {
    q->autodispose_unregistered = flag;
    q->present |= POLICY(WRITER_DATA_LIFECYCLE);
  }
}

static void read_reader(const dds_qos_t *e, ddsmark_qos *q) {
  dds_duration_t d = 0;
  if (dds_qget_resource_limits(e, &q->max_samples, &q->max_instances, &q->max_samples_per_instance))
    q->present |= POLICY(RESOURCE_LIMITS);
  /* A policy that is stored without effect is not reported, although it could be read back: RESOURCE_LIMITS of a
   * writer, READER_DATA_LIFECYCLE, and in some versions this one. */
  if (support_of(policy_supports, SIDE_READER, DDSMARK_POLICY_TIME_BASED_FILTER) == DDSMARK_SUPPORT_ENFORCED &&
      dds_qget_time_based_filter(e, &d)) {
    q->minimum_separation_ns = ns_of(d);
    q->present |= POLICY(TIME_BASED_FILTER);
  }
}

static void read_endpoint(const dds_qos_t *e, side s, qos_texts *texts, ddsmark_qos *q) {
  dds_duration_t d = 0;
  size_t size = 0;
  read_endpoint_kinds(e, s, q);
  if (dds_qget_deadline(e, &d)) {
    q->deadline_ns = ns_of(d);
    q->present |= POLICY(DEADLINE);
  }
  if (dds_qget_latency_budget(e, &d)) {
    q->latency_budget_ns = ns_of(d);
    q->present |= POLICY(LATENCY_BUDGET);
  }
  if (dds_qget_userdata(e, &texts->user_data, &size)) {
    q->user_data = texts->user_data;
    q->user_data_size = (uint32_t)size;
    q->present |= POLICY(USER_DATA);
  }
  s == SIDE_WRITER ? read_writer(e, q) : read_reader(e, q);
}

static void read_group(const dds_qos_t *g, qos_texts *texts, ddsmark_qos *q) {
  bool got, coherent = false, ordered = false;
  size_t size = 0;
  if (dds_qget_partition(g, &texts->partition_count, &texts->partitions)) {
    q->partitions = (const char *const *)texts->partitions;
    q->partition_count = texts->partition_count;
    q->present |= POLICY(PARTITION);
  }
  READ_KIND(presentation_scope, dds_presentation_access_scope_kind_t,
            dds_qget_presentation(g, &kind, &coherent, &ordered));
  q->coherent_access = coherent;
  q->ordered_access = ordered;
  q->present |= got ? POLICY(PRESENTATION) : 0;
  if (dds_qget_groupdata(g, &texts->group_data, &size)) {
    q->group_data = texts->group_data;
    q->group_data_size = (uint32_t)size;
    q->present |= POLICY(GROUP_DATA);
  }
}

ddsmark_status qos_read_back(dds_entity_t topic, dds_entity_t group, dds_entity_t entity, side s, qos_texts *texts,
                             ddsmark_qos *out) {
  qos_set set = {dds_create_qos(), dds_create_qos(), dds_create_qos()};
  dds_return_t rc;
  ddsmark_status status = DDSMARK_OK;
  if ((rc = dds_get_qos(topic, set.topic)) < 0 || (rc = dds_get_qos(group, set.group)) < 0 ||
      (rc = dds_get_qos(entity, set.endpoint)) < 0) {
    status = fail_dds(rc, "dds_get_qos", "cannot read back the QoS of the %s", s == SIDE_WRITER ? "writer" : "reader");
  } else {
    ddsmark_qos q = {.struct_size = sizeof q};
    size_t size = 0;
    qos_texts_free(texts);
    read_endpoint(set.endpoint, s, texts, &q);
    read_group(set.group, texts, &q);
    if (dds_qget_topicdata(set.topic, &texts->topic_data, &size)) {
      q.topic_data = texts->topic_data;
      q.topic_data_size = (uint32_t)size;
      q.present |= POLICY(TOPIC_DATA);
    }
    status = qos_out(&q, out);
  }
  qos_free(&set);
  return status;
}

void qos_texts_free(qos_texts *texts) {
  for (uint32_t i = 0; i < texts->partition_count; i++)
    dds_free(texts->partitions[i]);
  dds_free(texts->partitions);
  dds_free(texts->user_data);
  dds_free(texts->topic_data);
  dds_free(texts->group_data);
  *texts = (qos_texts){0};
}
