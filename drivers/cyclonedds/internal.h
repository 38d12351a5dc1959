/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h: what the files of this driver share.
 *
 *   driver.c       the table, the description, the text of a failure of the library
 *   config.c       options and configuration of the participant -> XML for Cyclone DDS
 *   tcp.c          who listens where the transport is TCP
 *   participant.c  domains and participants
 *   policies.c     what becomes of each policy
 *   qos.c          policies, both ways
 *   writer.c, reader.c
 *   ../common      what drivers share
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

/* fail() for a return code of Cyclone DDS. The library logs the cause on standard error and returns no more than the
 * code; 11 does not let an application take its log. */
ddsmark_status fail_dds(dds_return_t code, const char *what);

/* -- config.c ------------------------------------------------------------------------------------------------------ */

typedef enum transport { TRANSPORT_UDP4, TRANSPORT_UDP6, TRANSPORT_TCP4 } transport;

extern const ddsmark_transport_info transport_infos[];
extern const uint32_t transport_count;
extern const ddsmark_option_info option_infos[];
extern const uint32_t option_count;

/* A participant's configuration as this driver means it. */
typedef struct plan {
  uint32_t domain;
  transport transport;
  bool multicast;
  bool multicast_unset; /* neither allowed nor forbidden: as the vendor ships it */
  net_interface interface;
  bool user_names_interface; /* the user's own configuration decides these */
  bool user_names_peers;
  bool user_names_watermarks;
  char max_message[32]; /* as text: bytes, or that the configuration says */
  char fragment[32];
  char whc_high[32];
  text configuration; /* for dds_create_domain(); over TCP who listens goes before it */
  const char *user;   /* the part of it that comes from CYCLONEDDS_URI; "" if none */
} plan;

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out);
void plan_free(plan *p);

/* -- tcp.c --------------------------------------------------------------------------------------------------------- */

/* What the process that listens for a domain holds as long as it does; -1: it does not. */
typedef struct tcp_door {
  int held, open;
  _Atomic bool waits; /* for a first match */
} tcp_door;

/* Whether this process is to listen: adds what Cyclone DDS is to be told of that. Otherwise the one that does has
 * opened its domain. */
ddsmark_status tcp_meet(uint32_t number, const char *address, tcp_door *door, text *configuration);
/* The domain is open: another process may call. */
void tcp_opened(uint32_t number, tcp_door *door);
/* It has. */
void tcp_matched(tcp_door *door);
void tcp_leave(tcp_door *door);

/* -- policies.c ---------------------------------------------------------------------------------------------------- */

extern const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT];

/* -- qos.c --------------------------------------------------------------------------------------------------------- */

typedef enum side { SIDE_WRITER, SIDE_READER } side;

/* The QoS of a topic, of a publisher or subscriber, and of a writer or reader. */
typedef struct qos_set {
  dds_qos_t *topic, *group, *endpoint;
} qos_set;

/* What a ddsmark_qos that was read back points to. */
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

/* What writers and readers have in common: the topic, the entity, and the publisher or subscriber that carries the
 * policies which DDS puts there. */
typedef struct endpoint {
  ddsmark_participant *participant;
  dds_entity_t topic, group, entity;
  struct dds_statistics *statistics; /* NULL where the library has none */
  uint64_t max_payload;
  qos_texts texts;
  bool keyed;
} endpoint;

ddsmark_status endpoint_check(const ddsmark_participant *p, uint32_t type_kind, const char *topic,
                              uint64_t max_payload);
/* Everything but the writer or reader itself. On failure nothing is left. */
ddsmark_status endpoint_prepare(endpoint *e, ddsmark_participant *participant, uint32_t type_kind, const char *topic,
                                side s, const qos_set *qos);
ddsmark_status endpoint_close(endpoint *e);
ddsmark_status endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context);
/* It is matched with so many. */
void endpoint_matched(const endpoint *e, uint32_t count);
/* The bytes that one batch may have, headers included, as text. */
const char *endpoint_batch_limit(const endpoint *e);

/* Sets a counter from a statistic of the library, if that has one of this name. */
void counter_from_statistic(ddsmark_counters *c, uint32_t which, const struct dds_statistics *s, const char *name);

/* -- writer.c, reader.c -------------------------------------------------------------------------------------------- */

ddsmark_status writer_open(ddsmark_participant *participant, const ddsmark_writer_config *config, ddsmark_writer **out);
ddsmark_status writer_close(ddsmark_writer *writer);
ddsmark_status writer_matched(ddsmark_writer *writer, uint32_t *count);
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
ddsmark_status reader_matched(ddsmark_reader *reader, uint32_t *count);
ddsmark_status reader_qos(ddsmark_reader *reader, ddsmark_qos *out);
ddsmark_status reader_settings(ddsmark_reader *reader, ddsmark_visitor visit, void *context);
ddsmark_status reader_counters(ddsmark_reader *reader, ddsmark_counters *out);
ddsmark_status reader_receive(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                              void *context, uint32_t *taken);

/* A limit of DDS in ns: the host's infinite and all that an int64 cannot hold are Cyclone's infinite. */
static inline dds_duration_t duration_of(uint64_t ns) {
  return ns >= (uint64_t)DDS_INFINITY ? DDS_INFINITY : (dds_duration_t)ns;
}

#endif
