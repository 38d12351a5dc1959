/* SPDX-License-Identifier: Apache-2.0
 *
 * real.c: connext_real <driver> <test>: with Connext itself, where the licence is accepted. What the contract promises
 * `ddsmark drivers check` tries; here is what only this driver has.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness.h"

const ddsmark_driver *d;
uint32_t test_domain;
char test_topic[64];

static void test_found(void) {
  const ddsmark_description *info = d->describe();
  CHECK(info->middleware_version[0] >= '6' && strchr(info->middleware_version, '.') != NULL);
  CHECK(info->build != NULL && info->build[0] != '\0');
}

/* -- transports ---------------------------------------------------------------------------------------------------- */

enum { READY = 1, DONE };

typedef struct transfer {
  const char *transport;
  uint64_t size;
  uint32_t count;
} transfer;

static void transfer_child(int fd, const void *argument) {
  const transfer *t = argument;
  const ddsmark_qos q = reliable_keep_all();
  ddsmark_participant *p = participant(t->transport, NULL, 0);
  ddsmark_reader *r = reader(p, &q, t->size);
  WAIT_UNTIL(matched_writers(r) == 1);
  tell(fd, READY);
  receive_numbered(r, t->size, t->count);
  tell(fd, DONE);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

static void transfer_between(const transfer *t) {
  peer child = fork_peer(transfer_child, t);
  const ddsmark_qos q = reliable_keep_all();
  const ddsmark_writer_config c = writer_config(&q, t->size);
  ddsmark_participant *p = participant(t->transport, NULL, 0);
  CHECK(strcmp(participant_setting(p, "transport"), t->transport) == 0);
  ddsmark_writer *w = writer(p, &c);
  WAIT_UNTIL(matched_readers(w) == 1);
  hear(child.fd, READY);
  write_numbered(w, t->size, t->count);
  OK(d->writer_wait_acked(w, PATIENCE_NS));
  hear(child.fd, DONE);
  join_peer(&child);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

static void test_udp4(void) {
  transfer_between(&(transfer){"udp4", 64, 3000});
}
static void test_shm(void) {
  transfer_between(&(transfer){"shm", 64, 3000});
}
static void test_udp4_large(void) {
  transfer_between(&(transfer){"udp4", 2000000, 10});
}
static void test_shm_large(void) {
  transfer_between(&(transfer){"shm", 2000000, 10});
}

/* With shared memory there is no socket of ours, so nothing goes another way. */
static void test_shm_is_shm(void) {
  ddsmark_participant *p = participant("shm", NULL, 0);
  CHECK(strcmp(participant_setting(p, "receive_buffer_bytes"), "") == 0);
  OK(d->participant_close(p));
}

/* -- settings that only Connext has -------------------------------------------------------------------------------- */

static void test_options_in_force(void) {
  static const ddsmark_option options[] = {
      {"send_window", "77"}, {"heartbeat_us", "20000"}, {"fast_heartbeat_us", "3000"}};
  ddsmark_participant *p = participant(NULL, options, 3);
  const ddsmark_qos q = reliable_keep_all();
  const ddsmark_writer_config c = writer_config(&q, 64);
  ddsmark_writer *w = writer(p, &c);
  CHECK(strcmp(writer_setting(w, "send_window"), "77") == 0);
  CHECK(strcmp(writer_setting(w, "heartbeat_period"), "0 s 20000000 ns") == 0);
  CHECK(strcmp(writer_setting(w, "fast_heartbeat_period"), "0 s 3000000 ns") == 0);
  CHECK(strcmp(writer_setting(w, "batching"), "none") == 0);
  CHECK_HAS(writer_setting(w, "publish_mode"), "SYNCHRONOUS");
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* What is written arrives, whatever is switched on. */
static void carries(const ddsmark_option *options, uint32_t count, ddsmark_writer_config c, const char *name,
                    const char *value) {
  ddsmark_participant *p = participant(NULL, options, count);
  const ddsmark_qos q = reliable_keep_all();
  c.struct_size = sizeof c;
  c.topic = test_topic;
  c.qos = &q;
  c.max_payload_bytes = 64;
  ddsmark_writer *w = writer(p, &c);
  ddsmark_reader *r = reader(p, &q, 64);
  match(w, r);
  CHECK_HAS(writer_setting(w, name), value);
  write_numbered(w, 64, 200);
  receive_numbered(r, 64, 200);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

static void test_batching(void) {
  carries(NULL, 0, (ddsmark_writer_config){.batch_bytes = 2048}, "batching", "native");
}
static void test_batch_flush_delay(void) {
  static const ddsmark_option options[] = {{"batch_flush_us", "2000"}, {"batch_max_samples", "7"}};
  carries(options, 2, (ddsmark_writer_config){.batch_bytes = 2048}, "batch_flush_delay", "0 s 2000000 ns");
}
static void test_turbo_mode(void) {
  static const ddsmark_option options[] = {{"turbo_mode", "true"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "batching", "native");
}
static void test_auto_throttle(void) {
  static const ddsmark_option options[] = {{"auto_throttle", "true"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "batching", "none");
}
static void test_asynchronous(void) {
  carries(NULL, 0, (ddsmark_writer_config){.async_write = 1}, "publish_mode", "ASYNCHRONOUS");
}
static void test_fixed_rate(void) {
  static const ddsmark_option options[] = {{"flow_controller", "fixed_rate"}};
  carries(options, 1, (ddsmark_writer_config){.async_write = 1}, "flow_controller", "FIXED_RATE");
}
static void test_token_bucket(void) {
  static const ddsmark_option options[] = {{"flow_controller", "65536/1000"}};
  carries(options, 1, (ddsmark_writer_config){.async_write = 1}, "flow_controller", "ddsmark");
}
static void test_base_profile(void) {
  static const ddsmark_option options[] = {{"base_profile", "BuiltinQosLib::Generic.StrictReliable"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "batching", "none");
}

static void test_turbo_and_batching(void) {
  static const ddsmark_option options[] = {{"turbo_mode", "true"}};
  ddsmark_participant *p = participant(NULL, options, 1);
  ddsmark_writer_config c = writer_config(NULL, 64);
  ddsmark_writer *w = NULL;
  c.batch_bytes = 1000;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_INCONSISTENT, "turbo mode");
  OK(d->participant_close(p));
}

static void test_vendor_defaults(void) {
  const ddsmark_participant_config c = {
      .struct_size = sizeof c, .domain = test_domain, .run_name = "test", .interface = "lo", .vendor_defaults = 1};
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "transport"), "udp4+shm") == 0);
  const ddsmark_writer_config wc = writer_config(NULL, 64);
  ddsmark_writer *w = writer(p, &wc);
  CHECK(strcmp(writer_setting(w, "heartbeat_period"), "3 s 0 ns") == 0);
  CHECK_HAS(writer_setting(w, "send_window"), "UNLIMITED");
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* A profile that does not exist: nothing is left, and the next one opens. */
static void test_unknown_profile(void) {
  static const ddsmark_option option = {"base_profile", "NoLibrary::NoProfile"};
  const ddsmark_participant_config c = {.struct_size = sizeof c,
                                        .domain = test_domain,
                                        .run_name = "test",
                                        .interface = "lo",
                                        .options = &option,
                                        .option_count = 1};
  ddsmark_participant *p = NULL;
  CHECK(d->participant_open(&c, &p) != DDSMARK_OK && p == NULL);
  CHECK_HAS(d->last_error(), "hint: ");
  OK(d->participant_close(participant(NULL, NULL, 0)));
}

/* -- leftovers ----------------------------------------------------------------------------------------------------- */

static unsigned documents(void) {
  FILE *list = popen("ls /dev/shm | grep -c '^test-connext-.*\\.xml$'", "r");
  unsigned n = 99;
  CHECK(list != NULL && fscanf(list, "%u", &n) == 1);
  pclose(list);
  return n;
}

static void killed_child(int fd, const void *argument) {
  const transfer *t = argument;
  ddsmark_participant *p = participant(t->transport, NULL, 0);
  const ddsmark_qos q = reliable_keep_all();
  reader(p, &q, 64);
  tell(fd, READY);
  sleep_ms(60000);
}

/* The segments of Connext's in this domain. */
static unsigned segments(uint32_t domain) {
  char line[512];
  unsigned n = 0;
  FILE *file = fopen("/proc/sysvipc/shm", "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file)) {
    const long port = strtol(line, NULL, 10) - 0x400000, first = 7400 + 250L * domain;
    n += port >= first && port < first + 250;
  }
  fclose(file);
  return n;
}

/* A process that is killed leaves no file, and segments until the next one comes, in whatever domain. */
static void test_killed(void) {
  const transfer t = {"shm", 64, 100};
  const unsigned before = documents();
  const uint32_t domain = test_domain;
  peer child = fork_peer(killed_child, &t);
  hear(child.fd, READY);
  CHECK(segments(domain) > 0);
  CHECK(kill(child.pid, SIGKILL) == 0 && waitpid(child.pid, NULL, 0) == child.pid);
  close(child.fd);
  CHECK_U64(documents(), before);
  CHECK(segments(domain) > 0);
  test_domain = test_domain % 100 + 1;
  transfer_between(&t);
  CHECK_U64(segments(domain), 0);
  CHECK_U64(segments(test_domain), 0);
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define TESTS(TEST) \
    TEST(found) \
    TEST(udp4) \
    TEST(shm) \
    TEST(udp4_large) \
    TEST(shm_large) \
    TEST(shm_is_shm) \
    TEST(options_in_force) \
    TEST(batching) \
    TEST(batch_flush_delay) \
    TEST(turbo_mode) \
    TEST(auto_throttle) \
    TEST(asynchronous) \
    TEST(fixed_rate) \
    TEST(token_bucket) \
    TEST(base_profile) \
    TEST(turbo_and_batching) \
    TEST(vendor_defaults) \
    TEST(unknown_profile) \
    TEST(killed)
/* clang-format on */

int main(int argc, char **argv) {
#define ENTRY(name) {#name, test_##name},
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {TESTS(ENTRY)};
  if (argc != 3) {
    fprintf(stderr, "usage: %s <driver> <test>\n", argv[0]);
    return 2;
  }
  const char *accepted = getenv("DDSMARK_ACCEPT_LICENCE");
  if (accepted == NULL || strcmp(accepted, "1") != 0) {
    puts("skipped: licence not accepted");
    return 77;
  }
  alarm(100);
  test_domain = 1 + (uint32_t)getpid() % 100;
  snprintf(test_topic, sizeof test_topic, "ddsmark_test_%ld", (long)getpid());
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    FAILED("%s", dlerror());
  const ddsmark_driver *(*entry)(void) = NULL;
  *(void **)&entry = dlsym(library, DDSMARK_ENTRY_SYMBOL);
  CHECK(entry != NULL && (d = entry()) != NULL);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    if (strcmp(tests[i].name, argv[2]) == 0) {
      tests[i].run();
      return 0;
    }
  }
  fprintf(stderr, "no test is called `%s`\n", argv[2]);
  return 2;
}
