/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h: what the tests with Connext share. They know the driver only through its entry, as a host does.
 */
#ifndef DDSMARK_CONNEXT_HARNESS_H
#define DDSMARK_CONNEXT_HARNESS_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

#include "check.h"
#include "ddsmark/driver.h"

extern const ddsmark_driver *d; /* the driver under test */
extern uint32_t test_domain;    /* 1..100, and */
extern char test_topic[64];     /* that other tests on this host are unlikely to use; the same in a forked peer */

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
#define WAIT_UNTIL(condition)                                                                                          \
  do {                                                                                                                 \
    const uint64_t limit_ = now_ns() + PATIENCE_NS;                                                                    \
    while (!(condition)) {                                                                                             \
      if (now_ns() > limit_)                                                                                           \
        FAILED("waited in vain for %s", #condition);                                                                   \
      sleep_ms(2);                                                                                                     \
    }                                                                                                                  \
  } while (0)

ddsmark_participant *participant(const char *transport, const ddsmark_option *options, uint32_t option_count);
ddsmark_qos reliable_keep_all(void);
ddsmark_writer_config writer_config(const ddsmark_qos *qos, uint64_t size);
ddsmark_writer *writer(ddsmark_participant *p, const ddsmark_writer_config *config);
ddsmark_reader *reader(ddsmark_participant *p, const ddsmark_qos *qos, uint64_t size);
void match(ddsmark_writer *w, ddsmark_reader *r);
uint32_t matched_readers(ddsmark_writer *w);
uint32_t matched_writers(ddsmark_reader *r);

/* Writes `count` samples of `size` bytes, each until it is accepted; and receives them: each must be the next, and
 * whole. */
void write_numbered(ddsmark_writer *w, uint64_t size, uint32_t count);
void receive_numbered(ddsmark_reader *r, uint64_t size, uint32_t count);

/* A setting that is in force; "" if there is none of that name. */
const char *participant_setting(ddsmark_participant *p, const char *name);
const char *writer_setting(ddsmark_writer *w, const char *name);

/* A second process, forked before anything is open. Both ends talk in numbers, with a time limit. */
typedef struct peer {
  pid_t pid;
  int fd;
} peer;
peer fork_peer(void (*child)(int fd, const void *argument), const void *argument);
void tell(int fd, uint32_t word);
void hear(int fd, uint32_t word);
void join_peer(peer *p); /* which must have ended well */

#endif
