/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.c
 */
#include "harness.h"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const ddsmark_driver *d;
uint32_t test_domain;
char test_topic[64];

void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    FAILED("%s", dlerror());
  const ddsmark_driver *(*entry)(void) = NULL;
  *(void **)&entry = dlsym(library, DDSMARK_ENTRY_SYMBOL);
  CHECK(entry != NULL);
  d = entry();
  CHECK(d != NULL && d == entry());
  CHECK_U64(d->abi_version, DDSMARK_ABI_VERSION);
}

_Noreturn void failed(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  /* Without exit handlers of the middleware, whose threads may be running. */
  _exit(1);
}

int run_test(const test *tests, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(tests[i].name, name) == 0) {
      tests[i].run();
      return 0;
    }
  }
  fprintf(stderr, "no test is called `%s`\n", name);
  return 2;
}

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

ddsmark_participant_config participant_config(void) {
  return (ddsmark_participant_config){
      .struct_size = sizeof(ddsmark_participant_config), .domain = test_domain, .run_name = "test", .interface = "lo"};
}

ddsmark_participant *participant(void) {
  return participant_with(NULL, NULL, 0);
}

ddsmark_participant *participant_with(const char *transport, const ddsmark_option *options, uint32_t option_count) {
  ddsmark_participant_config c = participant_config();
  c.transport = transport;
  c.options = options;
  c.option_count = option_count;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  return p;
}

ddsmark_writer_config writer_config(const ddsmark_qos *qos) {
  return (ddsmark_writer_config){.struct_size = sizeof(ddsmark_writer_config), .topic = test_topic, .qos = qos};
}

ddsmark_reader_config reader_config(const ddsmark_qos *qos, uint32_t receive_mode) {
  return (ddsmark_reader_config){
      .struct_size = sizeof(ddsmark_reader_config), .topic = test_topic, .qos = qos, .receive_mode = receive_mode};
}

ddsmark_writer *writer(ddsmark_participant *p, const ddsmark_qos *qos) {
  const ddsmark_writer_config c = writer_config(qos);
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &c, &w));
  return w;
}

ddsmark_reader *reader(ddsmark_participant *p, const ddsmark_qos *qos) {
  const ddsmark_reader_config c = reader_config(qos, DDSMARK_RECEIVE_WAITSET);
  ddsmark_reader *r = NULL;
  OK(d->reader_open(p, &c, &r));
  return r;
}

ddsmark_qos reliable_keep_all(unsigned max_blocking_ms) {
  return (ddsmark_qos){.struct_size = sizeof(ddsmark_qos),
                       .present = POLICY(RELIABILITY) | POLICY(HISTORY),
                       .reliability = DDSMARK_RELIABLE,
                       .history = DDSMARK_KEEP_ALL,
                       .max_blocking_ns = max_blocking_ms * UINT64_C(1000000)};
}

uint32_t matched_readers(ddsmark_writer *w) {
  ddsmark_match m = {.struct_size = sizeof m, .count = UINT32_MAX};
  OK(d->writer_matched(w, &m));
  return m.count;
}

uint32_t matched_writers(ddsmark_reader *r) {
  ddsmark_match m = {.struct_size = sizeof m, .count = UINT32_MAX};
  OK(d->reader_matched(r, &m));
  return m.count;
}

/* -- samples ------------------------------------------------------------------------------------------------------- */

static uint8_t payload_byte(uint64_t place, uint32_t sequence) {
  return (uint8_t)(place * 31 + sequence * 7 + 1);
}

void payload_fill(uint8_t *payload, uint64_t size, uint32_t sequence) {
  memcpy(payload, &sequence, sizeof sequence);
  for (uint64_t i = sizeof sequence; i < size; i++)
    payload[i] = payload_byte(i, sequence);
}

uint32_t payload_sequence(const uint8_t *payload) {
  uint32_t sequence;
  memcpy(&sequence, payload, sizeof sequence);
  return sequence;
}

