/* SPDX-License-Identifier: Apache-2.0
 *
 * readback.c: XML that Connext prints of a QoS -> policies.
 *
 * The text is that of DDS_DataWriterQos_to_string_w_params() and similar functions: one element per policy, without
 * attributes. Text of another form yields no policy, rather than a wrong one.
 */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- elements ------------------------------------------------------------------------------------------------------ */

#define MAX_PATH 256

/* Copies a text without surrounding white space, with entity references resolved. False if there is no room. */
static bool copy_content(const char *from, size_t length, char *out, size_t size) {
  static const struct {
    const char *name;
    char meaning;
  } references[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  while (length > 0 && isspace((unsigned char)from[0])) {
    from++;
    length--;
  }
  while (length > 0 && isspace((unsigned char)from[length - 1]))
    length--;
  size_t n = 0;
  for (size_t i = 0; i < length; n++) {
    if (n + 1 >= size)
      return false;
    out[n] = from[i];
    size_t step = 1;
    for (size_t r = 0; from[i] == '&' && r < sizeof references / sizeof references[0]; r++) {
      const size_t l = strlen(references[r].name);
      if (i + l <= length && memcmp(from + i, references[r].name, l) == 0) {
        out[n] = references[r].meaning;
        step = l;
      }
    }
    i += step;
  }
  if (size == 0)
    return false;
  out[n] = '\0';
  return true;
}

/* Walks through the tags. `place` is the current path without the root element. */
bool element_text(const char *xml, const char *path, uint32_t index, char *out, size_t size) {
  char place[MAX_PATH] = "";
  int depth = 0;
  while (xml && (xml = strchr(xml, '<')) != NULL) {
    const char *close = strchr(xml, '>');
    if (close == NULL)
      return false;
    const bool ends = xml[1] == '/', empty = close[-1] == '/';
    if (xml[1] == '?' || xml[1] == '!') {
      xml = close + 1;
      continue;
    }
    if (ends) {
      char *slash = strrchr(place, '/');
      *(slash ? slash : place) = '\0';
      if (--depth <= 0)
        return false;
    } else {
      const char *name = xml + 1;
      const size_t length = strcspn(name, " \t\r\n/>"), before = strlen(place);
      if (depth > 0) {
        if (before + length + 2 > sizeof place)
          return false;
        if (before)
          strcat(place, "/");
        strncat(place, name, length);
      }
      depth++;
      if (depth > 1 && strcmp(place, path) == 0 && index-- == 0) {
        const char *stop = empty ? close + 1 : strchr(close + 1, '<');
        return stop && copy_content(close + 1, empty ? 0 : (size_t)(stop - close - 1), out, size);
      }
      if (empty) {
        place[before] = '\0';
        depth--;
      }
    }
    xml = close + 1;
  }
  return false;
}

bool property_text(const char *xml, const char *name, char *out, size_t size) {
  char found[256];
  for (uint32_t i = 0; element_text(xml, "property/value/element/name", i, found, sizeof found); i++)
    if (strcmp(found, name) == 0)
      return element_text(xml, "property/value/element/value", i, out, size);
  return false;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static bool find_kind(const char *xml, const char *path, const char *suffix, const char *const *names, int count,
                      int32_t *out) {
  char value[128];
  if (!element_text(xml, path, 0, value, sizeof value))
    return false;
  const char *name = strncmp(value, "DDS_", 4) == 0 ? value + 4 : value;
  for (int i = 0; i < count; i++) {
    const size_t length = strlen(names[i]);
    if (strncmp(name, names[i], length) == 0 && strcmp(name + length, suffix) == 0) {
      *out = i;
      return true;
    }
  }
  return false;
}

static bool find_int(const char *xml, const char *path, int32_t *out) {
  char value[64], *end;
  if (!element_text(xml, path, 0, value, sizeof value))
    return false;
  if (strcmp(value, "LENGTH_UNLIMITED") == 0 || strcmp(value, "DDS_LENGTH_UNLIMITED") == 0) {
    *out = DDSMARK_UNLIMITED;
    return true;
  }
  errno = 0;
  const long long n = strtoll(value, &end, 10);
  if (end == value || *end != '\0' || errno || n < INT32_MIN || n > INT32_MAX)
    return false;
  *out = (int32_t)n;
  return true;
}

static bool find_bool(const char *xml, const char *path, uint32_t *out) {
  char value[16];
  if (!element_text(xml, path, 0, value, sizeof value) || (strcmp(value, "true") && strcmp(value, "false")))
    return false;
  *out = value[0] == 't';
  return true;
}

static bool find_duration(const char *xml, const char *path, uint64_t *out) {
  char place[128], sec[64], nanosec[64], *end;
  if (strlen(path) + sizeof "/nanosec" > sizeof place)
    return false;
  strcat(strcpy(place, path), "/sec");
  if (!element_text(xml, place, 0, sec, sizeof sec))
    return false;
  strcat(strcpy(place, path), "/nanosec");
  if (!element_text(xml, place, 0, nanosec, sizeof nanosec))
    return false;
  if (strstr(sec, "DURATION_INFINITE_SEC") || strcmp(sec, "2147483647") == 0) {
    *out = DDSMARK_DURATION_INFINITE;
    return true;
  }
  if (strstr(sec, "DURATION_ZERO_SEC"))
    strcpy(sec, "0");
  if (strstr(nanosec, "DURATION_ZERO_NSEC"))
    strcpy(nanosec, "0");
  if (!isdigit((unsigned char)sec[0]) || !isdigit((unsigned char)nanosec[0]))
    return false;
  const unsigned long long s = strtoull(sec, &end, 10);
  if (*end != '\0' || s > INT32_MAX)
    return false;
  const unsigned long long ns = strtoull(nanosec, &end, 10);
  if (*end != '\0' || ns >= 1000000000u)
    return false;
  *out = s * 1000000000u + ns;
  return true;
}

/* Parses "1,2,255", "0x01,0x02", or nothing. */
static bool find_octets(const char *xml, const char *path, uint8_t **data, uint32_t *size) {
  const size_t room = strlen(xml) + 1;
  char *value = malloc(room);
  uint8_t *octets = malloc(room);
  bool fine = value && octets && element_text(xml, path, 0, value, room);
  uint32_t n = 0;
  for (char *at = value, *end; fine && *at; n++) {
    const unsigned long octet = strtoul(at, &end, 0);
    fine = end != at && octet <= 255 && (*end == '\0' || (*end == ',' && end[1] != '\0'));
    octets[n] = (uint8_t)octet;
    at = *end ? end + 1 : end;
  }
  free(value);
  if (!fine) {
    free(octets);
    return false;
  }
  *data = octets;
  *size = n;
  return true;
}

static bool find_partitions(const char *xml, qos_texts *texts) {
  char name[512];
  if (!element_text(xml, "partition/name", 0, name, sizeof name))
    return false;
  while (element_text(xml, "partition/name/element", texts->partition_count, name, sizeof name)) {
    char **more = realloc(texts->partitions, (texts->partition_count + 1) * sizeof *more);
    if (more == NULL)
      return false;
    texts->partitions = more;
    if ((more[texts->partition_count] = strdup(name)) == NULL)
      return false;
    texts->partition_count++;
  }
  return true;
}

/* -- policies ------------------------------------------------------------------------------------------------------ */

static const char *const reliabilities[] = {"BEST_EFFORT", "RELIABLE"};
static const char *const histories[] = {"KEEP_LAST", "KEEP_ALL"};
static const char *const durabilities[] = {"VOLATILE", "TRANSIENT_LOCAL", "TRANSIENT", "PERSISTENT"};
static const char *const livelinesses[] = {"AUTOMATIC", "MANUAL_BY_PARTICIPANT", "MANUAL_BY_TOPIC"};
static const char *const ownerships[] = {"SHARED", "EXCLUSIVE"};
static const char *const scopes[] = {"INSTANCE", "TOPIC", "GROUP"};
static const char *const orders[] = {"BY_RECEPTION_TIMESTAMP", "BY_SOURCE_TIMESTAMP"};

#define PRESENT_IF(policy, condition)                                                                                  \
  do {                                                                                                                 \
    if (condition)                                                                                                     \
      q->present |= POLICY(policy);                                                                                    \
  } while (0)

static void parse_writer(const char *x, ddsmark_qos *q) {
  PRESENT_IF(DURABILITY_SERVICE,
             find_duration(x, "durability_service/service_cleanup_delay", &q->service_cleanup_ns) &&
                 find_kind(x, "durability_service/history_kind", "_HISTORY_QOS", histories, 2, &q->service_history) &&
                 find_int(x, "durability_service/history_depth", &q->service_history_depth) &&
                 find_int(x, "durability_service/max_samples", &q->service_max_samples) &&
                 find_int(x, "durability_service/max_instances", &q->service_max_instances) &&
                 find_int(x, "durability_service/max_samples_per_instance", &q->service_max_samples_per_instance));
  PRESENT_IF(LIFESPAN, find_duration(x, "lifespan/duration", &q->lifespan_ns));
  PRESENT_IF(OWNERSHIP_STRENGTH, find_int(x, "ownership_strength/value", &q->ownership_strength));
  PRESENT_IF(TRANSPORT_PRIORITY, find_int(x, "transport_priority/value", &q->transport_priority));
  PRESENT_IF(WRITER_DATA_LIFECYCLE,
             find_bool(x, "writer_data_lifecycle/autodispose_unregistered_instances", &q->autodispose_unregistered));
}

static void parse_reader(const char *x, ddsmark_qos *q) {
  PRESENT_IF(TIME_BASED_FILTER, find_duration(x, "time_based_filter/minimum_separation", &q->minimum_separation_ns));
  PRESENT_IF(READER_DATA_LIFECYCLE,
             find_duration(x, "reader_data_lifecycle/autopurge_nowriter_samples_delay", &q->autopurge_nowriter_ns) &&
                 find_duration(x, "reader_data_lifecycle/autopurge_disposed_samples_delay", &q->autopurge_disposed_ns));
}

static void parse_endpoint(const char *x, side s, qos_texts *texts, ddsmark_qos *q) {
  PRESENT_IF(RELIABILITY,
             find_kind(x, "reliability/kind", "_RELIABILITY_QOS", reliabilities, 2, &q->reliability) &&
                 (s == SIDE_READER || find_duration(x, "reliability/max_blocking_time", &q->max_blocking_ns)));
  PRESENT_IF(HISTORY, find_kind(x, "history/kind", "_HISTORY_QOS", histories, 2, &q->history) &&
                          find_int(x, "history/depth", &q->history_depth));
  PRESENT_IF(RESOURCE_LIMITS,
             find_int(x, "resource_limits/max_samples", &q->max_samples) &&
                 find_int(x, "resource_limits/max_instances", &q->max_instances) &&
                 find_int(x, "resource_limits/max_samples_per_instance", &q->max_samples_per_instance));
  PRESENT_IF(DURABILITY, find_kind(x, "durability/kind", "_DURABILITY_QOS", durabilities, 4, &q->durability));
  PRESENT_IF(DEADLINE, find_duration(x, "deadline/period", &q->deadline_ns));
  PRESENT_IF(LATENCY_BUDGET, find_duration(x, "latency_budget/duration", &q->latency_budget_ns));
  PRESENT_IF(LIVELINESS, find_kind(x, "liveliness/kind", "_LIVELINESS_QOS", livelinesses, 3, &q->liveliness) &&
                             find_duration(x, "liveliness/lease_duration", &q->liveliness_lease_ns));
  PRESENT_IF(OWNERSHIP, find_kind(x, "ownership/kind", "_OWNERSHIP_QOS", ownerships, 2, &q->ownership));
  PRESENT_IF(DESTINATION_ORDER,
             find_kind(x, "destination_order/kind", "_DESTINATIONORDER_QOS", orders, 2, &q->destination_order));
  PRESENT_IF(USER_DATA, find_octets(x, "user_data/value", &texts->user_data, &q->user_data_size));
  s == SIDE_WRITER ? parse_writer(x, q) : parse_reader(x, q);
}

void qos_parse(const char *entity, const char *group, const char *topic, side s, qos_texts *texts, ddsmark_qos *q) {
  qos_texts_free(texts);
  *q = (ddsmark_qos){.struct_size = sizeof *q};
  if (entity)
    parse_endpoint(entity, s, texts, q);
  if (group) {
    PRESENT_IF(PARTITION, find_partitions(group, texts));
    PRESENT_IF(PRESENTATION,
               find_kind(group, "presentation/access_scope", "_PRESENTATION_QOS", scopes, 3, &q->presentation_scope) &&
                   find_bool(group, "presentation/coherent_access", &q->coherent_access) &&
                   find_bool(group, "presentation/ordered_access", &q->ordered_access));
    PRESENT_IF(ENTITY_FACTORY, find_bool(group, "entity_factory/autoenable_created_entities", &q->autoenable_created));
    PRESENT_IF(GROUP_DATA, find_octets(group, "group_data/value", &texts->group_data, &q->group_data_size));
  }
  if (topic)
    PRESENT_IF(TOPIC_DATA, find_octets(topic, "topic_data/value", &texts->topic_data, &q->topic_data_size));
  q->partitions = (const char *const *)texts->partitions;
  q->partition_count = texts->partition_count;
  q->user_data = texts->user_data;
  q->topic_data = texts->topic_data;
  q->group_data = texts->group_data;
}

void qos_texts_free(qos_texts *texts) {
  for (uint32_t i = 0; i < texts->partition_count; i++)
    free(texts->partitions[i]);
  free(texts->partitions);
  free(texts->user_data);
  free(texts->topic_data);
  free(texts->group_data);
  *texts = (qos_texts){0};
}

/* -- settings ------------------------------------------------------------------------------------------------------ */

void element_visit(const char *qos, const char *name, const char *path, ddsmark_visitor visit, void *context) {
  char value[256], place[256], sec[64], nanosec[64];
  if (qos == NULL || !element_text(qos, path, 0, value, sizeof value))
    snprintf(value, sizeof value, "unknown");
  snprintf(place, sizeof place, "%s/sec", path);
  if (qos && element_text(qos, place, 0, sec, sizeof sec)) {
    snprintf(place, sizeof place, "%s/nanosec", path);
    if (element_text(qos, place, 0, nanosec, sizeof nanosec))
      snprintf(value, sizeof value, "%s s %s ns", sec, nanosec);
  }
  visit(context, name, value);
}

void property_visit(const char *qos, const char *name, const char *property, bool asked, ddsmark_visitor visit,
                    void *context) {
  char value[256];
  if (qos && property_text(qos, property, value, sizeof value))
    visit(context, name, value);
  else if (asked)
    visit(context, name, "unknown");
}
