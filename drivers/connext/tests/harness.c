/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.c
 */
#include "harness.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_ms(unsigned ms) {
  const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
  nanosleep(&t, NULL);
}

/* -- entities ------------------------------------------------------------------------------------------------------ */

ddsmark_participant *participant(const char *transport, const ddsmark_option *options, uint32_t option_count) {
  const ddsmark_participant_config c = {.struct_size = sizeof c,
                                        .domain = test_domain,
                                        .run_name = "test",
                                        .interface = "lo",
                                        .transport = transport,
                                        .options = options,
                                        .option_count = option_count};
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  return p;
}

ddsmark_qos reliable_keep_all(void) {
  return (ddsmark_qos){.struct_size = sizeof(ddsmark_qos),
                       .present = 1u << DDSMARK_POLICY_RELIABILITY | 1u << DDSMARK_POLICY_HISTORY,
                       .reliability = DDSMARK_RELIABLE,
                       .history = DDSMARK_KEEP_ALL,
                       .max_blocking_ns = 100000000};
}

ddsmark_writer_config writer_config(const ddsmark_qos *qos, uint64_t size) {
  return (ddsmark_writer_config){
      .struct_size = sizeof(ddsmark_writer_config), .topic = test_topic, .qos = qos, .max_payload_bytes = size};
}

ddsmark_writer *writer(ddsmark_participant *p, const ddsmark_writer_config *config) {
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, config, &w));
  return w;
}

ddsmark_reader *reader(ddsmark_participant *p, const ddsmark_qos *qos, uint64_t size) {
  const ddsmark_reader_config c = {.struct_size = sizeof c, .topic = test_topic, .qos = qos, .max_payload_bytes = size};
  ddsmark_reader *r = NULL;
  OK(d->reader_open(p, &c, &r));
  return r;
}

uint32_t matched_readers(ddsmark_writer *w) {
  uint32_t n = UINT32_MAX;
  OK(d->writer_matched(w, &n));
  return n;
}

uint32_t matched_writers(ddsmark_reader *r) {
  uint32_t n = UINT32_MAX;
  OK(d->reader_matched(r, &n));
  return n;
}

void match(ddsmark_writer *w, ddsmark_reader *r) {
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
}

/* -- samples ------------------------------------------------------------------------------------------------------- */

static uint8_t byte_of(uint64_t place, uint32_t number) {
  return (uint8_t)(place * 31 + number * 7 + 1);
}

void write_numbered(ddsmark_writer *w, uint64_t size, uint32_t count) {
  uint8_t *payload = malloc(size);
  for (uint32_t number = 0; number < count; number++) {
    for (uint64_t i = 0; i < size; i++)
      payload[i] = byte_of(i, number);
    const uint64_t limit = now_ns() + PATIENCE_NS;
    ddsmark_status status;
    while ((status = d->writer_write(w, 0, payload, size)) != DDSMARK_OK) {
      if (status != DDSMARK_TIMED_OUT && status != DDSMARK_REFUSED)
        FAILED("sample %u: %s", number, d->last_error());
      CHECK(now_ns() < limit);
    }
  }
  OK(d->writer_flush(w));
  free(payload);
}

typedef struct expected {
  uint64_t size;
  uint32_t number;
} expected;

static void sink(void *context, const ddsmark_sample *sample) {
  expected *e = context;
  CHECK_U64(sample->size, e->size);
  for (uint64_t i = 0; i < sample->size; i++)
    if (sample->payload[i] != byte_of(i, e->number))
      FAILED("byte %llu of sample %u is another", (unsigned long long)i, e->number);
  e->number++;
}

void receive_numbered(ddsmark_reader *r, uint64_t size, uint32_t count) {
  expected e = {size, 0};
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (e.number < count) {
    uint32_t taken = 0;
    const uint32_t before = e.number;
    if (now_ns() > limit)
      FAILED("%u of %u samples came", e.number, count);
    OK(d->reader_receive(r, 100000000, 64, sink, &e, &taken));
    CHECK_U64(e.number - before, taken);
  }
}

/* -- settings ------------------------------------------------------------------------------------------------------ */

static struct {
  const char *name;
  char value[65536];
} setting;

static void visitor(void *context, const char *name, const char *value) {
  (void)context;
  if (strcmp(name, setting.name) == 0)
    snprintf(setting.value, sizeof setting.value, "%s", value);
}

const char *participant_setting(ddsmark_participant *p, const char *name) {
  setting.name = name;
  setting.value[0] = '\0';
  OK(d->participant_settings(p, visitor, NULL));
  return setting.value;
}

const char *writer_setting(ddsmark_writer *w, const char *name) {
  setting.name = name;
  setting.value[0] = '\0';
  OK(d->writer_settings(w, visitor, NULL));
  return setting.value;
}

/* -- a second process ---------------------------------------------------------------------------------------------- */

peer fork_peer(void (*child)(int fd, const void *argument), const void *argument) {
  int fds[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    close(fds[0]);
    alarm(90); /* not inherited */
    child(fds[1], argument);
    _exit(0);
  }
  close(fds[1]);
  return (peer){pid, fds[0]};
}

void tell(int fd, uint32_t word) {
  CHECK(send(fd, &word, sizeof word, MSG_NOSIGNAL) == sizeof word);
}

void hear(int fd, uint32_t word) {
  uint32_t heard;
  struct pollfd p = {.fd = fd, .events = POLLIN};
  CHECK(poll(&p, 1, (int)(PATIENCE_NS / 1000000)) == 1);
  CHECK(recv(fd, &heard, sizeof heard, MSG_WAITALL) == sizeof heard); /* else the other process has failed */
  CHECK_U64(heard, word);
}

void join_peer(peer *p) {
  int status = 0;
  close(p->fd);
  const uint64_t limit = now_ns() + PATIENCE_NS;
  pid_t ended;
  while ((ended = waitpid(p->pid, &status, WNOHANG)) == 0) {
    CHECK(now_ns() < limit);
    sleep_ms(2);
  }
  CHECK(ended == p->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
