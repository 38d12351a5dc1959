/* SPDX-License-Identifier: Apache-2.0
 *
 * faulty_across.c: the driver in the file REAL with one violation of the contract, the function VIOLATION, which shows
 * only if writer and reader are in different processes. */
#include <ddsmark/driver.h>
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static ddsmark_driver real, lying;
static int readers, writers;
static uint64_t writes;

static ddsmark_status reader_open(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  readers++;
  return real.reader_open(p, config, out);
}

static ddsmark_status matched_once(ddsmark_writer *w, ddsmark_match *out) {
  static uint32_t most;
  const ddsmark_status status = real.writer_matched(w, out);
  if (readers == 0)
    out->count = most = out->count > most ? out->count : most;
  return status;
}
static void never_unmatches(void) {
  lying.writer_matched = matched_once;
}

static ddsmark_status write_cut(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return real.writer_write(w, key, payload, readers == 0 && size > 60000 ? 60000 : size);
}
static void cuts_large_samples(void) {
  lying.writer_write = write_cut;
}

static ddsmark_status write_most(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return ++writes == 2000 && readers == 0 ? DDSMARK_OK : real.writer_write(w, key, payload, size);
}
static void loses_one(void) {
  lying.writer_write = write_most;
}

static ddsmark_status write_and_fail(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = real.writer_write(w, key, payload, size);
  return ++writes % 100 == 0 && readers == 0 && status == DDSMARK_OK ? DDSMARK_TIMED_OUT : status;
}
static void sends_what_it_refuses(void) {
  lying.writer_write = write_and_fail;
}

static ddsmark_status flush_not(ddsmark_writer *w) {
  return readers == 0 ? DDSMARK_OK : real.writer_flush(w);
}
static void never_flushes(void) {
  lying.writer_flush = flush_not;
}

static ddsmark_status acked_never(ddsmark_writer *w, uint64_t timeout_ns) {
  return readers == 0 ? DDSMARK_TIMED_OUT : real.writer_wait_acked(w, timeout_ns);
}
static void never_acknowledges(void) {
  lying.writer_wait_acked = acked_never;
}

static ddsmark_status write_small_key(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return real.writer_write(w, readers == 0 ? key & 0xff : key, payload, size);
}
static void shortens_keys(void) {
  lying.writer_write = write_small_key;
}

static ddsmark_status writer_open(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  writers++;
  return real.writer_open(p, config, out);
}
static ddsmark_status open_volatile(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_qos qos = *config->qos;
  if (writers == 0)
    qos.present &= ~(UINT64_C(1) << DDSMARK_POLICY_DURABILITY);
  ddsmark_reader_config copy = *config;
  copy.qos = &qos;
  return reader_open(p, &copy, out);
}
static void forgets_history(void) {
  lying.writer_open = writer_open;
  lying.reader_open = open_volatile;
}

static ddsmark_status receive_or_hang(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                                      void *context, uint32_t *taken) {
  while (writers == 0)
    pause();
  return real.reader_receive(r, timeout_ns, max_samples, sink, context, taken);
}
static void hangs(void) {
  lying.writer_open = writer_open;
  lying.reader_receive = receive_or_hang;
}

static void VIOLATION(void);

const ddsmark_driver *ddsmark_driver_entry(void) {
  static void (*const violations[])(void) = {never_unmatches,       cuts_large_samples, loses_one,
                                             sends_what_it_refuses, never_flushes,      never_acknowledges,
                                             shortens_keys,         forgets_history,    hangs};
  (void)violations;
  void *library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
  const ddsmark_driver *(*entry)(void) = NULL;
  *(void **)&entry = dlsym(library, DDSMARK_ENTRY_SYMBOL);
  memcpy(&real, entry(), sizeof real);
  lying = real;
  lying.reader_open = reader_open;
  VIOLATION();
  return &lying;
}
