/* SPDX-License-Identifier: Apache-2.0
 *
 * documents.c: tests of the written XML.
 */
#include <stdlib.h>

#include "unit.h"

static const char *const partitions[] = {"one", "a<b&c"};
const uint8_t unit_octets[3] = {0, 7, 255};

/* Returns every policy with a non-default value. */
ddsmark_qos every_policy(void) {
  return (ddsmark_qos){.struct_size = sizeof(ddsmark_qos),
                       .present = (UINT64_C(1) << DDSMARK_POLICY_COUNT) - 1,
                       .reliability = DDSMARK_RELIABLE,
                       .max_blocking_ns = 1500000000,
                       .history = DDSMARK_KEEP_LAST,
                       .history_depth = 7,
                       .max_samples = 20,
                       .max_instances = 10,
                       .max_samples_per_instance = DDSMARK_UNLIMITED,
                       .durability = DDSMARK_TRANSIENT_LOCAL,
                       .service_history = DDSMARK_KEEP_ALL,
                       .service_cleanup_ns = 1000000000,
                       .service_max_samples = 30,
                       .service_max_instances = 31,
                       .service_max_samples_per_instance = DDSMARK_UNLIMITED,
                       .deadline_ns = 2000000000,
                       .latency_budget_ns = 5000000,
                       .lifespan_ns = 3000000001,
                       .liveliness = DDSMARK_LIVELINESS_BY_TOPIC,
                       .liveliness_lease_ns = DDSMARK_DURATION_INFINITE,
                       .ownership = DDSMARK_OWNERSHIP_EXCLUSIVE,
                       .ownership_strength = 6,
                       .presentation_scope = DDSMARK_SCOPE_TOPIC,
                       .ordered_access = 1,
                       .destination_order = DDSMARK_ORDER_BY_SOURCE,
                       .transport_priority = 3,
                       .minimum_separation_ns = 1000000,
                       .autodispose_unregistered = 0,
                       .autoenable_created = 1,
                       .autopurge_nowriter_ns = 4000000000,
                       .autopurge_disposed_ns = DDSMARK_DURATION_INFINITE,
                       .partitions = partitions,
                       .partition_count = 2,
                       .user_data = unit_octets,
                       .user_data_size = 3,
                       .topic_data = unit_octets,
                       .topic_data_size = 1,
                       .group_data = unit_octets,
                       .group_data_size = 2};
}

static const ddsmark_qos no_policy = {.struct_size = sizeof(ddsmark_qos)};

static void udp4_participant(text *t) {
  plan p = plan_with(NULL, 0, 0);
  p.send_buffer = 131072;
  profile_of_participant(&p, "run-1", t);
  plan_free(&p);
}

static void shm_participant(text *t) {
  static const ddsmark_option options[] = {{"auto_throttle", "true"}, {"message_size_max", "1000000"}};
  plan p = plan_with(options, 2, 0);
  p.transport = TRANSPORT_SHM;
  profile_of_participant(&p, "run-1", t);
  plan_free(&p);
}

static void multicast_participant(text *t) {
  static const ddsmark_option options[] = {{"flow_controller", "65536/2500"}, {"base_profile", "L::P"}};
  plan p = plan_with(options, 2, 0);
  p.multicast = true;
  profile_of_participant(&p, "run-1", t);
  plan_free(&p);
}

/* Creates a document with nothing but the name of the run. */
static void shipped_participant(text *t) {
  plan p = {.domain = 42, .transport = TRANSPORT_BUILTIN, .vendor_defaults = true};
  profile_of_participant(&p, "run-1", t);
}

static void endpoint_document(const ddsmark_option *options, uint32_t count, bool shipped, bool multicast,
                              endpoint_wish wish, text *t) {
  plan p = plan_with(options, count, shipped);
  p.multicast = multicast;
  profile_of_endpoint(&p, &wish, t);
  plan_free(&p);
}

void full_writer(text *t) {
  const ddsmark_qos all = every_policy();
  ddsmark_qos q;
  CHECK_U64(qos_accept(&all, SIDE_WRITER, &q), DDSMARK_OK);
  endpoint_document(NULL, 0, false, false,
                    (endpoint_wish){.side = SIDE_WRITER, .qos = &q, .max_payload = 1000, .asynchronous = true}, t);
}

