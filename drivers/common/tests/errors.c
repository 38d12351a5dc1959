/* SPDX-License-Identifier: Apache-2.0
 *
 * errors.c: requests that every driver must reject, with the right status and a text that names the cause.
 */
#include "harness.h"

void test_participant_errors(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.interface = "nosuch0";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "interface `nosuch0` does not exist");
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "hint: ");
  c.interface = "an-interface-name-that-is-longer-than-any-name-that-this-kernel-allows";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "does not exist");
  c = participant_config();
  c.transport = "pigeon";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "transport `pigeon`");
  for (uint32_t i = 0; i < d->describe()->transport_count; i++) /* lists the available names */
    CHECK_HAS(d->last_error(), d->describe()->transports[i].name);
  c = participant_config();
  c.domain = 5000;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "domain 5000");
  c = participant_config();
  c.receive_buffer_bytes = UINT64_C(1) << 31;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "buffer");
  c = participant_config();
  const char *peers[] = {"127.0.0.1", ""};
  c.peers = peers;
  c.peer_count = 2;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "peer 1");
  c.struct_size = 4;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "without a valid `config`");
  CHECK(p == NULL);
  WAIT_UNTIL(thread_count() == 1);
}

void check_option_errors(const ddsmark_option *bad, size_t count) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  ddsmark_option option = {"no_such_option", "1"};
  c.options = &option;
  c.option_count = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "option `no_such_option`");
  for (uint32_t i = 0; i < d->describe()->option_count; i++) /* lists the available names */
    CHECK_HAS(d->last_error(), d->describe()->options[i].name);
  for (size_t i = 0; i < count; i++) {
    option = bad[i];
    CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, bad[i].name);
  }
  CHECK(p == NULL);
  WAIT_UNTIL(thread_count() == 1);
}

void test_writer_errors(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer *w = NULL;
  ddsmark_writer_config c = writer_config(NULL);
  c.type_kind = 77;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_BAD_ARGUMENT, "77");
  c = writer_config(NULL);
  c.topic = "";
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_BAD_ARGUMENT, "topic");
  CHECK(w == NULL);
  OK(d->participant_close(p));
  WAIT_UNTIL(thread_count() == 1);
}

static void no_sink(void *context, const ddsmark_sample *sample) {
  (void)context;
  (void)sample;
}

void test_reader_errors(void) {
  ddsmark_participant *p = participant();
  ddsmark_reader *r = NULL;
  ddsmark_reader_config c = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  c.content_filter = "key > 3";
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_UNSUPPORTED, "content");
  c = reader_config(NULL, 9);
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_BAD_ARGUMENT, "9");
  c = reader_config(NULL, DDSMARK_RECEIVE_LISTENER);
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_BAD_ARGUMENT, "sink");
  c = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  c.sink = no_sink;
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_BAD_ARGUMENT, "sink");
  CHECK(r == NULL);

  c = reader_config(NULL, DDSMARK_RECEIVE_LISTENER);
  c.sink = no_sink;
  OK(d->reader_open(p, &c, &r));
  uint32_t taken;
  CHECK_FAILS(d->reader_receive(r, 0, 1, no_sink, NULL, &taken), DDSMARK_BAD_ARGUMENT, "listener");
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

void check_policy_refused(ddsmark_participant *p, const ddsmark_qos *q, ddsmark_status status, const char *text) {
  ddsmark_writer *w = NULL;
  const ddsmark_writer_config wc = writer_config(q);
  CHECK_FAILS(d->writer_open(p, &wc, &w), status, text);
  ddsmark_reader *r = NULL;
  const ddsmark_reader_config rc = reader_config(q, DDSMARK_RECEIVE_WAITSET);
  CHECK_FAILS(d->reader_open(p, &rc, &r), status, text);
  CHECK(w == NULL && r == NULL);
}

void test_policy_values(void) {
  ddsmark_participant *p = participant();
  check_policy_refused(p, QOS(COUNT, .history = 0), DDSMARK_UNSUPPORTED, "unknown policy");
  check_policy_refused(p, QOS(RELIABILITY, .reliability = 2), DDSMARK_BAD_ARGUMENT, "reliability");
  check_policy_refused(p, QOS(RELIABILITY, .reliability = -1), DDSMARK_BAD_ARGUMENT, "reliability");
  check_policy_refused(p, QOS(DURABILITY, .durability = 4), DDSMARK_BAD_ARGUMENT, "durability");
  check_policy_refused(p, QOS(HISTORY, .history = DDSMARK_KEEP_LAST, .history_depth = 0), DDSMARK_BAD_ARGUMENT,
                       "history");
  check_policy_refused(p, QOS(RESOURCE_LIMITS, .max_samples = -5), DDSMARK_BAD_ARGUMENT, "policy `resource_limits`");
  check_policy_refused(p, QOS(PARTITION, .partition_count = 1), DDSMARK_BAD_ARGUMENT, "partition");
  check_policy_refused(p, QOS(USER_DATA, .user_data_size = 1), DDSMARK_BAD_ARGUMENT, "policy `user_data`");

  /* Inconsistent limits, and a history deeper than the limit of its instance. */
  check_policy_refused(p, QOS(RESOURCE_LIMITS, .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 6),
                       DDSMARK_INCONSISTENT, "policy `resource_limits` is inconsistent");
  ddsmark_qos q =
      *QOS(HISTORY, .history_depth = 10, .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 5);
  q.present |= POLICY(RESOURCE_LIMITS);
  check_policy_refused(p, &q, DDSMARK_INCONSISTENT, "`history_depth` is 10");
  /* Without the bit the policy is not requested. */
  q.present = POLICY(RESOURCE_LIMITS);
  OK(d->writer_close(writer(p, &q)));
  /* Requests for the only possible value. */
  OK(d->writer_close(writer(p, QOS(DESTINATION_ORDER, .destination_order = DDSMARK_ORDER_BY_RECEPTION))));
  OK(d->writer_close(writer(p, QOS(ENTITY_FACTORY, .autoenable_created = 1))));
  OK(d->participant_close(p));
}
