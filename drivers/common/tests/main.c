/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: ddsmark_DRIVER_tests <driver> <test>. Which tests there are, the driver's tests.h says.
 */
#include "harness.h"
#include "tests.h"

#include <unistd.h>

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
  unsetenv(UNWANTED);

  load(argv[1]);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(tests[i].name, argv[2]) == 0) {
      tests[i].run();
      return 0;
    }
  }
  fprintf(stderr, "no test is called `%s`\n", argv[2]);
  return 2;
}
