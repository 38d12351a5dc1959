/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h: declarations shared by the files of this driver.
 *
 * Each file uses only those before it:
 *
 *   find.c, api.c  search for the library; its functions, by name, and their error texts
 *   config.c       options and configuration of the participant -> plan
 *   profile_policies.c, profile.c   plan and policies -> XML that Connext reads
 *   policies.c     support of each policy
 *   qos.c          checks of policies
 *   readback.c     XML that Connext prints of a QoS -> policies, settings
 *   leftovers.c    cleanup of shared memory of killed processes
 *   participant.c  participants
 *   endpoint.c     common parts of writers and readers
 *   trial.c        verification of assumptions on the library before any measurement
 *   writer.c, reader.c
 *   driver.c       function table, description, and opening of participants
 *   ../common      code shared by the drivers
 */
#ifndef DDSMARK_CONNEXT_INTERNAL_H
#define DDSMARK_CONNEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "common.h"
#include "ddsmark/driver.h"

/* -- api.c --------------------------------------------------------------------------------------------------------- */

/* fail() for a return code of `function` of Connext, and for a `function` that returned NULL without a code. */
ddsmark_status fail_code(int32_t code, const char *function, const char *what);
ddsmark_status fail_null(const char *function, const char *what);

/* -- config.c ------------------------------------------------------------------------------------------------------ */

typedef enum transport { TRANSPORT_UDP4, TRANSPORT_SHM, TRANSPORT_BUILTIN } transport;

extern const ddsmark_transport_info transport_infos[];
extern const uint32_t transport_count;
extern const ddsmark_option_info option_infos[];
extern const uint32_t option_count;

typedef enum flow { FLOW_DEFAULT, FLOW_FIXED_RATE, FLOW_BUCKET } flow;

/* Configuration of a participant. 0 in a size, a count or a time: the vendor's default. */
typedef struct plan {
  uint32_t domain;
  transport transport;
  bool vendor_defaults;
  bool multicast;
  net_interface interface;
  char run_name[128];
  char base_profile[256]; /* "": the documented defaults */
  text peers;             /* separated by line feeds */
  uint64_t receive_buffer, send_buffer, message_size, shm_messages;
  uint64_t max_participant_index;
  uint64_t send_window, heartbeat_us, fast_heartbeat_us;
  uint64_t batch_samples, batch_flush_us;
  bool turbo_mode, auto_throttle;
  flow flow;
  uint64_t flow_bytes, flow_us; /* FLOW_BUCKET: bytes per period, and period in µs */
} plan;

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out);
void plan_free(plan *p);
/* Returns the maximum payload of one message in bytes; larger samples are fragmented. */
uint64_t plan_message_payload(const plan *p);

/* -- profile.c ----------------------------------------------------------------------------------------------------- */

#define LIBRARY_NAME "ddsmark"
#define PARTICIPANT_PROFILE "participant"
#define PARTICIPANT_NAME "participants::participant"
#define ENDPOINT_PROFILE "endpoint"

/* Requested configuration of a writer or reader. */
typedef struct endpoint_wish {
  side side;
  const ddsmark_qos *qos; /* requested policies */
  uint64_t max_payload;
  uint64_t batch_bytes;
  bool asynchronous;
} endpoint_wish;

/* Create the XML documents. Each is complete and contains the types. */
void profile_of_participant(const plan *p, const char *name, text *out);
void profile_of_endpoint(const plan *p, const endpoint_wish *wish, text *out);
/* Returns the maximum size of a batch in bytes, at which Connext sends it without a flush. */
uint64_t batch_limit(const plan *p, uint64_t batch_bytes);

/* -- policies.c, qos.c --------------------------------------------------------------------------------------------- */

extern const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT];
/* Checks the policies for this side. `asked` may be NULL; the memory that it points to remains the caller's. */
ddsmark_status qos_accept(const ddsmark_qos *asked, side s, ddsmark_qos *out);

