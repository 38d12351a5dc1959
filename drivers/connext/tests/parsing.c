/* SPDX-License-Identifier: Apache-2.0
 *
 * parsing.c: tests of the XML parser.
 */
#include <stdlib.h>

#include "unit.h"

void test_element_text(void) {
  static const char xml[] =
      "<?xml version=\"1.0\"?>\n<q>\n  <a><b> 1 </b><c/><b>2&lt;3</b></a>\n  <b>4</b>\n  <d></d>\n</q>\n";
  char out[16];
  CHECK(element_text(xml, "a/b", 0, out, sizeof out) && strcmp(out, "1") == 0);
  CHECK(element_text(xml, "a/b", 1, out, sizeof out) && strcmp(out, "2<3") == 0);
  CHECK(!element_text(xml, "a/b", 2, out, sizeof out));
  CHECK(element_text(xml, "a/c", 0, out, sizeof out) && strcmp(out, "") == 0);
  CHECK(element_text(xml, "b", 0, out, sizeof out) && strcmp(out, "4") == 0);
  CHECK(element_text(xml, "d", 0, out, sizeof out) && strcmp(out, "") == 0);
  CHECK(!element_text(xml, "c", 0, out, sizeof out));
  CHECK(!element_text(xml, "a/b/x", 0, out, sizeof out));
  CHECK(!element_text(xml, "b", 0, out, 1));
  CHECK(!element_text(NULL, "b", 0, out, sizeof out));
}

/* A property is found by its name at any position, and never invented. */
void test_property_text(void) {
  static const char xml[] = "<q><property><value>\n<element><name>a</name><value>1</value></element>"
                            "<element><name>b.c</name><value></value></element>"
                            "<element><name>d</name><value>x&amp;y</value><propagate>false</propagate></element>\n"
                            "</value></property><other><value><element><name>e</name><value>2</value></element>"
                            "</value></other></q>";
  char out[16];
  CHECK(property_text(xml, "a", out, sizeof out) && strcmp(out, "1") == 0);
  CHECK(property_text(xml, "b.c", out, sizeof out) && strcmp(out, "") == 0);
  CHECK(property_text(xml, "d", out, sizeof out) && strcmp(out, "x&y") == 0);
  CHECK(!property_text(xml, "e", out, sizeof out));
  CHECK(!property_text(xml, "b", out, sizeof out));
  CHECK(!property_text(xml, "d", out, 2));
  CHECK(!property_text(NULL, "a", out, sizeof out));
  CHECK(!property_text("<q><property><value><element><name>a</name></element></value></property></q>", "a", out, 16));

  /* In the form that profile.c writes. */
  static const ddsmark_option options[] = {{"auto_throttle", "true"}, {"turbo_mode", "true"}};
  plan with = plan_with(options, 2, 0);
  const ddsmark_qos q = {.struct_size = sizeof q};
  text t = {0};
  profile_of_endpoint(&with, &(endpoint_wish){.side = SIDE_WRITER, .qos = &q, .max_payload = 64}, &t);
  const char *writer = strstr(t.data, "<datawriter_qos>");
  CHECK(property_text(writer, "dds.data_writer.auto_throttle.enable", out, sizeof out) && strcmp(out, "true") == 0);
  CHECK(property_text(writer, "dds.data_writer.enable_turbo_mode", out, sizeof out) && strcmp(out, "true") == 0);
  text_free(&t);
  plan_free(&with);
}

