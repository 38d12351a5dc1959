/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h: declarations shared by the files of this driver.
 *
 *   driver.c       function table, description, and error texts of the library
 *   config.c       options and configuration of the participant -> XML for Cyclone DDS
 *   tcp.c          choice of the listening process over TCP
 *   participant.c  domains and participants
 *   policies.c     support of each policy
 *   qos.c          policies, both directions
 *   filter.c       content filters of readers
 *   writer.c, reader.c
 *   ../common      code shared by the drivers
 */
#ifndef DDSMARK_CYCLONEDDS_INTERNAL_H
#define DDSMARK_CYCLONEDDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/dds.h"

#include "Sample.h"
#include "common.h"
#include "ddsmark/driver.h"

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* fail() for a return code of `function` of Cyclone DDS; `format` is what could not be done. The library logs the cause
 * to standard error and returns only the code; 11 does not let an application intercept its log. */
ddsmark_status fail_dds(dds_return_t code, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* -- config.c ------------------------------------------------------------------------------------------------------ */

typedef enum transport { TRANSPORT_UDP4, TRANSPORT_UDP6, TRANSPORT_TCP4 } transport;

extern const ddsmark_transport_info transport_infos[];
extern const uint32_t transport_count;
extern const ddsmark_option_info option_infos[];
extern const uint32_t option_count;

/* Configuration of a participant. */
typedef struct plan {
  uint32_t domain;
  transport transport;
  bool multicast;
  bool multicast_unset; /* no setting: the vendor default */
  net_interface interface;
  bool user_names_interface; /* decided by the user's configuration */
  bool user_names_peers;
  bool user_names_watermarks;
  char user_decides[192]; /* settings of this driver that the user's configuration decides */
  char max_message[32];   /* text: bytes, or set by the configuration */
  char fragment[32];
  char whc_high[32];
  text configuration; /* for dds_create_domain(); over TCP, the listening process is prepended */
  size_t own_length;  /* of the part of the configuration that is this driver's */
  bool user_names_threads;
  const char *user; /* part from CYCLONEDDS_URI, or "" */
} plan;

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out);
void plan_free(plan *p);

/* -- tcp.c --------------------------------------------------------------------------------------------------------- */

/* Resources of the process that listens for a domain; -1 in other processes. */
typedef struct tcp_door {
  int held, open;
  _Atomic bool waits; /* waits for the first match */
} tcp_door;

/* Rejects requests that TCP does not support, instead of ignoring them. */
ddsmark_status tcp_check(const ddsmark_participant_config *config);
/* Decides whether this process listens, and adds the configuration for that. Otherwise waits until the listening
 * process has opened its domain. */
ddsmark_status tcp_meet(uint32_t number, const char *address, tcp_door *door, text *configuration);
/* Reports that the domain is open: another process may connect. */
void tcp_opened(uint32_t number, tcp_door *door);
/* Reports a match with another process. */
void tcp_matched(tcp_door *door);
void tcp_leave(tcp_door *door);

/* -- policies.c ---------------------------------------------------------------------------------------------------- */

extern const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT];

/* -- qos.c --------------------------------------------------------------------------------------------------------- */

/* QoS of a topic, of a publisher or subscriber, and of a writer or reader. */
typedef struct qos_set {
  dds_qos_t *topic, *group, *endpoint;
} qos_set;

/* Storage for the pointers of a ddsmark_qos that was read back. */
typedef struct qos_texts {
  char **partitions;
  uint32_t partition_count;
  void *user_data, *topic_data, *group_data;
} qos_texts;

ddsmark_status qos_make(const ddsmark_qos *asked, side s, qos_set *out);
void qos_free(qos_set *set);
ddsmark_status qos_read_back(dds_entity_t topic, dds_entity_t group, dds_entity_t entity, side s, qos_texts *texts,
                             ddsmark_qos *out);
void qos_texts_free(qos_texts *texts);

/* -- participant.c ------------------------------------------------------------------------------------------------- */

typedef struct domain domain;

struct ddsmark_participant {
  dds_entity_t entity;
  domain *domain;
};

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out);
ddsmark_status participant_close(ddsmark_participant *participant);
ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

/* Common parts of writers and readers: topic, entity, and the publisher or subscriber with the policies that DDS
 * defines for it. */
typedef struct endpoint {
  ddsmark_participant *participant;
  dds_entity_t topic, group, entity;
  struct dds_statistics *statistics; /* NULL if the library lacks them */
  uint64_t max_payload;
  qos_texts texts;
  bool keyed;
  match_record matched; /* changed in the listener */
} endpoint;

ddsmark_status endpoint_check(const ddsmark_participant *p, uint32_t type_kind, const char *topic,
                              uint64_t max_payload);
/* Creates everything but the writer or reader itself. A failure leaves nothing behind. */
ddsmark_status endpoint_prepare(endpoint *e, ddsmark_participant *participant, uint32_t type_kind, const char *topic,
                                side s, const qos_set *qos);
ddsmark_status endpoint_close(endpoint *e);
ddsmark_status endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context);
ddsmark_status endpoint_matched(endpoint *e, ddsmark_match *out);
/* Returns the maximum size of a batch in bytes, including headers, as text. */
const char *endpoint_batch_limit(const endpoint *e);

/* Sets a counter from the library's statistic of this name, if there is one. */
void counter_from_statistic(ddsmark_counters *c, uint32_t which, const struct dds_statistics *s, const char *name);

/* -- filter.c ------------------------------------------------------------------------------------------------------ */

/* Keys that a reader receives. */
typedef struct key_filter {
  uint32_t first, last;
} key_filter;

ddsmark_status filter_read(const char *expression, bool keyed, key_filter *out);
/* Sets the filter of readers that are created with this topic afterwards. It is used until they are deleted. */
ddsmark_status filter_set(dds_entity_t topic, key_filter *filter);

/* -- writer.c, reader.c -------------------------------------------------------------------------------------------- */

ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config, ddsmark_writer **out);
ddsmark_status writer_close(ddsmark_writer *writer);
ddsmark_status writer_matched(ddsmark_writer *writer, ddsmark_match *out);
ddsmark_status writer_qos(ddsmark_writer *writer, ddsmark_qos *out);
ddsmark_status writer_settings(ddsmark_writer *writer, ddsmark_visitor visit, void *context);
ddsmark_status writer_counters(ddsmark_writer *writer, ddsmark_counters *out);
ddsmark_status writer_write(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size);
ddsmark_status writer_flush(ddsmark_writer *writer);
ddsmark_status writer_wait_acked(ddsmark_writer *writer, uint64_t timeout_ns);
ddsmark_status writer_dispose(ddsmark_writer *writer, uint32_t key);
ddsmark_status writer_unregister(ddsmark_writer *writer, uint32_t key);
ddsmark_status writer_assert_liveliness(ddsmark_writer *writer);

ddsmark_status reader_open(ddsmark_participant *participant, const ddsmark_reader_config *config, ddsmark_reader **out);
ddsmark_status reader_close(ddsmark_reader *reader);
ddsmark_status reader_matched(ddsmark_reader *reader, ddsmark_match *out);
ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out);
ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context);
ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out);
ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                              void *context, uint32_t *taken);

/* Converts a DDS duration in ns: infinite, and values beyond an int64, become Cyclone's infinite. */
static inline dds_duration_t duration_of(uint64_t ns) {
  return ns >= (uint64_t)DDS_INFINITY ? DDS_INFINITY : (dds_duration_t)ns;
}

#endif
