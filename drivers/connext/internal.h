/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h: what the files of this driver share.
 *
 *   driver.c       the table, the description, the text of a failure of the library
 *   find.c, api.c  which library is installed; its calls, by name
 *   config.c       options and configuration of the participant -> a plan
 *   profile.c, profile_policies.c   a plan, and policies -> the XML that Connext reads
 *   policies.c     what becomes of each policy
 *   qos.c          which policies are accepted
 *   readback.c     the XML that Connext prints of a QoS -> policies
 *   leftovers.c    what a killed process left in shared memory
 *   trial.c        what is believed of the library, tried once before anything is measured
 *   participant.c  participants; endpoint.c what writers and readers have in common
 *   writer.c, reader.c
 *   ../common      what drivers share
 */
#ifndef DDSMARK_CONNEXT_INTERNAL_H
#define DDSMARK_CONNEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "common.h"
#include "ddsmark/driver.h"

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* fail() for a return code of Connext, and for a call that returned NULL, which is all that it tells. */
ddsmark_status fail_code(int32_t code, const char *what);
ddsmark_status fail_null(const char *what);

/* -- config.c ------------------------------------------------------------------------------------------------------ */

typedef enum transport { TRANSPORT_UDP4, TRANSPORT_SHM } transport;

extern const ddsmark_transport_info transport_infos[];
extern const uint32_t transport_count;
extern const ddsmark_option_info option_infos[];
extern const uint32_t option_count;

typedef enum flow { FLOW_DEFAULT, FLOW_FIXED_RATE, FLOW_BUCKET } flow;

/* A participant's configuration as this driver means it. 0 in a size, a count or a time: as the vendor ships it. */
typedef struct plan {
  uint32_t domain;
  transport transport;
  bool transport_unset; /* neither is chosen: as the vendor ships it, which is both */
  bool vendor_defaults;
  bool multicast;
  net_interface interface;
  char run_name[128];
  char base_profile[256]; /* "": the documented defaults */
  text peers;             /* separated by new lines */
  uint64_t receive_buffer, send_buffer, message_size, shm_messages;
  uint64_t max_participant_index;
  uint64_t send_window, heartbeat_us, fast_heartbeat_us;
  uint64_t batch_samples, batch_flush_us;
  bool turbo_mode, auto_throttle;
  flow flow;
  uint64_t flow_bytes, flow_us; /* FLOW_BUCKET: so many bytes each so many microseconds */
} plan;

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out);
void plan_free(plan *p);
/* How many bytes of payload one message carries at most; larger samples go in fragments. */
uint64_t plan_message_payload(const plan *p);

/* -- profile.c ----------------------------------------------------------------------------------------------------- */

typedef enum side { SIDE_WRITER, SIDE_READER } side;

#define LIBRARY_NAME "ddsmark"
#define PARTICIPANT_PROFILE "participant"
#define PARTICIPANT_NAME "participants::participant"
#define ENDPOINT_PROFILE "endpoint"

/* A writer or reader as it is to be. */
typedef struct endpoint_wish {
  side side;
  const ddsmark_qos *qos; /* all policies that are to be set */
  uint64_t max_payload;
  uint64_t batch_bytes;
  bool asynchronous;
} endpoint_wish;

/* The documents. Each is whole, and holds the types. */
void profile_of_participant(const plan *p, const char *name, text *out);
void profile_of_endpoint(const plan *p, const endpoint_wish *wish, text *out);
/* How many bytes one batch may hold before Connext sends it by itself. */
uint64_t batch_limit(const plan *p, uint64_t batch_bytes);

/* -- policies.c, qos.c --------------------------------------------------------------------------------------------- */

extern const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT];
/* What is to be set for this side, checked. `asked` may be NULL. What it points to stays the caller's. */
ddsmark_status qos_accept(const ddsmark_qos *asked, side s, ddsmark_qos *out);

/* -- readback.c ---------------------------------------------------------------------------------------------------- */

