/* SPDX-License-Identifier: Apache-2.0
 *
 * real.c: tests with Connext itself, if its licence is accepted. `ddsmark drivers check` tests the contract; these
 * tests cover features of this driver only.
 */
#include "harness.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void test_found(void) {
  const ddsmark_description *info = d->describe();
  CHECK(info->middleware_version[0] >= '6' && strchr(info->middleware_version, '.') != NULL);
  CHECK(info->build != NULL && info->build[0] != '\0');
}

/* -- transports ---------------------------------------------------------------------------------------------------- */

void test_receive_udp4(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "udp4"});
}
void test_receive_polling(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_POLLING, .transport = "udp4"});
}
void test_receive_shm(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "shm"});
}

/* With shared memory there is no socket for user data, so no data takes another path. */
void test_shm_is_shm(void) {
  setting s;
  ddsmark_participant *p = participant_with("shm", NULL, 0);
  CHECK(!(participant_setting(p, "receive_buffer_bytes", &s), s.found));
  OK(d->participant_close(p));
}

/* -- settings that only Connext has -------------------------------------------------------------------------------- */

void test_options_in_force(void) {
  static const ddsmark_option options[] = {
      {"send_window", "77"}, {"heartbeat_us", "20000"}, {"fast_heartbeat_us", "3000"}};
  setting s;
  ddsmark_participant *p = participant_with(NULL, options, 3);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer *w = writer(p, &q);
  CHECK(strcmp(writer_setting(w, "send_window", &s), "77") == 0);
  CHECK(strcmp(writer_setting(w, "heartbeat_period", &s), "0 s 20000000 ns") == 0);
  CHECK(strcmp(writer_setting(w, "fast_heartbeat_period", &s), "0 s 3000000 ns") == 0);
  CHECK(strcmp(writer_setting(w, "batching", &s), "none") == 0);
  CHECK_HAS(writer_setting(w, "publish_mode", &s), "SYNCHRONOUS");
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* Samples arrive with each of these options. */
static void carries(const ddsmark_option *options, uint32_t count, ddsmark_writer_config c, const char *name,
                    const char *value) {
  setting s;
  ddsmark_participant *p = participant_with(NULL, options, count);
  const ddsmark_qos q = reliable_keep_all(100);
  c.struct_size = sizeof c;
  c.topic = test_topic;
  c.qos = &q;
  c.max_payload_bytes = 64;
  sequence_check check = {.size = 64};
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &c, &w));
  ddsmark_reader *r = mode_reader(p, DDSMARK_RECEIVE_WAITSET, 64, &check);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  CHECK_HAS(writer_setting(w, name, &s), value);
  uint8_t payload[64];
  for (uint32_t n = 0; n < 200; n++) {
    payload_fill(payload, sizeof payload, n);
    write_for_sure(w, 0, payload, sizeof payload);
  }
  OK(d->writer_flush(w));
  receive_all(r, DDSMARK_RECEIVE_WAITSET, &check, 200);
  check_sequence(&check, 200);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

