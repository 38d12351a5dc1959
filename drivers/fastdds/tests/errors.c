/* SPDX-License-Identifier: Apache-2.0
 *
 * errors.c: what must be refused is refused, with the right status and a text that names the thing.
 */
#include "harness.h"

void test_participant_errors(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.interface = "nosuch0";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "interface `nosuch0` does not exist");
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "hint: ");
  c = participant_config();
  c.transport = "pigeon";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "transport `pigeon`");
  c = participant_config();
  c.domain = 5000;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "domain 5000");
  c = participant_config();
  const char *peers[] = {"127.0.0.1", ""};
  c.peers = peers;
  c.peer_count = 2;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "peer 1");
  peers[1] = "no.such.host";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "`no.such.host`");
  c = participant_config();
  c.multicast = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "multicast");
  CHECK(p == NULL);
  CHECK_U64(thread_count(), 1);
}

void test_option_errors(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  ddsmark_option option = {"heartbeat", "1"};
  c.options = &option;
  c.option_count = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "option `heartbeat`");
  for (uint32_t i = 0; i < d->describe()->option_count; i++) /* names what there is */
    CHECK(strstr(d->last_error(), d->describe()->options[i].name) != NULL);
  static const ddsmark_option bad[] = {
      {"heartbeat_ms", ""},         {"heartbeat_ms", "1s"},     {"heartbeat_ms", "0"},
      {"publish_mode", "later"},    {"max_message_size", "10"}, {"max_message_size", "65501"},
      {"flow_controller", "100"},   {"memory", "some"},         {"plain", "yes"},
      {"flow_controller", "1/2/3"}, {"participants", "121"},    {"shm_segment_size", "4294967296"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    option = bad[i];
    CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, bad[i].name);
  }
  option = (ddsmark_option){"flow_controller", "1000/10"};
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "publish_mode");
  c.transport = "shm";
  option = (ddsmark_option){"max_message_size", "100000000"};
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "shm_segment_size");
  CHECK(p == NULL);
  CHECK_U64(thread_count(), 1);
}

static void no_sink(void *context, const ddsmark_sample *sample) {
  (void)context;
  (void)sample;
}

void test_endpoint_errors(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer *w = NULL;
  ddsmark_writer_config c = writer_config(NULL);
  c.type_kind = 77;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_BAD_ARGUMENT, "77");
  c = writer_config(NULL);
  c.loans = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "plain");
  c = writer_config(NULL);
  c.batch_bytes = 4096;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "batch");
  c = writer_config(NULL);
  c.topic = "";
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_BAD_ARGUMENT, "topic");
  c = writer_config(NULL);
  c.max_payload_bytes = UINT64_C(1) << 32;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_TOO_LARGE, "4294967296");
  CHECK(w == NULL);
  c = writer_config(NULL);
  c.max_payload_bytes = 100;
  OK(d->writer_open(p, &c, &w));
  uint8_t payload[101] = {0};
  CHECK_FAILS(d->writer_write(w, 0, payload, 101), DDSMARK_TOO_LARGE, "101");
  OK(d->writer_write(w, 0, payload, 100));
  OK(d->writer_flush(w));
  OK(d->writer_close(w));

  ddsmark_reader *r = NULL;
  ddsmark_reader_config rc = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  rc.content_filter = "key > 3";
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_UNSUPPORTED, "content");
  rc = reader_config(NULL, 9);
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_BAD_ARGUMENT, "9");
  rc = reader_config(NULL, DDSMARK_RECEIVE_LISTENER);
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_BAD_ARGUMENT, "sink");
  rc = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  rc.sink = no_sink;
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_BAD_ARGUMENT, "sink");
  CHECK(r == NULL);
  rc = reader_config(NULL, DDSMARK_RECEIVE_LISTENER);
  rc.sink = no_sink;
  OK(d->reader_open(p, &rc, &r));
  uint32_t taken;
  CHECK_FAILS(d->reader_receive(r, 0, 1, no_sink, NULL, &taken), DDSMARK_BAD_ARGUMENT, "listener");
  OK(d->reader_close(r));
  OK(d->participant_close(p));
  CHECK_U64(thread_count(), 1);
}

/* Opens a writer with `q` and wants it refused; then does the same for a reader. */
static void refused(ddsmark_participant *p, const ddsmark_qos *q, ddsmark_status status, const char *text) {
  ddsmark_writer *w = NULL;
  const ddsmark_writer_config wc = writer_config(q);
  CHECK_FAILS(d->writer_open(p, &wc, &w), status, text);
  ddsmark_reader *r = NULL;
  const ddsmark_reader_config rc = reader_config(q, DDSMARK_RECEIVE_WAITSET);
  CHECK_FAILS(d->reader_open(p, &rc, &r), status, text);
  CHECK(w == NULL && r == NULL);
}

void test_policy_errors(void) {
  ddsmark_participant *p = participant();
#define QOS(policy, ...) (&(ddsmark_qos){.struct_size = sizeof(ddsmark_qos), .present = BIT(policy), __VA_ARGS__})
  refused(p, QOS(DURABILITY, .durability = DDSMARK_TRANSIENT), DDSMARK_UNSUPPORTED, "`transient`");
  refused(p, QOS(DURABILITY, .durability = DDSMARK_PERSISTENT), DDSMARK_UNSUPPORTED, "`persistent`");
  refused(p, QOS(DURABILITY, .durability = 4), DDSMARK_BAD_ARGUMENT, "durability");
  refused(p, QOS(PRESENTATION, .coherent_access = 1), DDSMARK_UNSUPPORTED, "coherent");
  refused(p, QOS(DESTINATION_ORDER, .destination_order = DDSMARK_ORDER_BY_SOURCE), DDSMARK_UNSUPPORTED, "destination");
  refused(p, QOS(ENTITY_FACTORY, .autoenable_created = 1), DDSMARK_UNSUPPORTED, "entity factory");
  refused(p, QOS(COUNT, .history = 0), DDSMARK_UNSUPPORTED, "does not know");
  refused(p, QOS(RELIABILITY, .reliability = 2), DDSMARK_BAD_ARGUMENT, "reliability");
  refused(p, QOS(HISTORY, .history = DDSMARK_KEEP_LAST, .history_depth = 0), DDSMARK_BAD_ARGUMENT, "history");
  refused(p, QOS(PARTITION, .partition_count = 1), DDSMARK_BAD_ARGUMENT, "partition");
  refused(p, QOS(RESOURCE_LIMITS, .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 6),
          DDSMARK_INCONSISTENT, "contradict");

  /* What contradicts itself: a history deeper than its instance may be. */
  ddsmark_qos q =
      *QOS(HISTORY, .history_depth = 10, .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 5);
  q.present |= BIT(RESOURCE_LIMITS);
  refused(p, &q, DDSMARK_INCONSISTENT, "depth 10");
  /* Without the bit it is not asked for at all. */
  q.present = BIT(RESOURCE_LIMITS);
  OK(d->writer_close(writer(p, &q)));
  /* What happens anyway. */
  OK(d->writer_close(writer(p, QOS(DESTINATION_ORDER, .destination_order = DDSMARK_ORDER_BY_RECEPTION))));
  OK(d->participant_close(p));
}
