/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h: what the tests share. They know the driver only through its entry, as a host does.
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
/* Loads it. */
void load(const char *path);

/* Ends the process as failed, with the place and what was found there. */
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
/* A failure with this status, whose text has this in it. */
#define CHECK_FAILS(call, expected, text)                                                                              \
  do {                                                                                                                 \
    CHECK_STATUS(call, expected);                                                                                      \
    CHECK_HAS(d->last_error(), text);                                                                                  \
  } while (0)

uint64_t now_ns(void);
void sleep_ms(unsigned ms);

/* No test waits longer than this for what must come. */
#define PATIENCE_NS (30 * UINT64_C(1000000000))
/* Loops until the condition holds, or fails. */
#define WAIT_UNTIL(condition)                                                                                          \
  do {                                                                                                                 \
    const uint64_t limit_ = now_ns() + PATIENCE_NS;                                                                    \
    while (!(condition)) {                                                                                             \
      if (now_ns() > limit_)                                                                                           \
        FAILED("waited in vain for %s", #condition);                                                                   \
      sleep_ms(2);                                                                                                     \
    }                                                                                                                  \
  } while (0)

/* A domain in 1..100 and a topic that other tests on this host are unlikely to use; the same in a forked peer. */
extern uint32_t test_domain;
extern char test_topic[64];

ddsmark_participant_config participant_config(void);
ddsmark_participant *participant(void); /* with that configuration */
ddsmark_participant *participant_with(const char *transport, const ddsmark_option *options, uint32_t option_count);
ddsmark_writer_config writer_config(const ddsmark_qos *qos);
ddsmark_reader_config reader_config(const ddsmark_qos *qos, uint32_t receive_mode);
ddsmark_writer *writer(ddsmark_participant *p, const ddsmark_qos *qos);
ddsmark_reader *reader(ddsmark_participant *p, const ddsmark_qos *qos);

/* Reliable, keep all, with room for `max_blocking_ms`. */
ddsmark_qos reliable_keep_all(unsigned max_blocking_ms);

uint32_t matched_readers(ddsmark_writer *w);
uint32_t matched_writers(ddsmark_reader *r);

/* The payload of sample `sequence`: the number, then bytes that depend on number and place. */
void payload_fill(uint8_t *payload, uint64_t size, uint32_t sequence);
uint32_t payload_sequence(const uint8_t *payload);
bool payload_intact(const uint8_t *payload, uint64_t size, uint32_t sequence);
/* Writes until it is accepted, however often there is no room. */
void write_for_sure(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size);

/* Samples as they come: each must be the next one, of `size` bytes, and whole. */
typedef struct sequence_check {
  uint64_t size;
  _Atomic uint32_t received;
  uint32_t wrong_order, wrong_size, wrong_content;
} sequence_check;
void sequence_sink(void *context, const ddsmark_sample *sample);
void check_sequence(const sequence_check *c, uint32_t expected);
/* Receives, in the reader's mode, until `count` samples have come. */
void receive_all(ddsmark_reader *r, uint32_t mode, sequence_check *c, uint32_t count);

/* Reliable, keep all, that receives so into `c`. */
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
/* From one process to another, samples of each size, all of them whole and in order. */
void receive(const receive_case *k);

/* What every driver must say of itself; it has this name. */
void check_description(const char *name);
/* An option that there is not, and these, are refused. */
void check_option_errors(const ddsmark_option *bad, size_t count);
/* Opens a writer with `q` and wants it refused; then does the same for a reader. */
void check_policy_refused(ddsmark_participant *p, const ddsmark_qos *q, ddsmark_status status, const char *text);
/* One policy, and fields. */
#define QOS(policy, ...) (&(ddsmark_qos){.struct_size = sizeof(ddsmark_qos), .present = POLICY(policy), __VA_ARGS__})

/* Tests that a driver can have in its list: of describe.c one_symbol; of errors.c participant_errors, writer_errors,
 * reader_errors, policy_values; of receive.c receive_in_process, receive_limits, keys. */

/* For programs with a list of tests. Runs the one of this name; 2: there is none. */
typedef struct test {
  const char *name;
  void (*run)(void);
} test;
int run_test(const test *tests, size_t count, const char *name);

/* All policies, with values that are nobody's defaults; none is present. */
ddsmark_qos unusual(void);
/* Reads back from a writer or reader (the other is NULL) and compares all that is present in `asked`. */
void check_back(ddsmark_writer *w, ddsmark_reader *r, const ddsmark_qos *asked, const ddsmark_qos *defaults);
/* Each policy alone, and then all together. */
void each_policy(uint64_t policies, bool of_writer);

/* Looks a setting up; "" if there is none of that name. */
typedef struct setting {
  const char *name;
  char value[8192];
  bool found;
} setting;
void setting_visitor(void *context, const char *name, const char *value);
const char *participant_setting(ddsmark_participant *p, const char *name, setting *s);
const char *writer_setting(ddsmark_writer *w, const char *name, setting *s);
const char *reader_setting(ddsmark_reader *r, const char *name, setting *s);

/* Threads, and open descriptors, of this process. */
unsigned thread_count(void);
unsigned descriptor_count(void);

/* A second process, forked before anything is open. Both ends talk in single bytes and numbers, with a time limit. */
typedef struct peer {
  pid_t pid;
  int fd;
} peer;
peer fork_peer(void (*child)(int fd, const void *argument), const void *argument);
void tell(int fd, uint32_t word);
uint32_t hear(int fd);
void hear_this(int fd, uint32_t word);
void join_peer(peer *p); /* which must have ended well */

#endif
