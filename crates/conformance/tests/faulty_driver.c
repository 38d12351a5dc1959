/* SPDX-License-Identifier: Apache-2.0
 *
 * faulty_driver.c: the teaching driver with one violation of the contract, which the file name of the library selects:
 * [libddsmark_]VIOLATION.so. A violation is a function that changes the table of the driver. `nothing` changes nothing.
 */
#include <ddsmark/driver.h>

#define ddsmark_driver_entry honest_entry
#include "../../../drivers/teaching/driver.c"
#undef ddsmark_driver_entry
#include "../../../drivers/teaching/loop.c"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

static ddsmark_driver lying;

/* Violations by name. The linker makes an array of them, whose bounds it names. */
struct violation {
  const char *name;
  void (*apply)(void);
};
#define VIOLATION(name)                                                                                                \
  static void name(void);                                                                                              \
  static struct violation name##_entry __attribute__((section("violations"), used)) = {#name, name};                   \
  static void name(void)
extern struct violation __start_violations[] __attribute__((visibility("hidden")));
extern struct violation __stop_violations[] __attribute__((visibility("hidden")));

/* -- life ---------------------------------------------------------------------------------------------------------- */

static ddsmark_description described;
static const ddsmark_description *describe_changed(void) {
  return &described;
}
VIOLATION(odd_source) {
  described.version_source = "hearsay";
  lying.describe = describe_changed;
}

static ddsmark_status close_leaving_descriptor(ddsmark_participant *p) {
  (void)!dup(2);
  return participant_close(p);
}
VIOLATION(leaves_descriptor) {
  lying.participant_close = close_leaving_descriptor;
}

static ddsmark_status open_with_file(const ddsmark_participant_config *config, ddsmark_participant **out) {
  char path[256];
  snprintf(path, sizeof path, "/dev/shm/liar-%s", config->run_name);
  close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600));
  return participant_open(config, out);
}
VIOLATION(leaves_file) {
  lying.participant_open = open_with_file;
}

static ddsmark_status open_anything(const ddsmark_participant_config *config, ddsmark_participant **out) {
  ddsmark_participant_config copy = *config;
  copy.option_count = 0;
  return participant_open(&copy, out);
}
VIOLATION(takes_unknown_options) {
  lying.participant_open = open_anything;
}

static ddsmark_status open_halfway(const ddsmark_participant_config *config, ddsmark_participant **out) {
  const int descriptor = dup(2);
  const ddsmark_status status = participant_open(config, out);
  if (status == DDSMARK_OK)
    close(descriptor);
  return status;
}
VIOLATION(fails_halfway) {
  lying.participant_open = open_halfway;
}

static ddsmark_status open_failing(const ddsmark_participant_config *config, ddsmark_participant **out) {
  return participant_open(config, out) == DDSMARK_OK ? DDSMARK_OK : DDSMARK_ERROR;
}
VIOLATION(fails_vaguely) {
  lying.participant_open = open_failing;
}

static ddsmark_status write_cut(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return writer_write(w, key, payload, size < w->max_payload_bytes ? size : w->max_payload_bytes);
}
VIOLATION(cuts_large_samples) {
  lying.writer_write = write_cut;
}

static ddsmark_status open_any_size(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  ddsmark_writer_config copy = *config;
  if (copy.max_payload_bytes > MAX_PAYLOAD)
    copy.max_payload_bytes = MAX_PAYLOAD;
  return writer_open(p, &copy, out);
}
VIOLATION(promises_any_size) {
  lying.writer_open = open_any_size;
}

static ddsmark_status open_any_type(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  ddsmark_writer_config copy = *config;
  copy.type_kind = DDSMARK_TYPE_OCTETS;
  return writer_open(p, &copy, out);
}
VIOLATION(takes_undeclared_types) {
  lying.writer_open = open_any_type;
}

VIOLATION(hides_its_limits) {
  described.features &= ~DDSMARK_FEATURE_ONE_PROCESS;
  lying.describe = describe_changed;
}

static const char *silence(void) {
  return "";
}
VIOLATION(says_nothing) {
  lying.last_error = silence;
}

/* -- matching and samples ------------------------------------------------------------------------------------------ */

static ddsmark_status always_one(ddsmark_writer *w, ddsmark_match *out) {
  (void)w;
  out->count = 1;
  return DDSMARK_OK;
}
VIOLATION(matches_nobody) {
  lying.writer_matched = always_one;
}

static ddsmark_status most_ever(ddsmark_reader *r, ddsmark_match *out) {
  static uint32_t most;
  const ddsmark_status status = reader_matched(r, out);
  out->count = most = out->count > most ? out->count : most;
  return status;
}
VIOLATION(never_unmatches) {
  lying.reader_matched = most_ever;
}

static ddsmark_status write_damaged(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  uint8_t *copy = malloc(size);
  memcpy(copy, payload, size);
  if (size > 60000)
    copy[size - 1] ^= 1;
  const ddsmark_status status = writer_write(w, key, copy, size);
  free(copy);
  return status;
}
VIOLATION(damages_large_samples) {
  lying.writer_write = write_damaged;
}

