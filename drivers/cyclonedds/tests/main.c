/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: ddsmark_cyclonedds_tests <driver> <test>
 */
#include "harness.h"

#include <dlfcn.h>
#include <unistd.h>

const ddsmark_driver *d;
uint32_t test_domain;
char test_topic[64];

/* CMakeLists.txt reads the names from here, one a line. */
/* clang-format off */
#define TESTS(TEST) \
    TEST(describe) \
    TEST(policies_as_known) \
    TEST(one_symbol) \
    TEST(nothing_left_behind) \
    TEST(shared_domain) \
    TEST(participant_errors) \
    TEST(option_errors) \
    TEST(writer_errors) \
    TEST(reader_errors) \
    TEST(policy_errors) \
    TEST(older_host) \
    TEST(settings) \
    TEST(multicast_settings) \
    TEST(users_configuration_wins) \
    TEST(vendor_defaults) \
    TEST(writer_policies) \
    TEST(reader_policies) \
    TEST(group_policies) \
    TEST(unset_policies) \
    TEST(late_joiner) \
    TEST(match_in_process) \
    TEST(match_two_processes) \
    TEST(receive_in_process) \
    TEST(receive_waitset) \
    TEST(receive_polling) \
    TEST(receive_listener) \
    TEST(receive_udp6) \
    TEST(receive_tcp4) \
    TEST(tcp) \
    TEST(tcp_errors) \
    TEST(receive_multicast) \
    TEST(receive_limits) \
    TEST(keys) \
    TEST(batching) \
    TEST(batching_mixed) \
    TEST(wait_acked) \
    TEST(back_pressure) \
    TEST(counters) \
    TEST(liveliness_counter)
/* clang-format on */

#define DECLARE(name) void test_##name(void);
TESTS(DECLARE)

#define ENTRY(name) {#name, test_##name},
static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {TESTS(ENTRY)};

int main(int argc, char **argv) {
  const size_t count = sizeof tests / sizeof tests[0];
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < count; i++)
      puts(tests[i].name);
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: %s <driver> <test>, or --list\n", argv[0]);
    return 2;
  }
  alarm(100);
  test_domain = 1 + (uint32_t)getpid() % 100;
  snprintf(test_topic, sizeof test_topic, "ddsmark_test_%ld", (long)getpid());
  unsetenv("CYCLONEDDS_URI");

  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    failed(__FILE__, __LINE__, "%s", dlerror());
  const ddsmark_driver *(*entry)(void) = NULL;
  *(void **)&entry = dlsym(library, DDSMARK_ENTRY_SYMBOL);
  CHECK(entry != NULL);
  d = entry();
  CHECK(d != NULL && d == entry());
  CHECK_U64(d->abi_version, DDSMARK_ABI_VERSION);

  for (size_t i = 0; i < count; i++) {
    if (strcmp(tests[i].name, argv[2]) == 0) {
      tests[i].run();
      return 0;
    }
  }
  fprintf(stderr, "no test is called `%s`\n", argv[2]);
  return 2;
}
