/* SPDX-License-Identifier: Apache-2.0
 *
 * types.c: samples between processes with the option `type`, and what it excludes. types.cpp compares the octets.
 */
#include "harness.h"

enum { READY = 1, DONE };
enum { COUNT = 20, KEYS = 3 };

static const uint64_t sizes[] = {4, 100, 101, 60000, 65536, 1 << 20};
#define SIZES (sizeof sizes / sizeof sizes[0])
static const char *const names[] = {"octets", "generated"};

typedef struct types_case {
  const char *transport;
  uint32_t type_kind;
  bool writer_generated, reader_generated;
} types_case;

static uint32_t keys_of(const types_case *k) {
  return k->type_kind == DDSMARK_TYPE_KEYED ? KEYS : 1;
}

static ddsmark_participant *open_as(const char *transport, bool generated) {
  const ddsmark_option option = {"type", names[generated]};
  return participant_with(transport, &option, 1);
}

/* One topic per size. Otherwise a new reader could count as matched with the previous writer. */
static void topic_of(size_t i) {
  snprintf(test_topic, sizeof test_topic, "ddsmark_types_%u_%zu", test_domain, i);
}

/* With keys, only the samples of one key are in order. */
typedef struct keyed_check {
  uint64_t size;
  uint32_t keys, received, wrong;
  uint32_t of_key[KEYS];
} keyed_check;

static void sink(void *context, const ddsmark_sample *sample) {
  keyed_check *c = context;
  c->received++;
  if (sample->key >= c->keys || sample->size != c->size) {
    c->wrong++;
    return;
  }
  const uint32_t expected = sample->key + c->keys * c->of_key[sample->key]++;
  c->wrong += payload_sequence(sample->payload) != expected || !payload_intact(sample->payload, sample->size, expected);
}

static void check_type(const setting *type, const setting *bound, const types_case *k, bool generated, uint64_t size) {
  CHECK(strcmp(type->value, names[generated]) == 0);
  CHECK(bound->found == (strcmp(k->transport, "data_sharing") == 0));
  if (bound->found)
    CHECK_U64(strtoull(bound->value, NULL, 10), size);
}

static void child(int fd, const void *argument) {
  const types_case *k = argument;
  ddsmark_participant *p = open_as(k->transport, k->reader_generated);
  const ddsmark_qos q = reliable_keep_all(1000);
  for (size_t i = 0; i < SIZES; i++) {
    topic_of(i);
    ddsmark_reader_config c = reader_config(&q, DDSMARK_RECEIVE_WAITSET);
    c.type_kind = k->type_kind;
    c.max_payload_bytes = sizes[i];
    ddsmark_reader *r = NULL;
    OK(d->reader_open(p, &c, &r));
    setting type, bound;
    reader_setting(r, "type", &type);
    reader_setting(r, "type_bound", &bound);
    check_type(&type, &bound, k, k->reader_generated, sizes[i]);
    WAIT_UNTIL(matched_writers(r) == 1);
    tell(fd, READY);
    keyed_check came = {.size = sizes[i], .keys = keys_of(k)};
    const uint64_t limit = now_ns() + PATIENCE_NS;
    while (came.received < COUNT) {
      uint32_t taken;
      CHECK(now_ns() < limit);
      OK(d->reader_receive(r, 100000000, 7, sink, &came, &taken));
    }
    CHECK_U64(came.received, COUNT);
    CHECK_U64(came.wrong, 0);
    tell(fd, DONE);
    OK(d->reader_close(r));
  }
  OK(d->participant_close(p));
}

static void between(const types_case *k) {
  peer other = fork_peer(child, k);
  ddsmark_participant *p = open_as(k->transport, k->writer_generated);
  const ddsmark_qos q = reliable_keep_all(1000);
  for (size_t i = 0; i < SIZES; i++) {
    topic_of(i);
    ddsmark_writer_config c = writer_config(&q);
    c.type_kind = k->type_kind;
    c.max_payload_bytes = sizes[i];
    ddsmark_writer *w = NULL;
    OK(d->writer_open(p, &c, &w));
    setting type, bound;
    writer_setting(w, "type", &type);
    writer_setting(w, "type_bound", &bound);
    check_type(&type, &bound, k, k->writer_generated, sizes[i]);
    WAIT_UNTIL(matched_readers(w) == 1);
    hear_this(other.fd, READY);
    uint8_t *payload = malloc(sizes[i]);
    CHECK(payload != NULL);
    for (uint32_t s = 0; s < COUNT; s++) {
      payload_fill(payload, sizes[i], s);
      write_for_sure(w, s % keys_of(k), payload, sizes[i]);
    }
    free(payload);
    hear_this(other.fd, DONE);
    OK(d->writer_close(w));
  }
  join_peer(&other);
  OK(d->participant_close(p));
}

