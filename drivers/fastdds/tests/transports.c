/* SPDX-License-Identifier: Apache-2.0
 *
 * transports.c: samples over each transport, its effective settings, and its cleanup.
 */
#include "harness.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RECEIVES(name, receive_mode)                                                                                   \
  void test_receive_##name(void) {                                                                                     \
    receive(&(receive_case){.mode = DDSMARK_RECEIVE_##receive_mode, .transport = #name});                              \
  }

RECEIVES(udp4, WAITSET)
RECEIVES(udp6, LISTENER)
RECEIVES(tcp4, WAITSET)
RECEIVES(shm, POLLING)
RECEIVES(data_sharing, LISTENER)
RECEIVES(builtin, WAITSET)

void test_receive_async(void) {
  const ddsmark_option options[] = {{"publish_mode", "async"}, {"flow_controller", "10000000/10"}};
  receive(
      &(receive_case){.mode = DDSMARK_RECEIVE_LISTENER, .transport = "udp4", .options = options, .option_count = 2});
}

/* By TCP a later participant connects to the earlier ones, which must already listen. Participants, also those of
 * other processes, therefore open one after another, and none waits for ever. */
void test_tcp_turn(void) {
  struct sockaddr_un turn = {.sun_family = AF_UNIX};
  const int n = snprintf(turn.sun_path + 1, sizeof turn.sun_path - 1, "ddsmark-fastdds-tcp4-%u-turn", test_domain);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(bind(fd, (const struct sockaddr *)&turn, size) == 0);
  ddsmark_participant_config c = participant_config();
  c.transport = "tcp4";
  ddsmark_participant *p = NULL;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_ERROR, "another process has been opening");
  CHECK(p == NULL);
  close(fd);
  OK(d->participant_open(&c, &p));
  /* The turn has ended. */
  const int next = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(bind(next, (const struct sockaddr *)&turn, size) == 0);
  close(next);
  OK(d->participant_close(p));
}

static void late_child(int fd, const void *argument) {
  (void)argument;
  hear_this(fd, 1);
  const ddsmark_qos q = reliable_keep_all(100);
  for (int times = 0; times < 5; times++) {
    ddsmark_participant *p = participant_with("tcp4", NULL, 0);
    ddsmark_reader *r = reader(p, &q);
    WAIT_UNTIL(matched_writers(r) == 1);
    tell(fd, 2);
    hear_this(fd, 3);
    OK(d->reader_close(r));
    OK(d->participant_close(p));
  }
}

/* A participant that opens long after another finds it, and is found, each time. */
void test_tcp_late(void) {
  peer child = fork_peer(late_child, NULL);
  ddsmark_participant *p = participant_with("tcp4", NULL, 0);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer *w = writer(p, &q);
  sleep_ms(1000);
  tell(child.fd, 1);
  for (int times = 0; times < 5; times++) {
    WAIT_UNTIL(matched_readers(w) == 1);
    hear_this(child.fd, 2);
    tell(child.fd, 3);
    WAIT_UNTIL(matched_readers(w) == 0);
  }
  join_peer(&child);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* A free index may be below one in use: the two participants still discover each other. */
void test_tcp_numbers(void) {
  ddsmark_participant *first = participant_with("tcp4", NULL, 0), *second = participant_with("tcp4", NULL, 0);
  OK(d->participant_close(first));
  first = participant_with("tcp4", NULL, 0);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer *w = writer(first, &q);
  ddsmark_reader *r = reader(second, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(first));
  OK(d->participant_close(second));
}

void test_settings(void) {
  setting s;
  for (uint32_t i = 0; i < d->describe()->transport_count; i++) {
    const char *name = d->describe()->transports[i].name;
    ddsmark_participant *p = participant_with(name, NULL, 0);
    CHECK(strcmp(participant_setting(p, "transport", &s), name) == 0);
    participant_setting(p, "interface", &s);
    CHECK(s.found == (strcmp(name, "shm") != 0));
    ddsmark_writer_config wc = writer_config(NULL);
    wc.max_payload_bytes = 1000;
    ddsmark_writer *w = NULL;
    OK(d->writer_open(p, &wc, &w));
    CHECK(strcmp(writer_setting(w, "data_sharing", &s), strcmp(name, "data_sharing") == 0 ? "on" : "off") == 0);
    CHECK(strcmp(writer_setting(w, "batching", &s), "none") == 0);
    OK(d->writer_close(w));
    const bool several = strcmp(name, "builtin") == 0 || strcmp(name, "large_data") == 0;
    const bool has_segment = several || strcmp(name, "shm") == 0;
    CHECK((participant_setting(p, "transports", &s), s.found) == several);
    CHECK((participant_setting(p, "shm_segment_size", &s), s.found) == has_segment);
    OK(d->participant_close(p));
  }
  ddsmark_participant_config c = participant_config();
  c.receive_buffer_bytes = 150000;
  c.send_buffer_bytes = 120000;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "address", &s), "127.0.0.1") == 0);
  /* Linux reports twice the requested size. */
  CHECK(strcmp(participant_setting(p, "receive_buffer_bytes", &s), "300000") == 0);
  CHECK(strcmp(participant_setting(p, "send_buffer_bytes", &s), "240000") == 0);
  CHECK(!(participant_setting(p, "multicast_groups", &s), s.found)); /* discovery is by unicast */
  OK(d->participant_close(p));
}

