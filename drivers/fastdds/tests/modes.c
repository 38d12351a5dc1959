/* SPDX-License-Identifier: Apache-2.0
 *
 * modes.c: what users of ROS 2 configure: large data, discovery servers, flow controllers, and threads.
 */
#include "harness.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_generation_2(void) {
  return d->describe()->middleware_version[0] == '2';
}

void test_receive_large_data(void) {
  if (!is_generation_2())
    receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "large_data"});
}

void test_large_data(void) {
  if (is_generation_2())
    return;
  setting s;
  ddsmark_participant *p = participant_with("large_data", NULL, 0);
  CHECK_HAS(participant_setting(p, "transports", &s), "shm+tcp4+udp4");
  CHECK_HAS(participant_setting(p, "announcements_over", &s), "udp4");
  CHECK_HAS(participant_setting(p, "discovery_over", &s), "tcp4");
  CHECK_HAS(participant_setting(p, "data_over", &s), "shm+tcp4");
  CHECK_HAS(participant_setting(p, "max_message_size", &s), "65500");
  CHECK_HAS(participant_setting(p, "shm_segment_size", &s), "8704000");
  OK(d->participant_close(p));
  const ddsmark_option options[] = {{"max_message_size", "200000"},
                                    {"non_blocking_send", "on"},
                                    {"tcp_negotiation_timeout_ms", "50"},
                                    {"shm_segment_size", "16777216"}};
  p = participant_with("large_data", options, 4);
  CHECK_HAS(participant_setting(p, "max_message_size", &s), "200000");
  CHECK_HAS(participant_setting(p, "non_blocking_send", &s), "on");
  CHECK_HAS(participant_setting(p, "tcp_negotiation_timeout_ms", &s), "50");
  CHECK_HAS(participant_setting(p, "shm_segment_size", &s), "16777216");
  OK(d->participant_close(p));
  ddsmark_participant_config c = participant_config();
  c.options = &options[1];
  c.option_count = 1;
  p = NULL;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "acts on the transport `large_data` only");
  CHECK(p == NULL);
}

static const char *const with_servers[] = {"udp4", "builtin", "data_sharing"};

/* Of two processes, one has the server, and both discover each other through it. */
void test_own_server(void) {
  const ddsmark_option own = {"discovery_server", "own"};
  if (is_generation_2())
    return;
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "udp4", .options = &own, .option_count = 1});
  for (size_t i = 0; i < sizeof with_servers / sizeof with_servers[0]; i++) {
    setting s;
    ddsmark_participant *p = participant_with(with_servers[i], &own, 1);
    CHECK_HAS(participant_setting(p, "discovery", &s), "client of a server");
    CHECK_HAS(participant_setting(p, "discovery_server", &s), ", of the run");
    OK(d->participant_close(p));
  }
  WAIT_UNTIL(thread_count() <= 2); /* of shared memory, one stays */
}

/* A server that runs elsewhere is used, and missed if it does not answer. */
void test_users_server(void) {
  if (is_generation_2())
    return;
  setting s;
  const ddsmark_option own = {"discovery_server", "own"};
  ddsmark_participant *p = participant_with("udp4", &own, 1);
  char address[64];
  snprintf(address, sizeof address, "%s", participant_setting(p, "discovery_server", &s));
  *strchr(address, ',') = '\0';
  const ddsmark_option users = {"discovery_server", address};
  ddsmark_participant *client = participant_with("udp4", &users, 1);
  CHECK_HAS(participant_setting(client, "discovery_server", &s), ", of the user");
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer *w = writer(p, &q);
  ddsmark_reader *r = reader(client, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(client));
  OK(d->participant_close(p));
  /* The port of the server above may be that of another test's server now; here is a socket that never answers. */
  const int silent = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in bound = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof bound;
  CHECK(silent >= 0 && bind(silent, (struct sockaddr *)&bound, size) == 0);
  CHECK(getsockname(silent, (struct sockaddr *)&bound, &size) == 0);
  snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(bound.sin_port));
  ddsmark_participant_config c = participant_config();
  c.options = &users;
  c.option_count = 1;
  client = NULL;
  CHECK_FAILS(d->participant_open(&c, &client), DDSMARK_BAD_ARGUMENT, "no discovery server answered at 127.0.0.1:");
  c.transport = "tcp4";
  CHECK_FAILS(d->participant_open(&c, &client), DDSMARK_UNSUPPORTED, "is not supported over `tcp4`");
  CHECK(client == NULL);
  close(silent);
}