void test_generated_udp4(void) {
  between(&(types_case){"udp4", DDSMARK_TYPE_OCTETS, true, true});
}
void test_generated_data_sharing(void) {
  between(&(types_case){"data_sharing", DDSMARK_TYPE_OCTETS, true, true});
}
void test_octets_to_generated_udp4(void) {
  between(&(types_case){"udp4", DDSMARK_TYPE_OCTETS, false, true});
}
void test_octets_to_generated_data_sharing(void) {
  between(&(types_case){"data_sharing", DDSMARK_TYPE_OCTETS, false, true});
}
void test_generated_to_octets_udp4(void) {
  between(&(types_case){"udp4", DDSMARK_TYPE_OCTETS, true, false});
}
void test_generated_to_octets_data_sharing(void) {
  between(&(types_case){"data_sharing", DDSMARK_TYPE_OCTETS, true, false});
}
void test_generated_keyed(void) {
  between(&(types_case){"udp4", DDSMARK_TYPE_KEYED, true, true});
}
void test_octets_to_generated_keyed(void) {
  between(&(types_case){"udp4", DDSMARK_TYPE_KEYED, false, true});
}

void test_generated_refused(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config pc = participant_config();
  const ddsmark_option both[] = {{"plain", "true"}, {"type", "generated"}};
  pc.options = both;
  pc.option_count = 2;
  CHECK_FAILS(d->participant_open(&pc, &p), DDSMARK_INCONSISTENT, "option `plain=true` excludes `type=generated`");
  CHECK(p == NULL);

  p = open_as("udp4", true);
  ddsmark_writer_config wc = writer_config(NULL);
  ddsmark_reader_config rc = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  ddsmark_writer *w = NULL;
  ddsmark_reader *r = NULL;
  wc.type_kind = rc.type_kind = DDSMARK_TYPE_PLAIN;
  wc.max_payload_bytes = rc.max_payload_bytes = 100;
  wc.loans = 1;
  CHECK_FAILS(d->writer_open(p, &wc, &w), DDSMARK_UNSUPPORTED, "hint: set `type=octets`, or remove `loans`");
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_UNSUPPORTED, "hint: set `type=octets`, or remove `loans`");
  /* `plain=true` would be rejected with this type. */
  wc.type_kind = DDSMARK_TYPE_OCTETS;
  CHECK_FAILS(d->writer_open(p, &wc, &w), DDSMARK_UNSUPPORTED, "hint: set `type=octets`, or remove `loans`");
  OK(d->participant_close(p));

  p = open_as("data_sharing", true);
  wc = writer_config(NULL);
  wc.type_kind = DDSMARK_TYPE_KEYED;
  wc.max_payload_bytes = 100;
  CHECK_FAILS(d->writer_open(p, &wc, &w), DDSMARK_UNSUPPORTED, "keyed samples are not supported over `data_sharing`");
  OK(d->participant_close(p));

  const ddsmark_option fixed[] = {{"memory", "prealloc"}, {"type", "generated"}};
  p = participant_with("udp4", fixed, 2);
  wc = writer_config(NULL);
  wc.max_payload_bytes = 101;
  CHECK_FAILS(d->writer_open(p, &wc, &w), DDSMARK_INCONSISTENT, "no room for samples of more than 100 bytes");
  rc = reader_config(NULL, DDSMARK_RECEIVE_WAITSET);
  rc.max_payload_bytes = 101;
  CHECK_FAILS(d->reader_open(p, &rc, &r), DDSMARK_INCONSISTENT, "memory=prealloc_realloc");
  wc.max_payload_bytes = 100;
  OK(d->writer_open(p, &wc, &w));
  const uint8_t payload[100] = {0};
  OK(d->writer_write(w, 0, payload, sizeof payload));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
