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
  c.interface = "an-interface-name-that-is-longer-than-any-name-that-this-kernel-allows";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "does not exist");
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
  CHECK(p == NULL);
  CHECK_U64(thread_count(), 1);
}

void test_option_errors(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  ddsmark_option option = {"fragmentsize", "1"};
  c.options = &option;
  c.option_count = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "option `fragmentsize`");
  for (uint32_t i = 0; i < d->describe()->option_count; i++) /* names what there is */
    CHECK(strstr(d->last_error(), d->describe()->options[i].name) != NULL);
  static const ddsmark_option bad[] = {{"fragment_size", ""},      {"fragment_size", "12k"},
                                       {"fragment_size", "-5000"}, {"fragment_size", "65536"},
                                       {"max_message_size", "10"}, {"multiple_receive_threads", "maybe"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    option = bad[i];
    CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, bad[i].name);
  }
  /* Cyclone DDS refuses this one, after it has begun to open; nothing is left of it. */
  option = (ddsmark_option){"configuration", "<NoSuchElement>1</NoSuchElement>"};
  const unsigned descriptors = descriptor_count();
  CHECK(d->participant_open(&c, &p) != DDSMARK_OK);
  CHECK(p == NULL);
  CHECK_U64(thread_count(), 1);
  CHECK_U64(descriptor_count(), descriptors);
  option = (ddsmark_option){"fragment_size", "1300"};
  OK(d->participant_open(&c, &p));
  OK(d->participant_close(p));
}

void test_writer_errors(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer *w = NULL;
  ddsmark_writer_config c = writer_config(NULL);
  c.type_kind = DDSMARK_TYPE_PLAIN;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "plain");
  c.type_kind = 77;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_BAD_ARGUMENT, "77");
  c = writer_config(NULL);
  c.loans = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "loans");
  c = writer_config(NULL);
  c.async_write = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "asynchronous");
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
  OK(d->writer_flush(w)); /* without batching: at once */
  OK(d->writer_close(w));
  OK(d->participant_close(p));
  CHECK_U64(thread_count(), 1);
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
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_UNSUPPORTED, "content filter");
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

/* Opens a writer with `q` and wants it refused; then does the same for a reader, unless the policy is the writer's. */
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
#define QOS(policy, ...)                                                                                               \
  &(ddsmark_qos){.struct_size = sizeof(ddsmark_qos), .present = UINT64_C(1) << DDSMARK_POLICY_##policy, __VA_ARGS__}
  refused(p, QOS(DURABILITY, .durability = DDSMARK_TRANSIENT), DDSMARK_UNSUPPORTED, "`transient`");
  refused(p, QOS(DURABILITY, .durability = DDSMARK_PERSISTENT), DDSMARK_UNSUPPORTED, "`persistent`");
  refused(p, QOS(DURABILITY, .durability = 4), DDSMARK_BAD_ARGUMENT, "durability");
  refused(p, QOS(PRESENTATION, .coherent_access = 1), DDSMARK_UNSUPPORTED, "coherent");
  refused(p, QOS(ENTITY_FACTORY, .autoenable_created = 1), DDSMARK_UNSUPPORTED, "entity factory");
  refused(p, QOS(COUNT, .history = 0), DDSMARK_UNSUPPORTED, "does not know");
  refused(p, QOS(RELIABILITY, .reliability = 2), DDSMARK_BAD_ARGUMENT, "reliability");
  refused(p, QOS(RELIABILITY, .reliability = -1), DDSMARK_BAD_ARGUMENT, "reliability");
  refused(p, QOS(HISTORY, .history = DDSMARK_KEEP_LAST, .history_depth = 0), DDSMARK_BAD_ARGUMENT, "history");
  refused(p, QOS(PARTITION, .partition_count = 1), DDSMARK_BAD_ARGUMENT, "partition");

  /* What contradicts itself: a history deeper than its instance may be. */
  ddsmark_qos q =
      *QOS(HISTORY, .history_depth = 10, .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 5);
  q.present |= 1u << DDSMARK_POLICY_RESOURCE_LIMITS;
  refused(p, &q, DDSMARK_INCONSISTENT, "cannot create the");
  /* Without the bit it is not asked for at all. */
  q.present = 1u << DDSMARK_POLICY_RESOURCE_LIMITS;
  OK(d->writer_close(writer(p, &q)));
  OK(d->participant_close(p));
}

/* A host that was built when these structs were shorter. */
void test_older_host(void) {
  ddsmark_participant *p = NULL;
  /* Ends before `interface`: what lies there must not be looked at. */
  ddsmark_participant_config pc = participant_config();
  pc.interface = "nosuch0";
  pc.struct_size = offsetof(ddsmark_participant_config, interface);
  OK(d->participant_open(&pc, &p));

  ddsmark_qos q = {.struct_size = offsetof(ddsmark_qos, durability), .durability = DDSMARK_PERSISTENT};
  q.present = 1u << DDSMARK_POLICY_DURABILITY | 1u << DDSMARK_POLICY_RELIABILITY;
  q.reliability = DDSMARK_RELIABLE;
  ddsmark_writer_config wc = writer_config(&q);
  wc.loans = 1;
  wc.struct_size = offsetof(ddsmark_writer_config, loans);
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &wc, &w));

  ddsmark_qos back;
  memset(&back, 0xaa, sizeof back);
  back.struct_size = offsetof(ddsmark_qos, durability);
  OK(d->writer_qos(w, &back));
  CHECK_U64(back.struct_size, offsetof(ddsmark_qos, durability));
  CHECK(back.present & 1u << DDSMARK_POLICY_RELIABILITY);
  CHECK(!(back.present & 1u << DDSMARK_POLICY_DURABILITY));
  CHECK_U64(back.reliability, DDSMARK_RELIABLE);
  CHECK_U64((uint32_t)back.durability, 0xaaaaaaaa);

  ddsmark_counters counters;
  memset(&counters, 0xaa, sizeof counters);
  counters.struct_size = offsetof(ddsmark_counters, values) + 2 * sizeof(uint64_t); /* WRITE_BLOCKED, WRITE_TIMED_OUT */
  OK(d->writer_counters(w, &counters));
  CHECK_U64(counters.valid, 3);
  CHECK_U64(counters.values[1], 0);
  CHECK_U64(counters.values[2], UINT64_C(0xaaaaaaaaaaaaaaaa));

  back.struct_size = 4;
  CHECK_FAILS(d->writer_qos(w, &back), DDSMARK_BAD_ARGUMENT, "struct_size");
  counters.struct_size = 4;
  CHECK_FAILS(d->writer_counters(w, &counters), DDSMARK_BAD_ARGUMENT, "struct_size");
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