/* What a ddsmark_qos that was read back points to. */
typedef struct qos_texts {
  char **partitions;
  uint32_t partition_count;
  uint8_t *user_data, *topic_data, *group_data;
} qos_texts;

/* The policies of what Connext prints of the QoS of an endpoint, of its publisher or subscriber, and of its topic. What
 * is not there, or not understood, is not present. */
void qos_parse(const char *entity, const char *group, const char *topic, side s, qos_texts *texts, ddsmark_qos *out);
void qos_texts_free(qos_texts *texts);
/* The text of the element at `path` ("reliability/kind") below the outermost one; the `index`th of them. False: none.
 */
bool element_text(const char *xml, const char *path, uint32_t index, char *out, size_t size);
/* The value of a property among those of the entity. False: it has none of this name. */
bool property_text(const char *xml, const char *name, char *out, size_t size);

/* -- leftovers.c --------------------------------------------------------------------------------------------------- */

/* Removes the shared memory of Connext's that belongs to nobody any more. */
void leftovers_remove(void);

/* -- trial.c ------------------------------------------------------------------------------------------------------- */

/* Tries once per process what is believed of the library: where in a DDS_SampleInfo `valid_data` lies. */
ddsmark_status trial(ddsmark_participant *p);
/* What the trial has found. */
extern size_t valid_data_offset;

/* -- participant.c ------------------------------------------------------------------------------------------------- */

struct ddsmark_participant {
  const api *api;
  plan plan;
  void *factory, *entity;
  void *connector; /* what made it, with the connector package; else NULL */
  void *support;   /* of the keyed type */
  socket_set sockets;
};

/* Guards the profiles, of which a process has one set, and what is made from them. */
void profiles_lock(void);
void profiles_unlock(void);
/* Loads the document for the next create_*_with_profile(). The caller holds the lock. */
ddsmark_status profiles_load(const ddsmark_participant *p, const text *document);
/* Makes the entity of a participant whose api and plan are set; on failure nothing is left of it. And ends it. */
ddsmark_status participant_make(ddsmark_participant *p);
ddsmark_status participant_unmake(ddsmark_participant *p);

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out);
ddsmark_status participant_close(ddsmark_participant *participant);
ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

/* -- endpoint.c ---------------------------------------------------------------------------------------------------- */

/* What writers and readers have in common: the topic, the publisher or subscriber, the entity, and a sample. */
typedef struct endpoint {
  ddsmark_participant *participant;
  side side;
  bool keyed, asynchronous;
  uint64_t max_payload;
  void *topic, *group, *entity;
  text document;
  qos_texts texts;
} endpoint;

ddsmark_status endpoint_check(const ddsmark_participant *p, uint32_t type_kind, const char *topic,
                              uint64_t max_payload);
/* Topic, publisher or subscriber, and writer or reader. On failure nothing is left. */
ddsmark_status endpoint_open(endpoint *e, const char *topic, const endpoint_wish *wish);
ddsmark_status endpoint_close(endpoint *e);
ddsmark_status endpoint_matched(const endpoint *e, uint32_t *count);
ddsmark_status endpoint_qos(endpoint *e, ddsmark_qos *out);
void endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context);
/* Visits a setting of the entity that Connext prints at `path` of its QoS, a text or a duration; else "unknown". */
void endpoint_visit(const char *qos, const char *name, const char *path, ddsmark_visitor visit, void *context);
/* Visits one that is a property: where the entity has it, else "unknown" where it was asked for. */
void property_visit(const char *qos, const char *name, const char *property, bool asked, ddsmark_visitor visit,
                    void *context);
/* All that Connext prints of the entity's QoS; NULL if it does not. The caller frees. */
char *endpoint_text(const endpoint *e);

/* Sets a counter from a status whose first field is its total_count, as those of DDS 1.4 section 2.2.4.1 are. */
void counter_of_status(ddsmark_counters *c, uint32_t which, const endpoint *e, status_call call);

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

#endif
