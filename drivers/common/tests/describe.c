/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c: checks of a description, besides those of the conformance case `describe`.
 */
#include "harness.h"

#include <ctype.h>
#include <dlfcn.h>

static bool is_text(const char *s) {
  return s != NULL && s[0] != '\0';
}

void check_description(const char *name) {
  const unsigned threads = thread_count(), descriptors = descriptor_count();
  const ddsmark_description *info = d->describe();
  CHECK(info != NULL && info == d->describe());
  WAIT_UNTIL(thread_count() == threads);
  CHECK_U64(descriptor_count(), descriptors);

  CHECK_U64(info->struct_size, sizeof *info);
  CHECK_U64(d->struct_size, sizeof *d);
  CHECK(strcmp(info->name, name) == 0);
  CHECK(isdigit((unsigned char)info->middleware_version[0]) && strchr(info->middleware_version, '.') != NULL);
  CHECK(info->build == NULL || is_text(info->build));
  CHECK(info->transport_count >= 1 && strcmp(info->transports[0].name, "udp4") == 0);
  for (uint32_t i = 0; i < info->transport_count; i++)
    CHECK(is_text(info->transports[i].name) && info->transports[i].max_payload_bytes >= 20000000);
  CHECK(info->option_count >= 1);
  for (uint32_t i = 0; i < info->option_count; i++) {
    const ddsmark_option_info *option = &info->options[i];
    char expected[128]; /* the text names the same default as the description */
    snprintf(expected, sizeof expected, "default %s", option->default_value ? option->default_value : "");
    CHECK(strchr(option->help, '\n') == NULL);
    CHECK_HAS(option->help, expected);
  }
  for (uint32_t i = 0; i < DDSMARK_POLICY_COUNT; i++) {
    const ddsmark_policy_support *p = &info->policies[i];
    CHECK(p->writer <= DDSMARK_SUPPORT_ENFORCED);
    CHECK(p->reader <= DDSMARK_SUPPORT_ENFORCED);
    const bool acts = p->writer == DDSMARK_SUPPORT_ENFORCED && p->reader == DDSMARK_SUPPORT_ENFORCED;
    CHECK(acts || is_text(p->note)); /* other support has a note */
  }
  for (uint32_t i = 0; i < info->variable_count; i++)
    CHECK(is_text(info->variables[i]) && strcmp(info->variables[i], "*") != 0);

  /* A function exists exactly if the driver has its feature. */
  const uint32_t f = info->features;
  CHECK(!(f & DDSMARK_FEATURE_LOCATORS) == (d->writer_locator == NULL && d->reader_connect == NULL));
  CHECK(!(f & DDSMARK_FEATURE_WRITER_LOANS) == (d->writer_loan == NULL && d->writer_publish == NULL));
  CHECK(!(f & DDSMARK_FEATURE_WAIT_ACKED) == (d->writer_wait_acked == NULL));
  CHECK(!(f & DDSMARK_FEATURE_INSTANCES) == (d->writer_dispose == NULL && d->writer_unregister == NULL));
}

/* Exported symbols could conflict with those of the host or of another library. */
void test_one_symbol(void) {
  Dl_info info;
  CHECK(dladdr((const void *)d, &info) != 0);
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  CHECK(library != NULL);
  CHECK(dlsym(library, "ddsmark_driver_entry") != NULL);
  static const char *const ours[] = {"fail", "last_error", "interface_choose", "participant_open", "writer_open"};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
    CHECK(dlsym(library, ours[i]) == NULL);
}
