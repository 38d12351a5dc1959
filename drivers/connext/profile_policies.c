/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_policies.c: DDS policies -> XML that Connext reads.
 */
#include "internal.h"
#include "profile.h"

/* -- pieces -------------------------------------------------------------------------------------------------------- */

void add_duration(text *t, const char *element, uint64_t ns) {
  const uint64_t sec = ns / 1000000000u;
  if (sec >= INT32_MAX)
    text_add(t, "<%s><sec>DURATION_INFINITE_SEC</sec><nanosec>DURATION_INFINITE_NSEC</nanosec></%s>", element, element);
  else
    text_add(t, "<%s><sec>%llu</sec><nanosec>%llu</nanosec></%s>", element, (unsigned long long)sec,
             (unsigned long long)(ns % 1000000000u), element);
}

void add_count(text *t, const char *element, int32_t value) {
  if (value < 0)
    text_add(t, "<%s>LENGTH_UNLIMITED</%s>", element, element);
  else
    text_add(t, "<%s>%d</%s>", element, value, element);
}

static void add_octets(text *t, const char *element, const uint8_t *data, uint32_t size) {
  text_add(t, "<%s><value>", element);
  for (uint32_t i = 0; i < size; i++)
    text_add(t, "%s%u", i ? "," : "", data[i]);
  text_add(t, "</value></%s>", element);
}

/* -- policies ------------------------------------------------------------------------------------------------------ */

static const char *const reliabilities[] = {"BEST_EFFORT", "RELIABLE"};
static const char *const histories[] = {"KEEP_LAST", "KEEP_ALL"};
static const char *const durabilities[] = {"VOLATILE", "TRANSIENT_LOCAL", "TRANSIENT", "PERSISTENT"};
static const char *const livelinesses[] = {"AUTOMATIC", "MANUAL_BY_PARTICIPANT", "MANUAL_BY_TOPIC"};
static const char *const ownerships[] = {"SHARED", "EXCLUSIVE"};
static const char *const scopes[] = {"INSTANCE", "TOPIC", "GROUP"};
static const char *const orders[] = {"BY_RECEPTION_TIMESTAMP", "BY_SOURCE_TIMESTAMP"};

#define HAS(policy) (q->present & POLICY(policy))

static void add_limits(const ddsmark_qos *q, side s, text *t) {
  text_add(t, "<resource_limits>");
  add_count(t, "max_samples", q->max_samples);
  add_count(t, "max_instances", q->max_instances);
  add_count(t, "max_samples_per_instance", q->max_samples_per_instance);
  /* Initial allocations may not exceed the limits; Connext's default is 32 for each. */
  if (q->max_samples >= 0 && q->max_samples < 32)
    add_count(t, "initial_samples", q->max_samples);
  if (q->max_instances >= 0 && q->max_instances < 32)
    add_count(t, "initial_instances", q->max_instances);
  text_add(t, "</resource_limits>");
  if (s == SIDE_READER && q->max_samples >= 0) {
    text_add(t, "<reader_resource_limits>");
    add_count(t, "max_samples_per_remote_writer", q->max_samples);
    text_add(t, "</reader_resource_limits>");
  }
}

static void add_writer_policies(const ddsmark_qos *q, text *t) {
  if (HAS(DURABILITY_SERVICE)) {
    text_add(t, "<durability_service>");
    add_duration(t, "service_cleanup_delay", q->service_cleanup_ns);
    text_add(t, "<history_kind>%s_HISTORY_QOS</history_kind>", histories[q->service_history]);
    add_count(t, "history_depth", q->service_history == DDSMARK_KEEP_ALL ? 1 : q->service_history_depth);
    add_count(t, "max_samples", q->service_max_samples);
    add_count(t, "max_instances", q->service_max_instances);
    add_count(t, "max_samples_per_instance", q->service_max_samples_per_instance);
    text_add(t, "</durability_service>");
  }
  if (HAS(LIFESPAN)) {
    text_add(t, "<lifespan>");
    add_duration(t, "duration", q->lifespan_ns);
    text_add(t, "</lifespan>");
  }
  if (HAS(OWNERSHIP_STRENGTH))
    text_add(t, "<ownership_strength><value>%d</value></ownership_strength>", q->ownership_strength);
  if (HAS(TRANSPORT_PRIORITY))
    text_add(t, "<transport_priority><value>%d</value></transport_priority>", q->transport_priority);
  if (HAS(WRITER_DATA_LIFECYCLE))
    text_add(t,
             "<writer_data_lifecycle><autodispose_unregistered_instances>%s</autodispose_unregistered_instances>"
             "</writer_data_lifecycle>",
             q->autodispose_unregistered ? "true" : "false");
}

