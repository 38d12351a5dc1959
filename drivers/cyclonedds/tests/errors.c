/* SPDX-License-Identifier: Apache-2.0
 *
 * errors.c: requests that this driver rejects, with the right status and a text that names the cause.
 */
#include "harness.h"

void test_option_errors(void) {
  static const ddsmark_option bad[] = {{"fragment_size", ""},      {"fragment_size", "12k"},
                                       {"fragment_size", "-5000"}, {"fragment_size", "65536"},
                                       {"max_message_size", "10"}, {"multiple_receive_threads", "maybe"}};
  check_option_errors(bad, sizeof bad / sizeof bad[0]);
  /* Cyclone DDS rejects this one after it has started to open; nothing is left behind. */
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  const ddsmark_option option = {"configuration", "<NoSuchElement>1</NoSuchElement>"};
  c.options = &option;
  c.option_count = 1;
  const unsigned descriptors = descriptor_count();
  CHECK(d->participant_open(&c, &p) != DDSMARK_OK);
  CHECK(p == NULL);
  WAIT_UNTIL(thread_count() == 1);
  CHECK_U64(descriptor_count(), descriptors);
  /* Of a repeated option the last value takes effect. */
  const ddsmark_option twice[] = {{"fragment_size", "no number"}, {"fragment_size", "1300"}};
  OK(d->participant_close(participant_with(NULL, twice, 2)));
}

/* The limit of discovery follows the participants of the run; one that was given and is too low is rejected. */
void test_many_participants(void) {
  static const struct {
    uint32_t count, vendor_defaults;
    const char *index; /* NULL: as shipped */
  } cases[] = {{2, 0, ">99<"}, {83, 0, ">99<"}, {84, 0, ">100<"}, {300, 0, ">316<"}, {9, 1, NULL}, {10, 1, ">99<"}};
  ddsmark_participant *p = NULL;
  setting s;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ddsmark_participant_config c = participant_config();
    c.participant_count = cases[i].count;
    c.vendor_defaults = cases[i].vendor_defaults;
    OK(d->participant_open(&c, &p));
    const char *configuration = participant_setting(p, "configuration", &s);
    const char *found = strstr(configuration, "MaxAutoParticipantIndex");
    CHECK((found != NULL) == (cases[i].index != NULL));
    if (cases[i].index)
      CHECK_HAS(configuration, cases[i].index);
    OK(d->participant_close(p));
  }
  p = NULL;
  ddsmark_participant_config c = participant_config();
  const ddsmark_option low = {"max_participant_index", "40"};
  c.options = &low;
  c.option_count = 1;
  c.participant_count = 41;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT,
              "option `max_participant_index` is 40, too low for the 41");
  CHECK(p == NULL);
  c.participant_count = 40;
  OK(d->participant_open(&c, &p));
  OK(d->participant_close(p));
}

void test_users_configuration(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.domain = 7;
  setenv("CYCLONEDDS_URI", "<CycloneDDS><Domain Id=\"8\"></Domain></CycloneDDS>", 1);
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "is for domain 8, but this run uses domain 7");
  setenv("CYCLONEDDS_URI", "<General><Transport>tcp</Transport></General>", 1);
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "selects the transport `tcp`");
  /* What the library rejects is an invalid request, not a failure that may pass. */
  static const char *const invalid[] = {"<General><Nonsense>1</Nonsense></General>", "<CycloneDDS><Domain",
                                        "<Internal><HeartbeatInterval>soon</HeartbeatInterval></Internal>"};
  for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
    setenv("CYCLONEDDS_URI", invalid[i], 1);
    CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT, "rejects the configuration in CYCLONEDDS_URI");
  }
  CHECK(p == NULL);
  static const char both[] = "<CycloneDDS><!-- <Domain Id=\"8\"> --><Domain Id=\"9\"></Domain><Domain "
                             "Id=\"any\"><General><AllowMulticast>false"
                             "</AllowMulticast><MaxMessageSize>9000B</MaxMessageSize></General></Domain></CycloneDDS>";
  setenv("CYCLONEDDS_URI", both, 1);
  OK(d->participant_open(&c, &p));
  setting s;
  CHECK_HAS(participant_setting(p, "configuration_user_decides", &s), "multicast, max_message_size");
  CHECK(strstr(participant_setting(p, "configuration", &s), "<FragmentSize>") == NULL);
  OK(d->participant_close(p));
  unsetenv("CYCLONEDDS_URI");
  p = participant();
  CHECK_HAS(participant_setting(p, "configuration_user_decides", &s), "none");
  OK(d->participant_close(p));
}