static uint64_t writes;
static ddsmark_status write_most(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return ++writes == 5000 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(loses_one) {
  lying.writer_write = write_most;
}

static ddsmark_status write_one_twice(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (++writes == 5000)
    writer_write(w, key, payload, size);
  return writer_write(w, key, payload, size);
}
VIOLATION(doubles_one) {
  lying.writer_write = write_one_twice;
}

static ddsmark_status write_swapped(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  static uint8_t kept[64];
  if (++writes == 5001 && size == sizeof kept) {
    memcpy(kept, payload, size);
    return DDSMARK_OK;
  }
  const ddsmark_status status = writer_write(w, key, payload, size);
  return writes == 5002 ? writer_write(w, key, kept, sizeof kept) : status;
}
VIOLATION(swaps_two) {
  lying.writer_write = write_swapped;
}

static ddsmark_status write_or_not(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return status == DDSMARK_TIMED_OUT ? DDSMARK_OK : status;
}
VIOLATION(accepts_what_it_drops) {
  lying.writer_write = write_or_not;
}

static ddsmark_status write_and_fail(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return ++writes % 100 == 0 && status == DDSMARK_OK ? DDSMARK_TIMED_OUT : status;
}
VIOLATION(sends_what_it_refuses) {
  lying.writer_write = write_and_fail;
}

/* The write of a sink waits longer than the case. */
static ddsmark_status write_waiting(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  static _Thread_local int depth;
  if (depth++ > 0)
    sleep(60);
  const ddsmark_status status = writer_write(w, key, payload, size);
  depth--;
  return status;
}
VIOLATION(waits_in_a_listener) {
  lying.writer_write = write_waiting;
}

static ddsmark_status flush_nothing(ddsmark_writer *w) {
  (void)w;
  return DDSMARK_OK;
}
VIOLATION(never_flushes) {
  lying.writer_flush = flush_nothing;
}

static ddsmark_status write_every_other(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return ++writes % 2 == 0 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(acknowledges_the_lost) {
  lying.writer_write = write_every_other;
}

static ddsmark_status acked_never(ddsmark_writer *w, uint64_t timeout_ns) {
  (void)w, (void)timeout_ns;
  return DDSMARK_TIMED_OUT;
}
VIOLATION(never_acknowledges) {
  lying.writer_wait_acked = acked_never;
}

static ddsmark_status write_small_key(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return writer_write(w, key & 0xff, payload, size);
}
VIOLATION(shortens_keys) {
  lying.writer_write = write_small_key;
}

static ddsmark_status open_volatile(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_qos qos = *config->qos;
  qos.present &= ~(UINT64_C(1) << DDSMARK_POLICY_DURABILITY);
  ddsmark_reader_config copy = *config;
  copy.qos = &qos;
  return reader_open(p, &copy, out);
}
VIOLATION(forgets_history) {
  lying.reader_open = open_volatile;
}

#include "violations_beyond.h"
#include "violations_of_matching.h"
#include "violations_of_participants.h"
#include "violations_of_policies.h"

/* -- receiving ----------------------------------------------------------------------------------------------------- */

static ddsmark_status receive_miscounted(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                         void *context, uint32_t *taken) {
  const ddsmark_status status = reader_receive(r, timeout_ns, max, sink, context, taken);
  *taken += 1;
  return status;
}
VIOLATION(miscounts) {
  lying.reader_receive = receive_miscounted;
}

static ddsmark_status receive_waiting(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                      void *context, uint32_t *taken) {
  r->polling = 0;
  return reader_receive(r, timeout_ns, max, sink, context, taken);
}
VIOLATION(waits_when_polled) {
  lying.reader_receive = receive_waiting;
}

static outlet last_listener;
static ddsmark_status close_listening_on(ddsmark_reader *r) {
  last_listener = r->listener;
  return reader_close(r);
}
static ddsmark_status write_to_the_closed(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (last_listener.sink != NULL)
    give(&last_listener, key, payload, size);
  return writer_write(w, key, payload, size);
}
VIOLATION(calls_after_close) {
  lying.reader_close = close_listening_on;
  lying.writer_write = write_to_the_closed;
}

static ddsmark_status write_last_twice(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  const ddsmark_status status = writer_write(w, key, payload, size);
  return ++writes == 50 ? writer_write(w, key, payload, size) : status;
}
VIOLATION(doubles_heard) {
  lying.writer_write = write_last_twice;
}

static ddsmark_status open_deaf(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  ddsmark_reader_config copy = *config;
  copy.receive_mode = DDSMARK_RECEIVE_WAITSET;
  return reader_open(p, &copy, out);
}
VIOLATION(never_listens) {
  lying.reader_open = open_deaf;
}

#include "violations_of_readback.h"
#include "violations_of_threads.h"

/* ------------------------------------------------------------------------------------------------------------------ */

VIOLATION(nothing) {}

/* Returns whether a violation is the one that a path selects. */
static int is_selected(const char *violation, const char *path) {
  const char *slash = strrchr(path, '/'), *file = slash == NULL ? path : slash + 1, *prefix = "libddsmark_";
  if (strncmp(file, prefix, strlen(prefix)) == 0)
    file += strlen(prefix);
  const size_t length = strlen(violation);
  return strncmp(file, violation, length) == 0 && strcmp(file + length, ".so") == 0;
}

const ddsmark_driver *ddsmark_driver_entry(void) {
  lying = driver;
  described = description;
  Dl_info library;
  if (dladdr(&lying, &library) == 0)
    return NULL;
  for (const struct violation *of = __start_violations; of < __stop_violations; of++) {
    if (is_selected(of->name, library.dli_fname)) {
      of->apply();
      return &lying;
    }
  }
  return NULL;
}
