/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: ddsmark_DRIVER_tests <driver> <test>. The driver's tests.h defines the tests (TESTS), the environment
 * variables to unset (UNWANTED), and a variable that must be 1 for the tests not to be skipped (CONSENT, optional).
 */
#include "harness.h"
#include "tests.h"

#include <unistd.h>

#define DECLARE(name) void test_##name(void);
TESTS(DECLARE)

#define ENTRY(name) {#name, test_##name},
static const test tests[] = {TESTS(ENTRY)};

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
#ifdef CONSENT
  const char *consent = getenv(CONSENT);
  if (consent == NULL || strcmp(consent, "1") != 0) {
    puts("skipped: licence not accepted");
    return 77;
  }
#endif
  alarm(100);
  test_domain = 1 + (uint32_t)getpid() % 100;
  snprintf(test_topic, sizeof test_topic, "ddsmark_test_%ld", (long)getpid());
  static const char *const unwanted[] = {UNWANTED};
  for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
    unsetenv(unwanted[i]);

  load(argv[1]);
  return run_test(tests, count, argv[2]);
}
