/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.c: connext_unit <test>: tests without the library. `connext_unit --write DIR` rewrites the golden documents.
 */
#include <ifaddrs.h>
#include <net/if.h>

#include "unit.h"

/* -- options ------------------------------------------------------------------------------------------------------- */

plan plan_with(const ddsmark_option *options, uint32_t count, uint32_t vendor_defaults) {
  const ddsmark_participant_config c = {.struct_size = sizeof c,
                                        .domain = 42,
                                        .run_name = "run-1",
                                        .interface = "lo",
                                        .options = options,
                                        .option_count = count,
                                        .vendor_defaults = vendor_defaults};
  plan p;
  if (plan_make(&c, &p) != DDSMARK_OK)
    FAILED("%s", last_error());
  return p;
}

static void refused(const char *name, const char *value, const char *words) {
  const ddsmark_option option = {name, value};
  const ddsmark_participant_config c = {
      .struct_size = sizeof c, .domain = 42, .interface = "lo", .options = &option, .option_count = 1};
  plan p;
  CHECK_U64(plan_make(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(last_error(), words);
  CHECK_HAS(last_error(), "hint: ");
}

static void test_options_read(void) {
  static const ddsmark_option options[] = {
      {"send_window", "1000"},      {"heartbeat_us", "20000"},       {"fast_heartbeat_us", "2000"},
      {"message_size_max", "9000"}, {"turbo_mode", "true"},          {"auto_throttle", "true"},
      {"batch_flush_us", "500"},    {"flow_controller", "65536/10"}, {"base_profile", "BuiltinQosLib::Baseline"},
      {"batch_max_samples", "12"},  {"max_participant_index", "5"},  {"send_window", "500"}};
  plan p = plan_with(options, sizeof options / sizeof options[0], 0);
  CHECK_U64(p.send_window, 500); /* the last word */
  CHECK_U64(p.heartbeat_us, 20000);
  CHECK_U64(p.fast_heartbeat_us, 2000);
  CHECK_U64(p.message_size, 9000);
  CHECK(p.turbo_mode && p.auto_throttle && p.flow == FLOW_BUCKET);
  CHECK_U64(p.flow_bytes, 65536);
  CHECK_U64(p.flow_us, 10);
  CHECK_U64(p.batch_flush_us, 500);
  CHECK_U64(p.batch_samples, 12);
  CHECK_U64(p.max_participant_index, 5);
  CHECK(strcmp(p.base_profile, "BuiltinQosLib::Baseline") == 0);
  plan_free(&p);
}

static void test_options_refused(void) {
  refused("sendwindow", "1", "unknown option `sendwindow`");
  for (uint32_t i = 0; i < option_count; i++) /* lists the available names */
    CHECK_HAS(last_error(), option_infos[i].name);
  static const ddsmark_option bad[] = {{"send_window", ""},
                                       {"send_window", "0"},
                                       {"send_window", "12k"},
                                       {"send_window", "-1"},
                                       {"send_window", "99999999999999999999"},
                                       {"heartbeat_us", "99"},
                                       {"message_size_max", "100"},
                                       {"max_participant_index", "1000"},
                                       {"turbo_mode", "yes"},
                                       {"auto_throttle", ""},
                                       {"flow_controller", "fast"},
                                       {"flow_controller", "1000/10"},
                                       {"flow_controller", "2000/"},
                                       {"flow_controller", "2000/0"},
                                       {"flow_controller", "2000/5x"},
                                       {"base_profile", "NoColons"},
                                       {"base_profile", "::Nothing"},
                                       {"base_profile", "Library::"},
                                       {"base_profile", "A::\"><x"},
                                       {"shm_messages", "0"},
                                       {"batch_flush_us", "0"},
                                       {"batch_max_samples", " 5"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refused(bad[i].name, bad[i].value, bad[i].name);
  refused("fast_heartbeat_us", "20000", "more than `heartbeat_us`");
}

static void test_configuration_refused(void) {
  plan p;
  const char *peers[] = {"127.0.0.1", ""};
  ddsmark_participant_config c = {.struct_size = sizeof c, .domain = 5000, .interface = "lo"};
  CHECK_U64(plan_make(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(last_error(), "domain 5000");
  c.domain = 5;
  c.transport = "pigeon";
  CHECK_U64(plan_make(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(last_error(), "transport `pigeon`");
  c.transport = "shm";
  c.multicast = 1;
  CHECK_U64(plan_make(&c, &p), DDSMARK_UNSUPPORTED);
  CHECK_HAS(last_error(), "multicast");
  c.multicast = 0;
  c.send_buffer_bytes = 1000;
  CHECK_U64(plan_make(&c, &p), DDSMARK_UNSUPPORTED);
  CHECK_HAS(last_error(), "hint: set `receive_buffer`");
  c.send_buffer_bytes = 0;
  c.peers = peers;
  c.peer_count = 2;
  CHECK_U64(plan_make(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(last_error(), "peer 1");
  c.peer_count = 0;
  c.interface = "an-interface-name-that-is-longer-than-any-name-that-this-kernel-allows-anywhere";
  CHECK_U64(plan_make(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(last_error(), "does not exist");
}

/* The highest index follows the participants of the run; one that was given and is too low is rejected. */
static void test_many_participants(void) {
  static const struct {
    uint32_t count, vendor_defaults;
    uint64_t index; /* 0: as shipped */
  } cases[] = {{2, 0, 31}, {16, 0, 31}, {17, 0, 32}, {300, 0, 315}, {5, 1, 0}, {6, 1, 21}};
  plan p;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const ddsmark_participant_config c = {.struct_size = sizeof c,
                                          .domain = 42,
                                          .participant_count = cases[i].count,
                                          .vendor_defaults = cases[i].vendor_defaults};
    CHECK_U64(plan_make(&c, &p), DDSMARK_OK);
    CHECK_U64(p.max_participant_index, cases[i].index);
    plan_free(&p);
  }
  const ddsmark_option low = {"max_participant_index", "5"};
  ddsmark_participant_config c = {.struct_size = sizeof c, .domain = 42, .options = &low, .option_count = 1};
  c.participant_count = 7;
  CHECK_U64(plan_make(&c, &p), DDSMARK_INCONSISTENT);
  CHECK_HAS(last_error(), "is 5, too low for the 7 participants of this run; hint: set it to at least 6");
  c.participant_count = 6;
  CHECK_U64(plan_make(&c, &p), DDSMARK_OK);
  plan_free(&p);
}

/* Rejected exactly if the interface lacks the multicast flag: Connext would send by unicast there. */
static void test_multicast_by_interface(void) {
  bool claims = false;
  struct ifaddrs *list = NULL;
  CHECK(getifaddrs(&list) == 0);
  for (const struct ifaddrs *i = list; i; i = i->ifa_next)
    claims |= strcmp(i->ifa_name, "lo") == 0 && (i->ifa_flags & IFF_MULTICAST) != 0;
  freeifaddrs(list);
  const ddsmark_participant_config c = {.struct_size = sizeof c, .domain = 42, .interface = "lo", .multicast = 1};
  plan p;
  CHECK_U64(plan_make(&c, &p), claims ? DDSMARK_OK : DDSMARK_UNSUPPORTED);
  if (claims)
    plan_free(&p);
  else
    CHECK_HAS(last_error(), "with `ip link set dev lo multicast on`");
}

/* -- policies ------------------------------------------------------------------------------------------------------ */

static void test_policies_refused(void) {
  static const struct {
    ddsmark_qos qos;
    ddsmark_status status;
    const char *words;
  } cases[] = {
      {{.present = UINT64_C(1) << 40}, DDSMARK_UNSUPPORTED, "unknown policy"},
      {{.present = POLICY(ENTITY_FACTORY)}, DDSMARK_UNSUPPORTED, "policy `entity_factory`"},
      {{.present = POLICY(PRESENTATION), .coherent_access = 1}, DDSMARK_UNSUPPORTED, "coherent"},
      {{.present = POLICY(RELIABILITY), .reliability = 2}, DDSMARK_BAD_ARGUMENT, "reliability"},
      {{.present = POLICY(HISTORY), .history_depth = 0}, DDSMARK_BAD_ARGUMENT, "history"},
      {{.present = POLICY(RESOURCE_LIMITS), .max_samples = -5}, DDSMARK_BAD_ARGUMENT, "policy `resource_limits`"},
      {{.present = POLICY(PARTITION), .partition_count = 1}, DDSMARK_BAD_ARGUMENT, "partition"},
      {{.present = POLICY(USER_DATA), .user_data_size = 1}, DDSMARK_BAD_ARGUMENT, "policy `user_data`"},
      {{.present = POLICY(RESOURCE_LIMITS), .max_samples = 5, .max_instances = 1, .max_samples_per_instance = 6},
       DDSMARK_INCONSISTENT,
       "max_samples"},
      {{.present = POLICY(RESOURCE_LIMITS) | POLICY(HISTORY),
        .max_samples = 9,
        .max_instances = 1,
        .max_samples_per_instance = 6,
        .history_depth = 7},
       DDSMARK_INCONSISTENT,
       "`history_depth` is 7"},
      {{.present = POLICY(TIME_BASED_FILTER) | POLICY(DEADLINE), .minimum_separation_ns = 2, .deadline_ns = 1},
       DDSMARK_INCONSISTENT,
       "deadline"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ddsmark_qos asked = cases[i].qos, q;
    asked.struct_size = sizeof asked;
    CHECK_U64(qos_accept(&asked, SIDE_READER, &q), cases[i].status);
    CHECK_HAS(last_error(), cases[i].words);
  }
}

static void test_policies_by_side(void) {
  ddsmark_qos all = every_policy(), q;
  all.max_samples_per_instance = 10;
  CHECK_U64(qos_accept(&all, SIDE_WRITER, &q), DDSMARK_OK);
  CHECK(!(q.present & (POLICY(TIME_BASED_FILTER) | POLICY(READER_DATA_LIFECYCLE))) && q.present & POLICY(LIFESPAN));
  CHECK_U64(qos_accept(&all, SIDE_READER, &q), DDSMARK_OK);
  CHECK(!(q.present & (POLICY(LIFESPAN) | POLICY(OWNERSHIP_STRENGTH))) && q.present & POLICY(TIME_BASED_FILTER));
  CHECK_U64(qos_accept(NULL, SIDE_READER, &q), DDSMARK_OK);
  CHECK_U64(q.present, 0);
  /* An older host with a shorter struct. */
  all.struct_size = END(history_depth);
  CHECK_U64(qos_accept(&all, SIDE_WRITER, &q), DDSMARK_OK);
  CHECK_U64(q.present, POLICY(RELIABILITY) | POLICY(HISTORY));
}

/* clang-format off */
#define TESTS(TEST) \
    TEST(options_read) \
    TEST(options_refused) \
    TEST(configuration_refused) \
    TEST(many_participants) \
    TEST(multicast_by_interface) \
    TEST(documents) \
    TEST(batch_limit) \
    TEST(element_text) \
    TEST(property_text) \
    TEST(round_trip) \
    TEST(not_understood) \
    TEST(any_text) \
    TEST(policies_refused) \
    TEST(policies_by_side)
/* clang-format on */

int main(int argc, char **argv) {
#define ENTRY(name) {#name, test_##name},
  static const test tests[] = {TESTS(ENTRY)};
  if (argc == 3 && strcmp(argv[1], "--write") == 0)
    return write_golden(argv[2]);
  if (argc == 2)
    return run_test(tests, sizeof tests / sizeof tests[0], argv[1]);
  fprintf(stderr, "usage: %s <test>, or --write <directory>\n", argv[0]);
  return 2;
}