bool payload_intact(const uint8_t *payload, uint64_t size, uint32_t sequence) {
  for (uint64_t i = sizeof sequence; i < size; i++)
    if (payload[i] != payload_byte(i, sequence))
      return false;
  return payload_sequence(payload) == sequence;
}

void write_for_sure(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const uint64_t limit = now_ns() + PATIENCE_NS;
  ddsmark_status status;
  while ((status = d->writer_write(w, key, payload, size)) != DDSMARK_OK) {
    if (status != DDSMARK_TIMED_OUT && status != DDSMARK_REFUSED)
      FAILED("a write is %d: %s", (int)status, d->last_error());
    if (now_ns() > limit)
      FAILED("no write is accepted: %s", d->last_error());
  }
}

void sequence_sink(void *context, const ddsmark_sample *sample) {
  sequence_check *c = context;
  const uint32_t expected = c->received;
  if (sample->size != c->size)
    c->wrong_size++;
  else if (payload_sequence(sample->payload) != expected)
    c->wrong_order++;
  else if (!payload_intact(sample->payload, sample->size, expected))
    c->wrong_content++;
  c->received = expected + 1;
}

void check_sequence(const sequence_check *c, uint32_t expected) {
  CHECK_U64(c->received, expected);
  CHECK_U64(c->wrong_size, 0);
  CHECK_U64(c->wrong_order, 0);
  CHECK_U64(c->wrong_content, 0);
}

void receive_all(ddsmark_reader *r, uint32_t mode, sequence_check *c, uint32_t count) {
  const uint64_t limit = now_ns() + PATIENCE_NS;
  while (c->received < count) {
    uint32_t taken = 0;
    const uint32_t before = c->received;
    CHECK(now_ns() < limit);
    if (mode == DDSMARK_RECEIVE_LISTENER) {
      sleep_ms(1);
    } else {
      OK(d->reader_receive(r, mode == DDSMARK_RECEIVE_WAITSET ? 100000000 : 0, 64, sequence_sink, c, &taken));
      CHECK(taken <= 64);
      CHECK_U64(c->received - before, taken);
    }
  }
}

/* -- settings, threads, descriptors -------------------------------------------------------------------------------- */

void setting_visitor(void *context, const char *name, const char *value) {
  setting *s = context;
  if (strcmp(name, s->name) == 0) {
    s->found = true;
    snprintf(s->value, sizeof s->value, "%s", value);
  }
}

const char *participant_setting(ddsmark_participant *p, const char *name, setting *s) {
  *s = (setting){.name = name};
  OK(d->participant_settings(p, setting_visitor, s));
  return s->value;
}

const char *writer_setting(ddsmark_writer *w, const char *name, setting *s) {
  *s = (setting){.name = name};
  OK(d->writer_settings(w, setting_visitor, s));
  return s->value;
}

const char *reader_setting(ddsmark_reader *r, const char *name, setting *s) {
  *s = (setting){.name = name};
  OK(d->reader_settings(r, setting_visitor, s));
  return s->value;
}

static unsigned entries(const char *path) {
  DIR *dir = opendir(path);
  unsigned n = 0;
  CHECK(dir != NULL);
  for (const struct dirent *e; (e = readdir(dir)) != NULL;)
    n += e->d_name[0] != '.';
  closedir(dir);
  return n;
}

unsigned thread_count(void) {
  return entries("/proc/self/task");
}
unsigned descriptor_count(void) {
  return entries("/proc/self/fd") - 1;
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

uint32_t hear(int fd) {
  uint32_t word;
  struct pollfd p = {.fd = fd, .events = POLLIN};
  CHECK(poll(&p, 1, (int)(PATIENCE_NS / 1000000)) == 1);
  CHECK(recv(fd, &word, sizeof word, MSG_WAITALL) == sizeof word); /* fails if the other process has failed */
  return word;
}

void hear_this(int fd, uint32_t word) {
  CHECK_U64(hear(fd), word);
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
  CHECK(ended == p->pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
