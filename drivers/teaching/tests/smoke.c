/* SPDX-License-Identifier: Apache-2.0
 *
 * smoke.c: the library loads and carries a sample. `ddsmark drivers check` tests the contract.
 */
#include <ddsmark/driver.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void keep(void *context, const ddsmark_sample *sample) {
  if (sample->size == 5)
    memcpy(context, sample->payload, 5);
}

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                          \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

int main(int argc, char **argv) {
  CHECK(argc == 2);
  void *library = dlopen(argv[1], RTLD_NOW);
  CHECK(library != NULL);
  const ddsmark_driver *(*entry)(void) = NULL;
  *(void **)&entry = dlsym(library, DDSMARK_ENTRY_SYMBOL);
  CHECK(entry != NULL);
  const ddsmark_driver *d = entry();
  CHECK(d->abi_version == DDSMARK_ABI_VERSION);

  const ddsmark_participant_config pc = {.struct_size = sizeof pc, .domain = 1, .run_name = "smoke"};
  const ddsmark_writer_config wc = {.struct_size = sizeof wc, .topic = "t", .max_payload_bytes = 5};
  const ddsmark_reader_config rc = {.struct_size = sizeof rc, .topic = "t", .max_payload_bytes = 5};
  ddsmark_participant *p;
  ddsmark_writer *w;
  ddsmark_reader *r;
  CHECK(d->participant_open(&pc, &p) == DDSMARK_OK);
  CHECK(d->writer_open(p, &wc, &w) == DDSMARK_OK);
  CHECK(d->reader_open(p, &rc, &r) == DDSMARK_OK);
  char got[6] = "";
  uint32_t taken = 0;
  CHECK(d->writer_write(w, 0, (const uint8_t *)"hello", 5) == DDSMARK_OK);
  CHECK(d->reader_receive(r, UINT64_C(10000000000), 1, keep, got, &taken) == DDSMARK_OK);
  CHECK(taken == 1 && strcmp(got, "hello") == 0);
  CHECK(d->reader_close(r) == DDSMARK_OK && d->writer_close(w) == DDSMARK_OK && d->participant_close(p) == DDSMARK_OK);
  return 0;
}
