/* SPDX-License-Identifier: Apache-2.0
 *
 * common.h: what drivers in C and C++ share. No middleware is known here; each driver compiles these files into itself.
 *
 *   failure.c   the text of the last failure, tables that grow at their end, counters
 *   options.c   text that grows, options of a driver
 *   policies.c  names of policies, where they lie in a ddsmark_qos, values that no driver could set
 *   net.c       what the kernel knows: interfaces, sockets
 */
#ifndef DDSMARK_COMMON_H
#define DDSMARK_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddsmark/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* Keeps the text for last_error() and returns `status`. */
ddsmark_status fail(ddsmark_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text that was kept last on this thread, or "". */
const char *last_error(void);

/* -- tables that grow at their end --------------------------------------------------------------------------------- */

/* Copies what the caller has of a struct of `size` bytes, and leaves 0 where the caller's is shorter. */
void copy_in(void *to, size_t size, const void *from, uint32_t from_size);

/* Sets a counter that is valid. */
void counter_set(ddsmark_counters *c, uint32_t which, uint64_t value);
/* Hands over what fits the caller's. */
ddsmark_status counters_out(const ddsmark_counters *from, ddsmark_counters *out);

/* -- text and options ---------------------------------------------------------------------------------------------- */

/* A string that grows. `failed` is set when memory has run out, and then stays. */
typedef struct text {
  char *data;
  size_t length, capacity;
  bool failed;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(text *t);

/* The value that was given for an option, or NULL. */
const char *option_value(const ddsmark_participant_config *config, const char *name);
/* BAD_ARGUMENT for an option that is not among the driver's. */
ddsmark_status option_names_check(const ddsmark_participant_config *config, const ddsmark_option_info *infos,
                                  uint32_t count);
/* Reads a number; leaves `*out` alone if the option was not given. */
ddsmark_status option_number(const ddsmark_participant_config *config, const char *name, uint64_t min, uint64_t max,
                             uint64_t *out);
/* BAD_ARGUMENT if one of the peers is empty. */
ddsmark_status peers_check(const ddsmark_participant_config *config);
bool is_loopback_peer(const char *peer);

/* -- policies ------------------------------------------------------------------------------------------------------ */

extern const char *const policy_names[DDSMARK_POLICY_COUNT];

/* Where a field ends: a policy of a caller whose struct is shorter is not there. */
#define END(field) (offsetof(ddsmark_qos, field) + sizeof(((ddsmark_qos *)0)->field))
#define POLICY(policy) (UINT64_C(1) << DDSMARK_POLICY_##policy)
/* Policies that DDS defines for one side only. */
#define WRITER_ONLY                                                                                                    \
  (POLICY(DURABILITY_SERVICE) | POLICY(LIFESPAN) | POLICY(OWNERSHIP_STRENGTH) | POLICY(TRANSPORT_PRIORITY) |           \
   POLICY(WRITER_DATA_LIFECYCLE))
#define READER_ONLY (POLICY(TIME_BASED_FILTER) | POLICY(READER_DATA_LIFECYCLE))

/* Those of `present` that a struct of this size has. */
uint64_t present_within(uint64_t present, uint32_t struct_size);
/* Values that no driver could set, and policies that this one cannot. */
ddsmark_status policies_check(const ddsmark_qos *q, const ddsmark_policy_support *supports);

/* -- net ----------------------------------------------------------------------------------------------------------- */

#define INTERFACE_NAME_SIZE 64
#define ADDRESS_SIZE 64

/* Fills `address` with an address of the interface. BAD_ARGUMENT if the interface does not exist, is down, or has no
 * address of that family. */
ddsmark_status interface_find(const char *name, bool ipv6, char address[ADDRESS_SIZE], bool *loopback);

#define MAX_SOCKETS 32

typedef struct socket_set {
  int fds[MAX_SOCKETS];
  uint32_t count;
} socket_set;

/* The internet sockets of this process that are open now. */
void sockets_now(socket_set *out);
/* Keeps those that `before` has not. */
void sockets_subtract(socket_set *set, const socket_set *before);
/* Visits `receive_buffer_bytes` and `send_buffer_bytes`, the smallest of the sockets, as the kernel granted them, and
 * `receive_buffer_limit_bytes`, which bounds what can be asked for. `receives` tells the sockets that are received on
 * from those that only send. */
void sockets_visit(const socket_set *set, bool (*receives)(int fd), ddsmark_visitor visit, void *context);

/* UNSUPPORTED if this host has no way to a multicast group over the interface. Sends nothing. */
ddsmark_status multicast_check(const char *interface_name, bool ipv6);
/* The multicast groups that the sockets have joined, as the kernel has it; "" if none. False if it does not say. */
bool sockets_groups(const socket_set *set, text *out);

#ifdef __cplusplus
}
#endif

#endif