/* -- readback.c ---------------------------------------------------------------------------------------------------- */

/* Storage for the pointers of a ddsmark_qos that was read back. */
typedef struct qos_texts {
  char **partitions;
  uint32_t partition_count;
  uint8_t *user_data, *topic_data, *group_data;
} qos_texts;

/* Parses the QoS that Connext prints for an endpoint, its publisher or subscriber, and its topic. Missing or unknown
 * policies are not present. */
void qos_parse(const char *entity, const char *group, const char *topic, side s, qos_texts *texts, ddsmark_qos *out);
void qos_texts_free(qos_texts *texts);
/* Gets the text of the `index`th element at `path` ("reliability/kind") below the root. False if there is none. */
bool element_text(const char *xml, const char *path, uint32_t index, char *out, size_t size);
/* Gets the value of a property of the entity. False if it does not exist. */
bool property_text(const char *xml, const char *name, char *out, size_t size);
/* Visits a setting of the entity at `path` of its printed QoS, a text or a duration; "unknown" if it is missing. */
void element_visit(const char *qos, const char *name, const char *path, ddsmark_visitor visit, void *context);
/* Visits a property as a setting if the entity has it; "unknown" if it was requested and is missing. */
void property_visit(const char *qos, const char *name, const char *property, bool asked, ddsmark_visitor visit,
                    void *context);

/* -- leftovers.c --------------------------------------------------------------------------------------------------- */

/* Removes Connext's shared memory that no process uses. */
void leftovers_remove(void);

/* -- participant.c ------------------------------------------------------------------------------------------------- */

struct ddsmark_participant {
  const api *api;
  plan plan;
  void *factory, *entity;
  void *connector; /* creator of the entity with the connector package; else NULL */
  void *support;   /* type support of the keyed type */
  socket_set sockets;
};

/* Protect the profiles, of which a process has one set, and the creation of entities from them. */
void profiles_lock(void);
void profiles_unlock(void);
/* Loads the document for the next create_*_with_profile(). The caller holds the lock. */
ddsmark_status profiles_load(const ddsmark_participant *p, const text *document);
/* Create and delete the entity of a participant whose api and plan are set. A failed creation leaves nothing behind. */
ddsmark_status participant_make(ddsmark_participant *p);
ddsmark_status participant_unmake(ddsmark_participant *p);
ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

/* -- endpoint.c ---------------------------------------------------------------------------------------------------- */

/* Common parts of writers and readers: topic, publisher or subscriber, entity, and a sample. */
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
/* Creates topic, publisher or subscriber, and writer or reader. A failure leaves nothing behind. */
ddsmark_status endpoint_open(endpoint *e, const char *topic, const endpoint_wish *wish);
ddsmark_status endpoint_close(endpoint *e);
/* Gets the number of matched peers. */
ddsmark_status endpoint_peers(const endpoint *e, uint32_t *count);
ddsmark_status endpoint_matched(const endpoint *e, ddsmark_match *out);
ddsmark_status endpoint_qos(endpoint *e, ddsmark_qos *out);
void endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context);
/* Returns the complete QoS of the entity as Connext prints it; NULL on an error. The caller frees it. */
char *endpoint_text(const endpoint *e);

/* Sets a counter from a status whose first field is total_count, like those of DDS 1.4 section 2.2.4.1. */
void counter_of_status(ddsmark_counters *c, uint32_t which, const endpoint *e, status_call call);

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

/* -- trial.c ------------------------------------------------------------------------------------------------------- */

/* Verifies once per process an assumption on the library: the offset of `valid_data` in a DDS_SampleInfo. */
ddsmark_status trial(ddsmark_participant *p);
/* Result of the trial. */
extern size_t valid_data_offset;

/* -- driver.c ------------------------------------------------------------------------------------------------------ */

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out);
ddsmark_status participant_close(ddsmark_participant *participant);

#endif
