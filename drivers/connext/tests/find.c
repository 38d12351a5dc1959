/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c: connext_find <driver> <driver of a version> <homes> <test>: behaviour of the driver without a usable
 * library.
 */
#include "harness.h"

static const char *homes;

/* Loads the driver with NDDSHOME set to one of the directories; "": not set. */
static void load_at(const char *driver, const char *home) {
  char path[4096];
  unsetenv("VIRTUAL_ENV");
  unsetenv("NDDSHOME");
  snprintf(path, sizeof path, "%s/%s", homes, home);
  if (*home)
    CHECK(setenv("NDDSHOME", path, 1) == 0);
  load(driver);
}

/* Checks that the driver describes itself, opens nothing, and gives this text. */
static void unusable(const char *words) {
  const ddsmark_description *info = d->describe();
  CHECK(strcmp(info->middleware_version, "not installed") == 0);
  CHECK_HAS(info->build, words);
  CHECK(info->transport_count > 0 && info->option_count > 0);
  const ddsmark_participant_config c = {.struct_size = sizeof c, .domain = 7, .interface = "lo"};
  ddsmark_participant *p = NULL;
  CHECK_U64(d->participant_open(&c, &p), DDSMARK_ERROR);
  CHECK(p == NULL);
  CHECK_HAS(d->last_error(), words);
  CHECK_HAS(d->last_error(), "hint: ");
}

static const char *driver, *driver_of_version;

static void test_not_installed(void) {
  load_at(driver, "");
  unusable("RTI Connext is not installed");
  CHECK_HAS(d->last_error(), "NDDSHOME");
  CHECK_HAS(d->last_error(), "ddsmark drivers install connext --accept-licence");
}

/* The named installation does not exist. */
static void test_home_without_library(void) {
  load_at(driver, "none");
  unusable("RTI Connext is not installed");
}

static void test_no_library_at_all(void) {
  load_at(driver, "broken");
  unusable("cannot be loaded");
  CHECK_HAS(d->last_error(), "broken/lib/none/libnddsc.so");
}

static void test_symbol_missing(void) {
  load_at(driver, "empty");
  unusable("has no `NDDS_Config_Version_to_string`");
  CHECK_HAS(d->last_error(), "empty/lib/none/libnddsc.so");
}

/* The first missing symbol is named, not the first of all. */
static void test_another_symbol_missing(void) {
  load_at(driver, "partial");
  unusable("has no `DDS_DomainParticipantFactory_finalize_instance`");
}

/* A prefix may be a pattern; and a driver built for a version searches below its prefixes, whatever NDDSHOME is. */
static void test_version_by_prefix(void) {
  load_at(driver_of_version, "empty");
  unusable("partial/lib/none/libnddsc.so");
}

/* Configuration errors are reported with and without a library. */
static void test_configuration_first(void) {
  load_at(driver, "");
  ddsmark_participant_config c = {.struct_size = sizeof c, .domain = 7, .interface = "nosuch0"};
  ddsmark_participant *p = NULL;
  CHECK_U64(d->participant_open(&c, &p), DDSMARK_BAD_ARGUMENT);
  CHECK_HAS(d->last_error(), "interface `nosuch0` does not exist");
}

void test_one_symbol(void);
static void test_symbols(void) {
  load_at(driver, "");
  test_one_symbol();
}

/* clang-format off */
#define TESTS(TEST) \
    TEST(not_installed) \
    TEST(home_without_library) \
    TEST(no_library_at_all) \
    TEST(symbol_missing) \
    TEST(another_symbol_missing) \
    TEST(version_by_prefix) \
    TEST(configuration_first) \
    TEST(symbols)
/* clang-format on */

int main(int argc, char **argv) {
#define ENTRY(name) {#name, test_##name},
  static const test tests[] = {TESTS(ENTRY)};
  if (argc != 5) {
    fprintf(stderr, "usage: %s <driver> <driver of a version> <homes> <test>\n", argv[0]);
    return 2;
  }
  driver = argv[1];
  driver_of_version = argv[2];
  homes = argv[3];
  return run_test(tests, sizeof tests / sizeof tests[0], argv[4]);
}