/* Parses our own documents as if Connext had printed them. */
void test_round_trip(void) {
  ddsmark_qos all = every_policy();
  all.max_samples_per_instance = 10;
  for (int s = SIDE_WRITER; s <= SIDE_READER; s++) {
    ddsmark_qos asked, found;
    qos_texts texts = {0};
    text t = {0};
    CHECK_U64(qos_accept(&all, (side)s, &asked), DDSMARK_OK);
    const plan p = {.vendor_defaults = true};
    profile_of_endpoint(&p, &(endpoint_wish){.side = (side)s, .qos = &asked, .max_payload = 64}, &t);
    char *endpoint = strstr(t.data, s == SIDE_WRITER ? "<datawriter_qos>" : "<datareader_qos>");
    char *group = strstr(t.data, s == SIDE_WRITER ? "<publisher_qos>" : "<subscriber_qos>");
    qos_parse(endpoint, group, strstr(t.data, "<topic_qos>"), (side)s, &texts, &found);
    /* All policies except those that are not written: the factory, and the depth of a keep-all history. */
    uint64_t expected = asked.present & ~POLICY(ENTITY_FACTORY);
    CHECK_U64(found.present, expected);
    CHECK_U64(found.reliability, asked.reliability);
    CHECK_U64(found.max_blocking_ns, s == SIDE_WRITER ? asked.max_blocking_ns : 0);
    CHECK_U64(found.history_depth, 7);
    CHECK_U64(found.max_samples, 20);
    CHECK_U64(found.max_samples_per_instance, 10);
    CHECK_U64(found.durability, DDSMARK_TRANSIENT_LOCAL);
    CHECK_U64(found.deadline_ns, asked.deadline_ns);
    CHECK_U64(found.latency_budget_ns, asked.latency_budget_ns);
    CHECK_U64(found.liveliness, DDSMARK_LIVELINESS_BY_TOPIC);
    CHECK_U64(found.liveliness_lease_ns, DDSMARK_DURATION_INFINITE);
    CHECK_U64(found.ownership, DDSMARK_OWNERSHIP_EXCLUSIVE);
    CHECK_U64(found.destination_order, DDSMARK_ORDER_BY_SOURCE);
    CHECK_U64(found.presentation_scope, DDSMARK_SCOPE_TOPIC);
    CHECK_U64(found.ordered_access, 1);
    CHECK_U64(found.partition_count, 2);
    CHECK(strcmp(found.partitions[1], "a<b&c") == 0);
    CHECK(found.user_data_size == 3 && memcmp(found.user_data, unit_octets, 3) == 0);
    CHECK(found.topic_data_size == 1 && found.group_data_size == 2 && found.group_data[1] == 7);
    if (s == SIDE_WRITER) {
      CHECK_U64(found.lifespan_ns, 3000000001);
      CHECK_U64(found.service_max_samples, 30);
      CHECK_U64(found.service_history, DDSMARK_KEEP_ALL);
      CHECK_U64(found.ownership_strength, 6);
      CHECK_U64(found.transport_priority, 3);
      CHECK_U64(found.autodispose_unregistered, 0);
    } else {
      CHECK_U64(found.minimum_separation_ns, 1000000);
      CHECK_U64(found.autopurge_nowriter_ns, 4000000000);
      CHECK_U64(found.autopurge_disposed_ns, DDSMARK_DURATION_INFINITE);
    }
    qos_texts_free(&texts);
    text_free(&t);
  }
}

/* Unknown text yields no policy; nothing is guessed. */
void test_not_understood(void) {
  static const char *const texts_of[] = {
      "",
      "<datawriter_qos>",
      "<datawriter_qos><reliability><kind>SOMEHOW</kind></reliability></datawriter_qos>",
      "<datawriter_qos><reliability><kind>RELIABLE_RELIABILITY_QOS</kind></reliability></datawriter_qos>",
      "<datawriter_qos><deadline><period><sec>x</sec><nanosec>0</nanosec></period></deadline></datawriter_qos>",
      "<datawriter_qos><deadline><period><sec>1</sec></period></deadline></datawriter_qos>",
      "<datawriter_qos><deadline><period><sec>1</sec><nanosec>1000000000</nanosec></period></deadline></"
      "datawriter_qos>",
      "<datawriter_qos><resource_limits><max_samples>many</max_samples></resource_limits></datawriter_qos>",
      "<datawriter_qos><ownership_strength><value>5 or 6</value></ownership_strength></datawriter_qos>",
      "<datawriter_qos><user_data><value>1,256</value></user_data></datawriter_qos>",
      "<datawriter_qos><user_data><value>1,</value",
      "<datawriter_qos><deeper><ownership_strength><value>5</value></ownership_strength></deeper></datawriter_qos>"};
  for (size_t i = 0; i < sizeof texts_of / sizeof texts_of[0]; i++) {
    ddsmark_qos q;
    qos_texts texts = {0};
    qos_parse(texts_of[i], NULL, NULL, SIDE_WRITER, &texts, &q);
    if (q.present != 0)
      FAILED("of `%s` is present 0x%llx", texts_of[i], (unsigned long long)q.present);
    qos_texts_free(&texts);
  }
}

/* Arbitrary bytes: no read beyond the end, and the walk terminates. Truncated and altered texts of our own. */
void test_any_text(void) {
  text t = {0};
  full_writer(&t);
  srand(1);
  for (int round = 0; round < 20000; round++) {
    const size_t from = (size_t)rand() % t.length, length = (size_t)rand() % (t.length - from);
    char *cut = malloc(length + 1); /* a separate copy, so that a sanitizer detects its end */
    memcpy(cut, t.data + from, length);
    cut[length] = '\0';
    for (int k = rand() % 4; k > 0 && length > 0; k--)
      cut[(size_t)rand() % length] = "<>/&\0 a1"[rand() % 8];
    ddsmark_qos q;
    qos_texts texts = {0};
    qos_parse(cut, cut, cut, round % 2 ? SIDE_READER : SIDE_WRITER, &texts, &q);
    qos_texts_free(&texts);
    free(cut);
  }
  text_free(&t);
}
