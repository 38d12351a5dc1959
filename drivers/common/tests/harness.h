/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h: shared by the tests. They use the driver only through its entry, like a host.
 */
#ifndef DDSMARK_TESTS_HARNESS_H
#define DDSMARK_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "../policies.h"
#include "ddsmark/driver.h"

extern const ddsmark_driver *d; /* the driver under test */
/* Loads the driver. */
void load(const char *path);

/* Ends the process as failed, with the position and a message. */
_Noreturn void failed(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define FAILED(...) failed(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      FAILED("%s", #condition);                                                                                        \
  } while (0)
#define CHECK_U64(found, expected)                                                                                     \
  do {                                                                                                                 \
    const uint64_t found_ = (uint64_t)(found), expected_ = (uint64_t)(expected);                                       \
    if (found_ != expected_)                                                                                           \
      FAILED("%s is %llu, not %llu", #found, (unsigned long long)found_, (unsigned long long)expected_);               \
  } while (0)
#define CHECK_HAS(text, part)                                                                                          \
  do {                                                                                                                 \
    const char *text_ = (text), *part_ = (part);                                                                       \
    if (strstr(text_, part_) == NULL)                                                                                  \
      FAILED("`%s` is without `%s`", text_, part_);                                                                    \
  } while (0)
#define CHECK_STATUS(call, expected)                                                                                   \
  do {                                                                                                                 \
    const ddsmark_status status_ = (call);                                                                             \
    if (status_ != (expected))                                                                                         \
      FAILED("%s is %d, not %d: %s", #call, (int)status_, (int)(expected), d->last_error());                           \
  } while (0)
#define OK(call) CHECK_STATUS(call, DDSMARK_OK)
/* Expects an error with this status and this text in its message. */
#define CHECK_FAILS(call, expected, text)                                                                              \
  do {                                                                                                                 \
    CHECK_STATUS(call, expected);                                                                                      \
    CHECK_HAS(d->last_error(), text);                                                                                  \
  } while (0)

uint64_t now_ns(void);
void sleep_ms(unsigned ms);

/* Maximum wait of a test. */
#define PATIENCE_NS (30 * UINT64_C(1000000000))
/* Loops until the condition is true; fails after the maximum wait. */
#define WAIT_UNTIL(condition)                                                                                          \
  do {                                                                                                                 \
    const uint64_t limit_ = now_ns() + PATIENCE_NS;                                                                    \
    while (!(condition)) {                                                                                             \
      if (now_ns() > limit_)                                                                                           \
        FAILED("waited in vain for %s", #condition);                                                                   \
      sleep_ms(2);                                                                                                     \
    }                                                                                                                  \
  } while (0)

/* Domain in 1..100 and topic that other tests on this host are unlikely to use; the same in a forked peer. */
extern uint32_t test_domain;
extern char test_topic[64];

ddsmark_participant_config participant_config(void);
ddsmark_participant *participant(void); /* with participant_config() */
ddsmark_participant *participant_with(const char *transport, const ddsmark_option *options, uint32_t option_count);
ddsmark_writer_config writer_config(const ddsmark_qos *qos);
ddsmark_reader_config reader_config(const ddsmark_qos *qos, uint32_t receive_mode);
ddsmark_writer *writer(ddsmark_participant *p, const ddsmark_qos *qos);
ddsmark_reader *reader(ddsmark_participant *p, const ddsmark_qos *qos);

/* Reliable, keep all, with `max_blocking_ms`. */
ddsmark_qos reliable_keep_all(unsigned max_blocking_ms);

uint32_t matched_readers(ddsmark_writer *w);
uint32_t matched_writers(ddsmark_reader *r);

/* Fills the payload of sample `sequence`: the number, then bytes that depend on number and position. */
void payload_fill(uint8_t *payload, uint64_t size, uint32_t sequence);
uint32_t payload_sequence(const uint8_t *payload);
bool payload_intact(const uint8_t *payload, uint64_t size, uint32_t sequence);
/* Writes a sample, with retries until it is accepted. */
void write_for_sure(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size);

/* Check of received samples: each must be the next one, of `size` bytes, and intact. */
typedef struct sequence_check {
  uint64_t size;
  _Atomic uint32_t received;
  uint32_t wrong_order, wrong_size, wrong_content;
} sequence_check;
void sequence_sink(void *context, const ddsmark_sample *sample);
void check_sequence(const sequence_check *c, uint32_t expected);
/* Receives in the reader's mode until `count` samples have arrived. */
void receive_all(ddsmark_reader *r, uint32_t mode, sequence_check *c, uint32_t count);

/* Opens a reliable keep-all reader that receives into `c`. */
ddsmark_reader *mode_reader(ddsmark_participant *p, uint32_t mode, uint64_t size, sequence_check *c);

#define RECEIVE_SIZES 3
extern const uint64_t receive_sizes[RECEIVE_SIZES];
extern const uint32_t receive_counts[RECEIVE_SIZES];

typedef struct receive_case {
  uint32_t mode;
  const char *transport;
  uint32_t multicast;
  const ddsmark_option *options;
  uint32_t option_count;
} receive_case;
/* Sends samples of each size from one process to another; all must arrive intact and in order. */
void receive(const receive_case *k);

/* Checks the description of a driver with this name. */
void check_description(const char *name);
/* Checks that an unknown option and these options are rejected. */
void check_option_errors(const ddsmark_option *bad, size_t count);
/* Checks that a writer and a reader with `q` are rejected. */
void check_policy_refused(ddsmark_participant *p, const ddsmark_qos *q, ddsmark_status status, const char *text);
/* QoS with one policy and its fields. */
#define QOS(policy, ...) (&(ddsmark_qos){.struct_size = sizeof(ddsmark_qos), .present = POLICY(policy), __VA_ARGS__})

/* Tests that a driver can include in its list. describe.c: one_symbol; errors.c: participant_errors, writer_errors,
 * reader_errors, policy_values; receive.c: receive_limits, keys. */

/* Runs the test of this name, for programs with a list of tests. Returns 2 if there is none. */
typedef struct test {
  const char *name;
  void (*run)(void);
} test;
int run_test(const test *tests, size_t count, const char *name);

/* Returns all policies with values that differ from every default; none is present. */
ddsmark_qos unusual(void);
/* Reads back from a writer or reader (the other is NULL) and compares all policies present in `asked`. */
void check_back(ddsmark_writer *w, ddsmark_reader *r, const ddsmark_qos *asked, const ddsmark_qos *defaults);
/* Tests the policies together. Alone, each is tested by the conformance case `qos-read-back`. */
void policies_together(uint64_t policies, bool of_writer);

/* Lookup of a setting; "" if it does not exist. */
typedef struct setting {
  const char *name;
  char value[8192];
  bool found;
} setting;
void setting_visitor(void *context, const char *name, const char *value);
const char *participant_setting(ddsmark_participant *p, const char *name, setting *s);
const char *writer_setting(ddsmark_writer *w, const char *name, setting *s);
const char *reader_setting(ddsmark_reader *r, const char *name, setting *s);

/* Return the number of threads and of open file descriptors of this process. */
unsigned thread_count(void);
unsigned descriptor_count(void);

/* Second process, forked before anything is open. Both exchange single bytes and numbers, with a time limit. */
typedef struct peer {
  pid_t pid;
  int fd;
} peer;
peer fork_peer(void (*child)(int fd, const void *argument), const void *argument);
void tell(int fd, uint32_t word);
uint32_t hear(int fd);
void hear_this(int fd, uint32_t word);
void join_peer(peer *p); /* fails if the peer has failed */

#endif
