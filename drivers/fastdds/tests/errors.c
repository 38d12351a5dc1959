/* SPDX-License-Identifier: Apache-2.0
 *
 * errors.c: requests that this driver rejects, with the right status and a text that names the cause.
 */
#include "harness.h"

void test_unreachable(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  const char *peers[] = {"127.0.0.1", "no.such.host"};
  c.peers = peers;
  c.peer_count = 2;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "`no.such.host`");
  c = participant_config();
  c.multicast = 1;
  c.transport = "shm";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "multicast is not supported over `shm`");
  CHECK(p == NULL);
}

void test_no_socket_buffers(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.transport = "shm";
  c.receive_buffer_bytes = 1 << 20;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "hint: set the options `shm_segment_size`");
  c.receive_buffer_bytes = 0;
  c.send_buffer_bytes = 1 << 20;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "no sockets");
  CHECK(p == NULL);
}

void test_option_errors(void) {
  static const ddsmark_option bad[] = {{"heartbeat_ms", ""},
                                       {"heartbeat_ms", "1s"},
                                       {"heartbeat_ms", "0"},
                                       {"publish_mode", "later"},
                                       {"max_message_size", "10"},
                                       {"max_message_size", "65501"},
                                       {"flow_controller", "100"},
                                       {"memory", "some"},
                                       {"plain", "yes"},
                                       {"type", "cdr"},
                                       {"flow_controller", "1/2/3"},
                                       {"participants", "1001"},
                                       {"shm_segment_size", "4294967296"},
                                       {"tcp_crc", "yes"},
                                       {"heartbeat_response_us", "5ms"},
                                       {"heartbeat_response_us", "1000001"},
                                       {"extra_samples", "1001"},
                                       {"discovery_server", "here"},
                                       {"discovery_server", "127.0.0.1:0"},
                                       {"non_blocking_send", "yes"},
                                       {"tcp_negotiation_timeout_ms", "60001"}};
  check_option_errors(bad, sizeof bad / sizeof bad[0]);
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  const ddsmark_option option = {"max_message_size", "100000000"};
  c.options = &option;
  c.option_count = 1;
  c.transport = "shm";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "shm_segment_size");
  CHECK(p == NULL);
  WAIT_UNTIL(thread_count() == 1);
}

/* Variables with which the library would use other transports than the measured one. */
void test_foreign_variables(void) {
  static const char *const names[] = {"FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_ENVIRONMENT_FILE", "ROS2_EASY_MODE",
                                      "ROS_DISCOVERY_SERVER", "ROS_SUPER_CLIENT"};
  static const char *const instead[] = {"`large_data` for LARGE_DATA", "with `--env`", "discovery_server=own",
                                        "--option fastdds.discovery_server=127.0.0.1:11811", "no super client"};
  const ddsmark_participant_config c = participant_config();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    ddsmark_participant *p = NULL;
    setenv(names[i], "x", 1);
    CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, names[i]);
    CHECK_HAS(d->last_error(), instead[i]);
    setenv(names[i], "", 1);
    OK(d->participant_open(&c, &p));
    OK(d->participant_close(p));
    unsetenv(names[i]);
  }
}

/* The limit of discovery follows the participants of the run; one that was given and is too low is rejected. */
void test_many_participants(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  const ddsmark_option low = {"participants", "40"};
  setting s;
  OK(d->participant_open(&c, &p));
  CHECK_HAS(participant_setting(p, "participants", &s), "32");
  OK(d->participant_close(p));
  c.participant_count = 300;
  OK(d->participant_open(&c, &p));
  CHECK_HAS(participant_setting(p, "participants", &s), "300");
  OK(d->participant_close(p));
  /* Another participant has the ports of the only index that others contact. */
  ddsmark_participant *second = NULL;
  c.participant_count = 1;
  OK(d->participant_open(&c, &p));
  CHECK_HAS(participant_setting(p, "participants", &s), "1");
  CHECK_FAILS(d->participant_open(&c, &second), DDSMARK_ERROR, "has index 1 in domain");
  c.participant_count = 2;
  OK(d->participant_open(&c, &second));
  OK(d->participant_close(second));
  OK(d->participant_close(p));
  p = NULL;
  c.participant_count = 41;
  c.options = &low;
  c.option_count = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "option `participants` is 40, too low for the 41");
  c.participant_count = 40;
  OK(d->participant_open(&c, &p));
  OK(d->participant_close(p));
  p = NULL;
  c.option_count = 0;
  c.transport = "tcp4";
  c.participant_count = 250;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "249 TCP ports");
  c.transport = "shm";
  c.participant_count = UINT32_MAX;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "hint: reduce `shm_segment_size`");
  CHECK(p == NULL);
  WAIT_UNTIL(thread_count() == 1);
}

void test_unsupported_writers(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer *w = NULL;
  ddsmark_writer_config c = writer_config(NULL);
  c.loans = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "plain");
  c.type_kind = DDSMARK_TYPE_KEYED;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "loans are not supported for samples with a key");
  c = writer_config(NULL);
  c.batch_bytes = 4096;
  c.type_kind = DDSMARK_TYPE_KEYED;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "with a key");
  c.type_kind = DDSMARK_TYPE_PLAIN;
  c.max_payload_bytes = 100;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "plain=false");
  c.type_kind = DDSMARK_TYPE_OCTETS;
  c.max_payload_bytes = d->describe()->transports[0].max_payload_bytes;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_TOO_LARGE, "exceed the maximum of transport `udp4` with batching");
  ddsmark_reader_config rc = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  ddsmark_reader *r = NULL;
  rc.batched = 1;
  rc.type_kind = DDSMARK_TYPE_KEYED;
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_UNSUPPORTED, "batching");
  CHECK(w == NULL && r == NULL);
  OK(d->participant_close(p));
}

void test_policy_errors(void) {
  ddsmark_participant *p = participant();
  check_policy_refused(p, QOS(DURABILITY, .durability = DDSMARK_TRANSIENT), DDSMARK_UNSUPPORTED, "`transient`");
  check_policy_refused(p, QOS(DURABILITY, .durability = DDSMARK_PERSISTENT), DDSMARK_UNSUPPORTED, "`persistent`");
  check_policy_refused(p, QOS(PRESENTATION, .coherent_access = 1), DDSMARK_UNSUPPORTED, "coherent");
  check_policy_refused(p, QOS(DESTINATION_ORDER, .destination_order = DDSMARK_ORDER_BY_SOURCE), DDSMARK_UNSUPPORTED,
                       "destination");
  check_policy_refused(p, QOS(ENTITY_FACTORY, .autoenable_created = 0), DDSMARK_UNSUPPORTED, "policy `entity_factory`");
  OK(d->participant_close(p));
}