static void add_reader_policies(const ddsmark_qos *q, text *t) {
  if (HAS(TIME_BASED_FILTER)) {
    text_add(t, "<time_based_filter>");
    add_duration(t, "minimum_separation", q->minimum_separation_ns);
    text_add(t, "</time_based_filter>");
  }
  if (HAS(READER_DATA_LIFECYCLE)) {
    text_add(t, "<reader_data_lifecycle>");
    add_duration(t, "autopurge_nowriter_samples_delay", q->autopurge_nowriter_ns);
    add_duration(t, "autopurge_disposed_samples_delay", q->autopurge_disposed_ns);
    text_add(t, "</reader_data_lifecycle>");
  }
}

void add_policies(const ddsmark_qos *q, side s, text *t) {
  if (HAS(RELIABILITY)) {
    text_add(t, "<reliability><kind>%s_RELIABILITY_QOS</kind>", reliabilities[q->reliability]);
    if (s == SIDE_WRITER)
      add_duration(t, "max_blocking_time", q->max_blocking_ns);
    text_add(t, "</reliability>");
  }
  if (HAS(HISTORY)) {
    text_add(t, "<history><kind>%s_HISTORY_QOS</kind>", histories[q->history]);
    if (q->history == DDSMARK_KEEP_LAST)
      add_count(t, "depth", q->history_depth);
    text_add(t, "</history>");
  }
  if (HAS(RESOURCE_LIMITS))
    add_limits(q, s, t);
  if (HAS(DURABILITY))
    text_add(t, "<durability><kind>%s_DURABILITY_QOS</kind></durability>", durabilities[q->durability]);
  if (HAS(DEADLINE)) {
    text_add(t, "<deadline>");
    add_duration(t, "period", q->deadline_ns);
    text_add(t, "</deadline>");
  }
  if (HAS(LATENCY_BUDGET)) {
    text_add(t, "<latency_budget>");
    add_duration(t, "duration", q->latency_budget_ns);
    text_add(t, "</latency_budget>");
  }
  if (HAS(LIVELINESS)) {
    text_add(t, "<liveliness><kind>%s_LIVELINESS_QOS</kind>", livelinesses[q->liveliness]);
    add_duration(t, "lease_duration", q->liveliness_lease_ns);
    text_add(t, "</liveliness>");
  }
  if (HAS(OWNERSHIP))
    text_add(t, "<ownership><kind>%s_OWNERSHIP_QOS</kind></ownership>", ownerships[q->ownership]);
  if (HAS(DESTINATION_ORDER))
    text_add(t, "<destination_order><kind>%s_DESTINATIONORDER_QOS</kind></destination_order>",
             orders[q->destination_order]);
  if (HAS(USER_DATA))
    add_octets(t, "user_data", q->user_data, q->user_data_size);
  s == SIDE_WRITER ? add_writer_policies(q, t) : add_reader_policies(q, t);
}

void add_group(const ddsmark_qos *q, side s, text *t) {
  const char *element = s == SIDE_WRITER ? "publisher_qos" : "subscriber_qos";
  text_add(t, "<%s>", element);
  if (HAS(PARTITION)) {
    text_add(t, "<partition><name>");
    for (uint32_t i = 0; i < q->partition_count; i++) {
      text_add(t, "<element>");
      text_add_escaped(t, q->partitions[i]);
      text_add(t, "</element>");
    }
    text_add(t, "</name></partition>");
  }
  if (HAS(PRESENTATION))
    text_add(t,
             "<presentation><access_scope>%s_PRESENTATION_QOS</access_scope><coherent_access>%s</coherent_access>"
             "<ordered_access>%s</ordered_access></presentation>",
             scopes[q->presentation_scope], q->coherent_access ? "true" : "false",
             q->ordered_access ? "true" : "false");
  if (HAS(GROUP_DATA))
    add_octets(t, "group_data", q->group_data, q->group_data_size);
  text_add(t, "</%s>", element);
}

void add_topic(const ddsmark_qos *q, text *t) {
  text_add(t, "<topic_qos>");
  if (HAS(TOPIC_DATA))
    add_octets(t, "topic_data", q->topic_data, q->topic_data_size);
  text_add(t, "</topic_qos>");
}
