/* SPDX-License-Identifier: Apache-2.0
 *
 * common.h: code shared by the drivers in C and C++. It depends on no middleware; each driver compiles these files
 * itself.
 *
 *   failure.c   the text of the last error, return codes of DDS, counters
 *   match.c     number of matched peers, and when it changed
 *   text.c      growing strings
 *   config.c    configurations of participants, writers and readers
 *   batch.c     application-level batching
 *   policies.c  policy names, checks of values, and QoS in the caller's struct
 *   library.c   the version of a loaded library
 *   net.c       interfaces and sockets, from the kernel
 *   threads.c   scheduling of threads, from the kernel
 */
#ifndef DDSMARK_COMMON_H
#define DDSMARK_COMMON_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddsmark/driver.h"
#include "policies.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* Stores the text for last_error() and returns `status`. */
ddsmark_status fail(ddsmark_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the last stored text of this thread, or "". */
const char *last_error(void);

/* fail() for an allocation of `what`. */
ddsmark_status fail_memory(const char *what);
/* fail() for a sample larger than its writer allows. */
ddsmark_status fail_sample_size(uint64_t size, uint64_t max_payload);

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
/* Returns the name in the standard, or "unknown". */
const char *code_name(uint32_t code);
/* Returns the corresponding status. */
ddsmark_status code_status(uint32_t code);

/* -- table of functions -------------------------------------------------------------------------------------------- */

/* The table of a driver in C for DDS with discovery, whose functions have the names of the fields. */
#define DDS_DRIVER_TABLE                                                                                               \
  {                                                                                                                    \
      .abi_version = DDSMARK_ABI_VERSION,                                                                              \
      .struct_size = sizeof(ddsmark_driver),                                                                           \
      .describe = describe,                                                                                            \
      .last_error = last_error,                                                                                        \
      .participant_open = participant_open,                                                                            \
      .participant_close = participant_close,                                                                          \
      .participant_settings = participant_settings,                                                                    \
      .writer_open = writer_open,                                                                                      \
      .writer_close = writer_close,                                                                                    \
      .writer_matched = writer_matched,                                                                                \
      .writer_qos = writer_qos,                                                                                        \
      .writer_settings = writer_settings,                                                                              \
      .writer_counters = writer_counters,                                                                              \
      .writer_write = writer_write,                                                                                    \
      .writer_flush = writer_flush,                                                                                    \
      .writer_wait_acked = writer_wait_acked,                                                                          \
      .writer_dispose = writer_dispose,                                                                                \
      .writer_unregister = writer_unregister,                                                                          \
      .writer_assert_liveliness = writer_assert_liveliness,                                                            \
      .reader_open = reader_open,                                                                                      \
      .reader_close = reader_close,                                                                                    \
      .reader_matched = reader_matched,                                                                                \
      .reader_qos = reader_qos,                                                                                        \
      .reader_settings = reader_settings,                                                                              \
      .reader_counters = reader_counters,                                                                              \
      .reader_receive = reader_receive,                                                                                \
  }

/* -- versioned structs --------------------------------------------------------------------------------------------- */

/* Copies the caller's part of a struct of `size` bytes; the rest remains 0. */
void copy_in(void *to, size_t size, const void *from, uint32_t from_size);

/* Sets a counter and marks it as valid. */
void counter_set(ddsmark_counters *c, uint32_t which, uint64_t value);
/* Copies what fits into the caller's struct. */
ddsmark_status counters_out(const ddsmark_counters *from, ddsmark_counters *out);

/* -- matching ------------------------------------------------------------------------------------------------------ */

/* Number of matched peers, and when it changed. All 0: none. Changed in callbacks of the middleware, read by the
 * host. */
typedef struct match_record {
  pthread_mutex_t lock;
  int32_t count;
  uint64_t changed_ns; /* CLOCK_MONOTONIC; 0: no change yet */
} match_record;

/* Counts peers that came, or, if negative, that went. Independent of the order of concurrent callbacks. */
void match_add(match_record *m, int32_t peers);
/* Sets the number. The time changes only if the number does. */
void match_set(match_record *m, uint32_t count);
ddsmark_match match_state(match_record *m);
/* Copies what fits into the caller's struct. */
ddsmark_status match_out(const ddsmark_match *from, ddsmark_match *out);

/* -- text ---------------------------------------------------------------------------------------------------------- */

/* Growing string. All 0 is an empty string. `failed` is set permanently when memory is exhausted. */
typedef struct text {
  char *data;
  size_t length, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a value escaped for the content of an XML element, or for an attribute in double quotes. */
void text_add_escaped(text *t, const char *value);
void text_free(text *t);

/* -- configurations ------------------------------------------------------------------------------------------------ */

/* Copies the caller's configuration of a participant. BAD_ARGUMENT if there is none. */
ddsmark_status config_in(const ddsmark_participant_config *config, ddsmark_participant_config *out);
/* BAD_ARGUMENT: a domain without ports, a buffer size out of range, an empty peer, or an unknown option. */
ddsmark_status config_check(const ddsmark_participant_config *config, const ddsmark_option_info *options,
                            uint32_t option_count);
/* Environment variable with which a middleware would use something else than what the experiment measures. */
typedef struct foreign_variable {
  const char *name;
  const char *instead; /* hint: what to request instead */
} foreign_variable;
/* INCONSISTENT if one of these variables, a list that ends with a NULL name, is set. */
ddsmark_status variables_refuse(const char *middleware, const foreign_variable *variables);
/* Ports of a domain that other participants of this host may occupy. */
#define SPARE_PARTICIPANTS 16
/* Raises `*limit`, a number of participants of a domain on one host, so that it suffices for the run. If the option was
 * given, the limit stays: INCONSISTENT if it is too low. The value of the option is `above` less than the number of
 * participants. */
ddsmark_status participants_raise(const ddsmark_participant_config *config, const char *option, uint64_t above,
                                  uint64_t *limit);
/* UNSUPPORTED if the run has more participants than `limit`, which `why` explains. `hint` is the next step. */
ddsmark_status participants_check(const ddsmark_participant_config *config, uint64_t limit, const char *why,
                                  const char *hint);
/* Finds the index of the requested transport. If none is requested: of `builtin` with the vendor's defaults, if there
 * is one, else leaves `*out` unchanged. */
ddsmark_status transport_find(const ddsmark_participant_config *config, const ddsmark_transport_info *infos,
                              uint32_t count, uint32_t *out);

/* Returns the value of an option, the last one if it is repeated, or NULL. */
const char *option_value(const ddsmark_participant_config *config, const char *name);
/* Parses a number; leaves `*out` unchanged if the option was not given. */
ddsmark_status option_number(const ddsmark_participant_config *config, const char *name, uint64_t min, uint64_t max,
                             uint64_t *out);

/* Copies the caller's configuration of a writer or reader. BAD_ARGUMENT: there is none, or the receive mode is
 * unknown or inconsistent with the sink. */
ddsmark_status writer_config_in(const ddsmark_writer_config *config, ddsmark_writer_config *out);
ddsmark_status reader_config_in(const ddsmark_reader_config *config, ddsmark_reader_config *out);
/* Checks that apply to every driver. BAD_ARGUMENT: unknown type kind, or a topic without a name. TOO_LARGE. */
ddsmark_status endpoint_config_check(const ddsmark_transport_info *transport, uint32_t type_kind, const char *topic,
                                     uint64_t max_payload);

/* -- application-level batching ------------------------------------------------------------------------------------ */

/* Length of the header of each sample in a batch: its length as u32, little endian, as in all drivers with this
 * batching. */
#define BATCH_FRAMING 4u

/* Batch of samples to be sent together. All 0: no batching. */
typedef struct batch {
  uint8_t *bytes; /* samples with their framing */
  uint64_t length;
  uint64_t payload;  /* bytes of the samples without framing */
  uint64_t limit;    /* limit of `payload`, unless a single sample is larger */
  uint64_t capacity; /* size of `bytes`, with framing */
} batch;

/* Allocates a batch for as many samples of maximum size as make `batch_bytes`, limited to `most` bytes including
 * framing, unless a single sample is larger. */
ddsmark_status batch_open(batch *b, uint64_t batch_bytes, uint64_t max_payload, uint64_t most);
void batch_free(batch *b);
/* Returns whether a sample of this size fits into this batch. */
bool batch_has_room(const batch *b, uint64_t size);
/* Appends a sample, for which there must be room. */
void batch_push(batch *b, const uint8_t *sample, uint64_t size);
/* Empties the batch after it was sent. */
void batch_clear(batch *b);

/* Returns whether these bytes are one or more framed samples, none larger than `max_payload`. */
bool batch_is_whole(const uint8_t *bytes, uint64_t size, uint64_t max_payload);
/* Returns the sample at `*at` and advances `*at`, which is initially 0. False at the end. */
bool batch_next(const uint8_t *bytes, uint64_t size, uint64_t *at, const uint8_t **sample, uint64_t *sample_size);

/* -- policies ------------------------------------------------------------------------------------------------------ */

/* Copies and checks a QoS. `asked` may be NULL; the memory that it points to remains the caller's. `elsewhere`:
 * policies that DDS does not define for this side, which are removed. UNSUPPORTED: a policy that the driver cannot
 * set, except with its fixed value. BAD_ARGUMENT: an invalid value. INCONSISTENT: inconsistent policies. */
ddsmark_status qos_in(const ddsmark_qos *asked, const ddsmark_policy_support *supports, side s, uint64_t elsewhere,
                      ddsmark_qos *out);
/* Copies what fits into the caller's struct. */
ddsmark_status qos_out(const ddsmark_qos *from, ddsmark_qos *out);

/* -- library ------------------------------------------------------------------------------------------------------- */

/* Gets the version of the library that contains `of` from its file name, with symbolic links resolved:
 * `library`.so.MAJOR.MINOR.PATCH. False if the file has another name. */
bool library_version(const void *of, const char *library, char *out, size_t size);

/* -- net ----------------------------------------------------------------------------------------------------------- */

#define INTERFACE_NAME_SIZE 64
#define ADDRESS_SIZE 64

/* Network interface. All 0: the middleware chooses. */
typedef struct net_interface {
  char name[INTERFACE_NAME_SIZE];
  char address[ADDRESS_SIZE];
  bool loopback;
  bool multicast; /* the interface claims multicast; loopback usually does not, but supports it */
} net_interface;

/* Selects the requested interface, otherwise loopback. The middleware chooses if peers are on other hosts or the
 * vendor's defaults are requested. BAD_ARGUMENT if the interface does not exist, is down, or has no address of that
 * family. */
ddsmark_status interface_choose(const ddsmark_participant_config *config, bool ipv6, net_interface *out);
bool is_loopback_peer(const char *peer);
/* Returns whether an interface of this host, in the network namespace of this process, has the address. */
bool is_own_address(const char *address);

#define MAX_SOCKETS 1024

typedef struct socket_set {
  int fds[MAX_SOCKETS];
  uint32_t count;
} socket_set;

/* Finds the internet sockets that this process has open. */
void sockets_now(socket_set *out);
/* Removes the sockets that are in `before`. */
void sockets_subtract(socket_set *set, const socket_set *before);
/* Returns whether a participant in this domain receives on the socket. */
typedef bool (*socket_test)(int fd, uint32_t domain);
/* Returns whether the socket is bound to one of the 250 ports of the domain, from 7400 + 250 * domain: RTPS 2.5,
 * section 9.6.2. */
bool is_port_of_domain(int fd, uint32_t domain);
/* Returns the highest index of a participant that a socket of the set is bound to a port of, and -1 if there is none.
 * The ports of participant N of a domain, for discovery and for data, are 10 + 2 N and 11 + 2 N above its first one:
 * RTPS 2.5, section 9.6.2. */
int sockets_participant_index(const socket_set *set, uint32_t domain);
/* Visits `receive_buffer_bytes` and `send_buffer_bytes`, the smallest sizes that the kernel granted to these
 * sockets, and `receive_buffer_limit_bytes`, the maximum that can be requested; nothing without sockets. `receives`
 * distinguishes receiving sockets from those that only send. */
void sockets_visit(const socket_set *set, uint32_t domain, socket_test receives, ddsmark_visitor visit, void *context);

/* UNSUPPORTED if multicast is disabled on the interface, or this host has no multicast route over it. Sends nothing. An
 * interface that the middleware chooses is not checked. */
ddsmark_status multicast_check(const net_interface *interface, bool ipv6);
/* Gets the multicast groups that the sockets have joined, from the kernel; "" if none. False if the kernel does not
 * report them. */
bool sockets_groups(const socket_set *set, text *out);

/* -- threads ------------------------------------------------------------------------------------------------------- */

typedef struct thread_schedule {
  int policy;   /* SCHED_ constant */
  int priority; /* of the policies fifo and rr */
  int nice;
  cpu_set_t cores;
} thread_schedule;

/* Reads the scheduling of a thread of this process; 0: the calling one. */
bool thread_schedule_of(int tid, thread_schedule *out);
/* Visits `threads`: policy, priority and cores of the threads whose names have one of these prefixes, a list that ends
 * with NULL, and whose scheduling is not `own`, which a thread gets that a middleware leaves as it is. If the user has
 * configured threads, waits until nothing changes, at most for a second. */
void threads_visit(const thread_schedule *own, const char *const *prefixes, bool configured, ddsmark_visitor visit,
                   void *context);

#ifdef __cplusplus
}
#endif

#endif