static void full_reader(text *t) {
  ddsmark_qos all = every_policy(), q;
  all.max_samples_per_instance = 10;
  CHECK_U64(qos_accept(&all, SIDE_READER, &q), DDSMARK_OK);
  endpoint_document(NULL, 0, false, true, (endpoint_wish){.side = SIDE_READER, .qos = &q, .max_payload = 1000}, t);
}

static void batching_writer(text *t) {
  static const ddsmark_option options[] = {{"batch_max_samples", "100"}, {"batch_flush_us", "1000"}};
  endpoint_document(options, 2, false, false,
                    (endpoint_wish){.side = SIDE_WRITER, .qos = &no_policy, .max_payload = 64, .batch_bytes = 8192}, t);
}

static void turbo_writer(text *t) {
  static const ddsmark_option options[] = {
      {"turbo_mode", "true"}, {"auto_throttle", "true"}, {"flow_controller", "fixed_rate"}};
  endpoint_document(options, 3, false, false,
                    (endpoint_wish){.side = SIDE_WRITER, .qos = &no_policy, .max_payload = 64, .asynchronous = true},
                    t);
}

static void plain(side s, bool shipped, text *t) {
  endpoint_document(NULL, 0, shipped, false, (endpoint_wish){.side = s, .qos = &no_policy, .max_payload = 64}, t);
}

static void tuned_writer(text *t) {
  plain(SIDE_WRITER, false, t);
}

static void tuned_reader(text *t) {
  plain(SIDE_READER, false, t);
}

static void shipped_writer(text *t) {
  plain(SIDE_WRITER, true, t);
}

static void shipped_reader(text *t) {
  plain(SIDE_READER, true, t);
}

static const struct {
  const char *name;
  void (*write)(text *t);
} documents[] = {{"participant-udp4", udp4_participant},
                 {"participant-shm", shm_participant},
                 {"participant-multicast", multicast_participant},
                 {"participant-shipped", shipped_participant},
                 {"writer-full", full_writer},
                 {"reader-full", full_reader},
                 {"writer-batching", batching_writer},
                 {"writer-turbo", turbo_writer},
                 {"writer-tuned", tuned_writer},
                 {"reader-tuned", tuned_reader},
                 {"writer-shipped", shipped_writer},
                 {"reader-shipped", shipped_reader}};
#define DOCUMENTS (sizeof documents / sizeof documents[0])

/* Splits XML into one element per line, for readable differences. */
static void spread(const char *xml, text *out) {
  for (; *xml; xml++)
    text_add(out, *xml == '<' && xml[1] != '/' && out->length ? "\n%c" : "%c", *xml);
  text_add(out, "\n");
}

int write_golden(const char *directory) {
  for (size_t i = 0; i < DOCUMENTS; i++) {
    char path[4096];
    text t = {0}, lines = {0};
    documents[i].write(&t);
    spread(t.data, &lines);
    snprintf(path, sizeof path, "%s/%s.xml", directory, documents[i].name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(lines.data, file) >= 0 && fclose(file) == 0);
    text_free(&t);
    text_free(&lines);
  }
  return 0;
}

void test_documents(void) {
  for (size_t i = 0; i < DOCUMENTS; i++) {
    char path[4096], golden[16384];
    text t = {0}, lines = {0};
    documents[i].write(&t);
    CHECK(!t.failed);
    spread(t.data, &lines);
    snprintf(path, sizeof path, "%s/%s.xml", GOLDEN_DIR, documents[i].name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
      FAILED("%s is missing", path);
    golden[fread(golden, 1, sizeof golden - 1, file)] = '\0';
    fclose(file);
    if (strcmp(golden, lines.data) != 0)
      FAILED("%s is another; written was:\n%s", path, lines.data);
    text_free(&t);
    text_free(&lines);
  }
}

void test_batch_limit(void) {
  plan p = plan_with(NULL, 0, 0);
  /* 128 samples of 64 bytes fit, each with its length and padding. */
  CHECK(batch_limit(&p, 8192) >= 128 * (64 + 8));
  CHECK(batch_limit(&p, 16) >= 24);
  /* A batch is one message. */
  CHECK_U64(batch_limit(&p, 1 << 20), plan_message_payload(&p));
  CHECK(plan_message_payload(&p) < 65507);
  plan_free(&p);
}