void test_options_in_force(void) {
  setting s;
  const ddsmark_option udp[] = {{"publish_mode", "async"},     {"flow_controller", "1000000/10"},
                                {"heartbeat_ms", "25"},        {"memory", "dynamic_reusable"},
                                {"max_message_size", "9000"},  {"intraprocess", "full"},
                                {"heartbeat_response_us", "0"}};
  ddsmark_participant *p = participant_with("udp4", udp, 7);
  CHECK(strcmp(participant_setting(p, "max_message_size", &s), "9000") == 0);
  CHECK(strcmp(participant_setting(p, "flow_controller", &s), "1000000/10") == 0);
  CHECK(strcmp(participant_setting(p, "intraprocess", &s), "full") == 0);
  ddsmark_writer *w = writer(p, NULL);
  CHECK(strcmp(writer_setting(w, "publish_mode", &s), "async") == 0);
  CHECK(strcmp(writer_setting(w, "heartbeat_ms", &s), "25") == 0);
  CHECK(strcmp(writer_setting(w, "memory", &s), "dynamic_reusable") == 0);
  CHECK(strcmp(writer_setting(w, "flow_controller", &s), "1000000/10") == 0);
  OK(d->writer_close(w));
  ddsmark_reader *r = reader(p, NULL);
  CHECK(strcmp(reader_setting(r, "heartbeat_response_us", &s), "0") == 0);
  OK(d->reader_close(r));
  /* One switch for all participants of a process. */
  ddsmark_participant *other = NULL;
  const ddsmark_participant_config c = participant_config();
  CHECK_FAILS(d->participant_open(&c, &other), DDSMARK_BAD_ARGUMENT, "intraprocess");
  OK(d->participant_close(p));

  const ddsmark_option tcp[] = {{"tcp_crc", "on"}};
  p = participant_with("tcp4", tcp, 1);
  CHECK(strcmp(participant_setting(p, "tcp_crc", &s), "on") == 0);
  OK(d->participant_close(p));
  p = participant_with("tcp4", NULL, 0);
  CHECK(strcmp(participant_setting(p, "tcp_crc", &s), "off") == 0);
  OK(d->participant_close(p));

  const ddsmark_option shm[] = {
      {"shm_segment_size", "1000000"}, {"shm_port_queue", "77"}, {"max_message_size", "200000"}};
  p = participant_with("shm", shm, 3);
  CHECK(strcmp(participant_setting(p, "shm_segment_size", &s), "1000000") == 0);
  CHECK(strcmp(participant_setting(p, "shm_port_queue", &s), "77") == 0);
  CHECK(strcmp(participant_setting(p, "max_message_size", &s), "200000") == 0);
  CHECK(strcmp(participant_setting(p, "intraprocess", &s), "off") == 0);
  w = writer(p, NULL);
  CHECK(strcmp(writer_setting(w, "publish_mode", &s), "sync") == 0);
  CHECK(strcmp(writer_setting(w, "heartbeat_ms", &s), "10") == 0);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

void test_extra_samples(void) {
  static const char *const asked[] = {NULL, "8", "3", "3", "vendor", "1"};
  for (size_t i = 0; i < 6; i += 2) {
    setting s;
    const ddsmark_option option = {"extra_samples", asked[i]};
    ddsmark_participant *p = participant_with("data_sharing", &option, asked[i] != NULL);
    ddsmark_writer_config c = writer_config(NULL);
    c.max_payload_bytes = 1000;
    ddsmark_writer *w = NULL;
    OK(d->writer_open(p, &c, &w));
    CHECK(strcmp(writer_setting(w, "extra_samples", &s), asked[i + 1]) == 0);
    OK(d->writer_close(w));
    OK(d->participant_close(p));
  }
}

void test_vendor_defaults(void) {
  setting s;
  ddsmark_participant_config c = participant_config();
  c.vendor_defaults = 1;
  c.transport = "shm";
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "max_message_size", &s), "65500") == 0);
  ddsmark_writer *w = writer(p, NULL);
  CHECK(strcmp(writer_setting(w, "heartbeat_ms", &s), "3000") == 0);
  ddsmark_qos q = {.struct_size = sizeof q};
  OK(d->writer_qos(w, &q));
  CHECK_U64(q.max_samples, 5000);
  CHECK(!(writer_setting(w, "extra_samples", &s), s.found)); /* not shared */
  ddsmark_reader *r = reader(p, NULL);
  CHECK(strcmp(reader_setting(r, "heartbeat_response_us", &s), "5000") == 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* Returns the number of open or mapped files of shared memory. */
static unsigned shared_files(void) {
  char line[4096];
  unsigned n = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps))
    n += strstr(line, "/dev/shm/fast") != NULL;
  fclose(maps);
  return n;
}

void test_udp_is_udp(void) {
  ddsmark_participant *p = participant_with("udp4", NULL, 0);
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer *w = writer(p, &q);
  ddsmark_reader *r = reader(p, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  CHECK_U64(shared_files(), 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
  p = participant_with("shm", NULL, 0);
  CHECK(shared_files() > 0);
  OK(d->participant_close(p));
}
