/* SPDX-License-Identifier: Apache-2.0
 *
 * common.h: what drivers in C and C++ share. No middleware is known here; each driver compiles these files into itself.
 *
 *   failure.c   the text of the last failure, return codes of DDS, counters
 *   text.c      text that grows
 *   config.c    what a host asks a participant, a writer or a reader to be
 *   batch.c     samples packed by the driver, one behind the other
 *   policies.c  names of policies, values that no driver could set, QoS as the caller's struct has it
 *   library.c   which version of a library was loaded
 *   net.c       what the kernel knows: interfaces, sockets
 */
#ifndef DDSMARK_COMMON_H
#define DDSMARK_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddsmark/driver.h"
#include "policies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* Keeps the text for last_error() and returns `status`. */
ddsmark_status fail(ddsmark_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text that was kept last on this thread, or "". */
const char *last_error(void);

/* Return codes: DDS 1.4, section 2.2.2.1.1. */
enum {
  CODE_OK = 0,
  CODE_UNSUPPORTED = 2,
  CODE_BAD_PARAMETER = 3,
  CODE_OUT_OF_RESOURCES = 5,
  CODE_INCONSISTENT_POLICY = 8,
  CODE_TIMEOUT = 10,
  CODE_NO_DATA = 11
};
/* What the standard calls it; "unknown" if it does not. */
const char *code_name(uint32_t code);
/* What it is to a host. */
ddsmark_status code_status(uint32_t code);

/* -- tables that grow at their end --------------------------------------------------------------------------------- */

/* Copies what the caller has of a struct of `size` bytes, and leaves 0 where the caller's is shorter. */
void copy_in(void *to, size_t size, const void *from, uint32_t from_size);

/* Sets a counter that is valid. */
void counter_set(ddsmark_counters *c, uint32_t which, uint64_t value);
/* Hands over what fits the caller's. */
ddsmark_status counters_out(const ddsmark_counters *from, ddsmark_counters *out);

/* -- text ---------------------------------------------------------------------------------------------------------- */

/* A string that grows. All 0 is an empty one. `failed` is set when memory has run out, and then stays. */
typedef struct text {
  char *data;
  size_t length, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As the content of an XML element, or of an attribute in double quotes. */
void text_add_escaped(text *t, const char *value);
void text_free(text *t);

/* -- configurations ------------------------------------------------------------------------------------------------ */

/* Takes what the caller has of a participant's configuration. BAD_ARGUMENT if that is nothing. */
ddsmark_status config_in(const ddsmark_participant_config *config, ddsmark_participant_config *out);
/* BAD_ARGUMENT: a domain without ports, buffers beyond what a socket can be asked for, an empty peer, an option that is
 * not among these. */
ddsmark_status config_check(const ddsmark_participant_config *config, const ddsmark_option_info *options,
                            uint32_t option_count);
/* The place of the transport that is asked for among these; leaves `*out` alone if none is. */
ddsmark_status transport_find(const ddsmark_participant_config *config, const ddsmark_transport_info *infos,
                              uint32_t count, uint32_t *out);

/* The value that was given for an option, the last one if there are several, or NULL. */
const char *option_value(const ddsmark_participant_config *config, const char *name);
/* Reads a number; leaves `*out` alone if the option was not given. */
ddsmark_status option_number(const ddsmark_participant_config *config, const char *name, uint64_t min, uint64_t max,
                             uint64_t *out);

/* Takes what the caller has of a writer's or reader's configuration. BAD_ARGUMENT: nothing, or a way to receive that
 * does not exist or does not go with the sink. */
ddsmark_status writer_config_in(const ddsmark_writer_config *config, ddsmark_writer_config *out);
ddsmark_status reader_config_in(const ddsmark_reader_config *config, ddsmark_reader_config *out);
/* What no driver could open over this transport. BAD_ARGUMENT: the type does not exist, the topic has no name.
 * TOO_LARGE. */
ddsmark_status endpoint_config_check(const ddsmark_transport_info *transport, uint32_t type_kind, const char *topic,
                                     uint64_t max_payload);

/* -- batches, where the middleware has none ------------------------------------------------------------------------ */

/* Bytes before each sample of a batch: its length as u32, little endian, as every driver frames that packs samples. */
#define BATCH_FRAMING 4u

/* Samples that wait for the rest of their batch. All 0: none is packed. */
typedef struct batch {
  uint8_t *bytes; /* what is sent: the samples with their framing */
  uint64_t length;
  uint64_t payload;  /* of the samples, without framing */
  uint64_t limit;    /* of that, unless one sample alone is larger */
  uint64_t capacity; /* with framing */
} batch;

/* Room for as many of the largest samples as make `batch_bytes`, but no more than `most` bytes with framing, unless one
 * sample alone is larger. */
ddsmark_status batch_open(batch *b, uint64_t batch_bytes, uint64_t max_payload, uint64_t most);
void batch_free(batch *b);
/* Whether a sample of this size still belongs into this batch. */
bool batch_has_room(const batch *b, uint64_t size);
/* Appends a sample that there is room for. */
void batch_push(batch *b, const uint8_t *sample, uint64_t size);
/* It was sent. */
void batch_clear(batch *b);

/* Whether these bytes are one sample or more, each with its framing and none larger than `max_payload`. */
bool batch_is_whole(const uint8_t *bytes, uint64_t size, uint64_t max_payload);
/* The sample at `*at`, which is 0 to begin with and moves on. False at the end. */
bool batch_next(const uint8_t *bytes, uint64_t size, uint64_t *at, const uint8_t **sample, uint64_t *sample_size);

/* -- policies ------------------------------------------------------------------------------------------------------ */

/* What is to be set, checked; `asked` may be NULL, and what it points to stays the caller's. `elsewhere`: policies that
 * this side has not, which are left out. UNSUPPORTED: a policy that the driver cannot set, unless with what happens
 * anyway. BAD_ARGUMENT: a value that no driver could set. INCONSISTENT: policies that contradict each other. */
ddsmark_status qos_in(const ddsmark_qos *asked, const ddsmark_policy_support *supports, uint64_t elsewhere,
                      ddsmark_qos *out);
/* Hands over what fits the caller's. */
ddsmark_status qos_out(const ddsmark_qos *from, ddsmark_qos *out);

/* -- library ------------------------------------------------------------------------------------------------------- */

/* The version of the library that `of` lies in, from the name of its file, symbolic links followed: `library`, then
 * .so.MAJOR.MINOR.PATCH. False if that is not its name. */
bool library_version(const void *of, const char *library, char *out, size_t size);

/* -- net ----------------------------------------------------------------------------------------------------------- */

#define INTERFACE_NAME_SIZE 64
#define ADDRESS_SIZE 64

/* A network interface. All 0: the middleware chooses. */
typedef struct net_interface {
  char name[INTERFACE_NAME_SIZE];
  char address[ADDRESS_SIZE];
  bool loopback;
  bool multicast; /* it claims to be fit for it, as loopback usually does not, although it is */
} net_interface;

/* The interface asked for; else loopback; except that the middleware chooses where loopback cannot be meant: with peers
 * elsewhere, and where the vendor's defaults are wanted. BAD_ARGUMENT if it does not exist, is down, or has no address
 * of that family. */
ddsmark_status interface_choose(const ddsmark_participant_config *config, bool ipv6, net_interface *out);
bool is_loopback_peer(const char *peer);

#define MAX_SOCKETS 64

typedef struct socket_set {
  int fds[MAX_SOCKETS];
  uint32_t count;
} socket_set;

/* The internet sockets of this process that are open now. */
void sockets_now(socket_set *out);
/* Keeps those that `before` has not. */
void sockets_subtract(socket_set *set, const socket_set *before);
/* Whether a socket of a participant in this domain is received on. */
typedef bool (*socket_test)(int fd, uint32_t domain);
/* It is bound to a port of the domain, which has 250 from 7400 + 250 * domain: RTPS 2.5, section 9.6.2. */
bool is_port_of_domain(int fd, uint32_t domain);
/* Visits `receive_buffer_bytes` and `send_buffer_bytes`, the smallest of the sockets, as the kernel granted them, and
 * `receive_buffer_limit_bytes`, which bounds what can be asked for; nothing without sockets. `receives` tells those
 * that are received on from those that only send. */
void sockets_visit(const socket_set *set, uint32_t domain, socket_test receives, ddsmark_visitor visit, void *context);

/* UNSUPPORTED if this host has no way to a multicast group over the interface. Sends nothing. */
ddsmark_status multicast_check(const char *interface_name, bool ipv6);
/* The multicast groups that the sockets have joined, as the kernel has it; "" if none. False if it does not say. */
bool sockets_groups(const socket_set *set, text *out);

#ifdef __cplusplus
}
#endif

#endif