/* Of two participants on different hosts, only one connects: that with the lower address. Nothing is sent: no host has
 * the address of the broadcast. */
void test_tcp_one_connects(void) {
  static const char *const peers[] = {"255.255.255.255", "10.0.0.1"}, *const ports[] = {"10", "0"};
  for (size_t i = 0; i < 2; i++) {
    setting s;
    ddsmark_participant_config c = participant_config();
    c.transport = "tcp4";
    c.interface = "lo";
    c.peers = &peers[i];
    c.peer_count = 1;
    ddsmark_participant *p = NULL;
    OK(d->participant_open(&c, &p));
    CHECK(strcmp(participant_setting(p, "tcp_peers", &s), ports[i]) == 0);
    OK(d->participant_close(p));
  }
}

/* The flow controller acts on a writer that is asynchronous by the factor, too: 20 samples of 5000 bytes are twice what
 * it lets through in one period, so they take at least one more. */
void test_flow_limit(void) {
  const ddsmark_option limit = {"flow_controller", "50000/300"};
  ddsmark_participant *p = participant_with("udp4", &limit, 1);
  ddsmark_writer_config c = writer_config(NULL);
  ddsmark_writer *w = NULL;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_INCONSISTENT, "set `asynchronous` or `publish_mode=async`");
  const ddsmark_qos q = reliable_keep_all(1000);
  c = writer_config(&q);
  c.async_write = 1;
  OK(d->writer_open(p, &c, &w));
  setting s;
  CHECK(strcmp(writer_setting(w, "publish_mode", &s), "async") == 0);
  CHECK(strcmp(writer_setting(w, "flow_controller", &s), "50000/300") == 0);
  ddsmark_reader *r = reader(p, &q);
  WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
  static uint8_t payload[5000];
  sequence_check received = {.size = sizeof payload};
  const uint64_t begin = now_ns();
  for (uint32_t i = 0; i < 20; i++) {
    payload_fill(payload, sizeof payload, i);
    write_for_sure(w, 0, payload, sizeof payload);
  }
  receive_all(r, DDSMARK_RECEIVE_WAITSET, &received, 20);
  check_sequence(&received, 20);
  if (now_ns() - begin < 300000000)
    FAILED("100000 bytes took %llu ms", (unsigned long long)((now_ns() - begin) / 1000000));
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* The threads of the library have the policy and the core of the profiles file, as the kernel says. */
void test_thread_settings(void) {
  static const char profile[] =
      "<dds xmlns=\"http://www.eprosima.com\"><profiles><transport_descriptors><transport_descriptor><transport_id>t"
      "</transport_id><type>%s</type><default_reception_threads><affinity>%llu</affinity></default_reception_threads>"
      "</transport_descriptor></transport_descriptors><participant profile_name=\"p\" "
      "is_default_profile=\"true\"><rtps>"
      "<timed_events_thread><scheduling_policy>3</scheduling_policy></"
      "timed_events_thread><userTransports><transport_id>t"
      "</transport_id></userTransports></rtps></participant></profiles></dds>";
  cpu_set_t cores;
  CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
  int core = 0;
  while (core < 63 && !CPU_ISSET(core, &cores))
    core++;
  setting s;
  ddsmark_participant *p = participant_with("udp4", NULL, 0);
  const bool has_settings = (participant_setting(p, "threads", &s), s.found);
  if (has_settings)
    CHECK_HAS(s.value, "as the thread");
  OK(d->participant_close(p));
  if (!has_settings || is_generation_2() || CPU_COUNT(&cores) < 2)
    return;
  char path[] = "/tmp/ddsmark-threads-XXXXXX", text[1024], expected[32];
  const int n = snprintf(text, sizeof text, profile, "UDPv4", 1ull << core), fd = mkstemp(path);
  CHECK(fd >= 0 && write(fd, text, (size_t)n) == n);
  close(fd);
  const ddsmark_option option = {"profiles_file", path};
  p = participant_with("udp4", &option, 1);
  unlink(path);
  participant_setting(p, "threads", &s);
  CHECK_HAS(s.value, "dds.ev batch cores ");
  snprintf(expected, sizeof expected, "dds.udp other cores %d", core);
  CHECK_HAS(s.value, expected);
  OK(d->participant_close(p));
}