void test_unsupported_writers(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer *w = NULL;
  ddsmark_writer_config c = writer_config(NULL);
  c.type_kind = DDSMARK_TYPE_PLAIN;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "plain");
  c = writer_config(NULL);
  c.loans = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "loans");
  c = writer_config(NULL);
  c.async_write = 1;
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_UNSUPPORTED, "asynchronous");
  CHECK(w == NULL);
  OK(d->participant_close(p));
}

void test_filters(void) {
  ddsmark_participant *p = participant();
  ddsmark_reader_config c = reader_config(NULL, DDSMARK_RECEIVE_POLLING);
  c.type_kind = DDSMARK_TYPE_KEYED;
  static const char *const valid[] = {"key = 3", " key BETWEEN 3 AND 5 ", "key >= 0 and KEY <= 4294967295"};
  for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
    ddsmark_reader *r = NULL;
    c.content_filter = valid[i];
    OK(d->reader_open(p, &c, &r));
    OK(d->reader_close(r));
  }
  static const char *const invalid[] = {"",
                                        "key",
                                        "key = ",
                                        "key = -1",
                                        "key = 4294967296",
                                        "size = 3",
                                        "key > 3",
                                        "key = 3 OR key",
                                        "key BETWEEN 5 AND 3",
                                        "key >= 3",
                                        "key = 3abc"};
  ddsmark_reader *r = NULL;
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    c.content_filter = invalid[i];
    CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_UNSUPPORTED, "conditions on the key");
  }
  c.content_filter = "key = 3";
  c.type_kind = DDSMARK_TYPE_OCTETS;
  CHECK_FAILS(d->reader_open(p, &c, &r), DDSMARK_UNSUPPORTED, "a type without key");
  OK(d->participant_close(p));
}

void test_policy_errors(void) {
  ddsmark_participant *p = participant();
  check_policy_refused(p, QOS(DURABILITY, .durability = DDSMARK_TRANSIENT), DDSMARK_UNSUPPORTED, "`transient`");
  check_policy_refused(p, QOS(DURABILITY, .durability = DDSMARK_PERSISTENT), DDSMARK_UNSUPPORTED, "`persistent`");
  check_policy_refused(p, QOS(PRESENTATION, .coherent_access = 1), DDSMARK_UNSUPPORTED, "coherent");
  check_policy_refused(p, QOS(ENTITY_FACTORY, .autoenable_created = 0), DDSMARK_UNSUPPORTED, "policy `entity_factory`");
  OK(d->participant_close(p));
}

/* A host that was built with shorter structs. */
void test_older_host(void) {
  ddsmark_participant *p = NULL;
  /* Ends before `interface`: that field must not be read. */
  ddsmark_participant_config pc = participant_config();
  pc.interface = "nosuch0";
  pc.struct_size = offsetof(ddsmark_participant_config, interface);
  OK(d->participant_open(&pc, &p));

  ddsmark_qos q = {.struct_size = offsetof(ddsmark_qos, durability), .durability = DDSMARK_PERSISTENT};
  q.present = POLICY(DURABILITY) | POLICY(RELIABILITY);
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
  CHECK(back.present & POLICY(RELIABILITY));
  CHECK(!(back.present & POLICY(DURABILITY)));
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