void test_batching(void) {
  carries(NULL, 0, (ddsmark_writer_config){.batch_bytes = 2048}, "batching", "native");
}
void test_batch_flush_delay(void) {
  static const ddsmark_option options[] = {{"batch_flush_us", "2000"}, {"batch_max_samples", "7"}};
  carries(options, 2, (ddsmark_writer_config){.batch_bytes = 2048}, "batch_flush_delay", "0 s 2000000 ns");
}
void test_turbo_mode(void) {
  static const ddsmark_option options[] = {{"turbo_mode", "true"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "batching", "native");
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "turbo_mode", "true");
}
void test_auto_throttle(void) {
  static const ddsmark_option options[] = {{"auto_throttle", "true"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "auto_throttle", "true");
  /* Also set on the participant; and on neither if not requested. */
  setting s;
  ddsmark_participant *p = participant_with(NULL, options, 1);
  CHECK(strcmp(participant_setting(p, "auto_throttle", &s), "true") == 0);
  OK(d->participant_close(p));
  p = participant();
  CHECK(!(participant_setting(p, "auto_throttle", &s), s.found));
  ddsmark_writer *w = writer(p, NULL);
  CHECK(!(writer_setting(w, "auto_throttle", &s), s.found));
  CHECK(!(writer_setting(w, "turbo_mode", &s), s.found));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
void test_asynchronous(void) {
  carries(NULL, 0, (ddsmark_writer_config){.async_write = 1}, "publish_mode", "ASYNCHRONOUS");
}
void test_fixed_rate(void) {
  static const ddsmark_option options[] = {{"flow_controller", "fixed_rate"}};
  carries(options, 1, (ddsmark_writer_config){.async_write = 1}, "flow_controller", "FIXED_RATE");
}
void test_token_bucket(void) {
  static const ddsmark_option options[] = {{"flow_controller", "65536/1000"}};
  carries(options, 1, (ddsmark_writer_config){.async_write = 1}, "flow_controller", "ddsmark");
}
/* Settings of the base profile take effect, and the batches that it enables are flushed. */
void test_base_profile(void) {
  static const ddsmark_option options[] = {{"base_profile", "BuiltinQosLib::Generic.StrictReliable.HighThroughput"}};
  carries(options, 1, (ddsmark_writer_config){.batch_bytes = 0}, "batching", "native");
}

void test_turbo_and_batching(void) {
  static const ddsmark_option options[] = {{"turbo_mode", "true"}};
  ddsmark_participant *p = participant_with(NULL, options, 1);
  ddsmark_writer_config c = writer_config(NULL);
  ddsmark_writer *w = NULL;
  c.batch_bytes = 1000;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_INCONSISTENT, "option `turbo_mode`");
  OK(d->participant_close(p));
}

void test_vendor_defaults(void) {
  setting s;
  ddsmark_participant_config c = participant_config();
  c.vendor_defaults = 1;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "transport", &s), "udp4+shm") == 0);
  ddsmark_writer *w = writer(p, NULL);
  CHECK(strcmp(writer_setting(w, "heartbeat_period", &s), "3 s 0 ns") == 0);
  CHECK_HAS(writer_setting(w, "send_window", &s), "UNLIMITED");
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* An unknown profile leaves nothing behind, and the next participant opens. */
void test_unknown_profile(void) {
  static const ddsmark_option option = {"base_profile", "NoLibrary::NoProfile"};
  ddsmark_participant_config c = participant_config();
  c.options = &option;
  c.option_count = 1;
  ddsmark_participant *p = NULL;
  CHECK(d->participant_open(&c, &p) != DDSMARK_OK && p == NULL);
  CHECK_HAS(d->last_error(), "hint: ");
  OK(d->participant_close(participant()));
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
  (void)argument;
  ddsmark_participant *p = participant_with("shm", NULL, 0);
  const ddsmark_qos q = reliable_keep_all(100);
  reader(p, &q);
  tell(fd, 1);
  sleep_ms(60000);
}

/* Returns the number of Connext's segments in this domain. */
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

/* A killed process leaves no file; its segments are removed by the next participant, in any domain. */
void test_killed(void) {
  const unsigned before = documents();
  const uint32_t domain = test_domain;
  peer child = fork_peer(killed_child, NULL);
  hear_this(child.fd, 1);
  CHECK(segments(domain) > 0);
  CHECK(kill(child.pid, SIGKILL) == 0 && waitpid(child.pid, NULL, 0) == child.pid);
  close(child.fd);
  CHECK_U64(documents(), before);
  CHECK(segments(domain) > 0);
  test_domain = test_domain % 100 + 1;
  test_receive_shm();
  CHECK_U64(segments(domain), 0);
  CHECK_U64(segments(test_domain), 0);
}
