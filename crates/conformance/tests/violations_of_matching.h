/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_matching.h: violations on the time of a match and on several peers. Part of faulty_driver.c.
 */
#include <time.h>

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t opened_ns;
static ddsmark_status open_noting_time(ddsmark_participant *p, const ddsmark_writer_config *config,
                                       ddsmark_writer **out) {
  opened_ns = clock_ns();
  return writer_open(p, config, out);
}
static ddsmark_status matched_at_open(ddsmark_writer *w, ddsmark_match *out) {
  const ddsmark_status status = writer_matched(w, out);
  if (out->changed_ns > 0)
    out->changed_ns = opened_ns;
  return status;
}
VIOLATION(times_the_open) {
  lying.writer_open = open_noting_time;
  lying.writer_matched = matched_at_open;
}

/* A driver that polls: the first query that finds a peer gives its time to the match. */
static ddsmark_status matched_when_queried(ddsmark_writer *w, ddsmark_match *out) {
  static uint64_t queried_ns;
  const ddsmark_status status = writer_matched(w, out);
  if (out->changed_ns > 0)
    out->changed_ns = queried_ns = queried_ns > 0 ? queried_ns : clock_ns();
  return status;
}
VIOLATION(times_the_query) {
  lying.writer_matched = matched_when_queried;
}

static ddsmark_status matched_moving(ddsmark_writer *w, ddsmark_match *out) {
  static uint64_t queries;
  const ddsmark_status status = writer_matched(w, out);
  if (out->changed_ns > 0)
    out->changed_ns += queries++;
  return status;
}
VIOLATION(moves_the_time) {
  lying.writer_matched = matched_moving;
}

static ddsmark_status matched_first(ddsmark_writer *w, ddsmark_match *out) {
  static uint64_t first_ns;
  const ddsmark_status status = writer_matched(w, out);
  out->changed_ns = first_ns = first_ns > 0 ? first_ns : out->changed_ns;
  return status;
}
VIOLATION(keeps_the_time) {
  lying.writer_matched = matched_first;
}

/* -- several peers ------------------------------------------------------------------------------------------------- */

static ddsmark_reader *opened_readers[3];
static int reader_count, closed_count;
static ddsmark_status open_listing(ddsmark_participant *p, const ddsmark_reader_config *config, ddsmark_reader **out) {
  const ddsmark_status status = reader_open(p, config, out);
  if (status == DDSMARK_OK && reader_count < 3)
    opened_readers[reader_count++] = *out;
  return status;
}
static ddsmark_status receive_but_third(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                        void *context, uint32_t *taken) {
  if (r != opened_readers[2])
    return reader_receive(r, timeout_ns, max, sink, context, taken);
  *taken = 0;
  return DDSMARK_OK;
}
VIOLATION(forgets_third_reader) {
  lying.reader_open = open_listing;
  lying.reader_receive = receive_but_third;
}

typedef struct doubling {
  ddsmark_sink sink;
  void *context;
  uint32_t given;
} doubling;
static void give_first_twice(void *context, const ddsmark_sample *sample) {
  static int given;
  doubling *to = context;
  if (given++ == 0) {
    to->sink(to->context, sample);
    to->given++;
  }
  to->sink(to->context, sample);
  to->given++;
}
static ddsmark_status receive_second_twice(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max, ddsmark_sink sink,
                                           void *context, uint32_t *taken) {
  if (r != opened_readers[1])
    return reader_receive(r, timeout_ns, max, sink, context, taken);
  doubling to = {sink, context, 0};
  const ddsmark_status status = reader_receive(r, timeout_ns, max, give_first_twice, &to, taken);
  *taken = to.given;
  return status;
}
VIOLATION(doubles_for_second_reader) {
  lying.reader_open = open_listing;
  lying.reader_receive = receive_second_twice;
}

static int writer_count;
static ddsmark_writer *third_writer;
static ddsmark_status open_counting(ddsmark_participant *p, const ddsmark_writer_config *config, ddsmark_writer **out) {
  const ddsmark_status status = writer_open(p, config, out);
  if (++writer_count == 3)
    third_writer = *out;
  return status;
}
static ddsmark_status write_but_third(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return w == third_writer ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(forgets_third_writer) {
  lying.writer_open = open_counting;
  lying.writer_write = write_but_third;
}

static ddsmark_status close_counting(ddsmark_reader *r) {
  closed_count++;
  return reader_close(r);
}
static ddsmark_status write_until_leave(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return closed_count > 0 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(stops_at_leave) {
  lying.reader_close = close_counting;
  lying.writer_write = write_until_leave;
}

static int had_one_reader;
static ddsmark_status write_to_the_first(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  ddsmark_match match = {.struct_size = sizeof match};
  writer_matched(w, &match);
  had_one_reader |= match.count == 1;
  return had_one_reader && match.count > 1 ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(stops_at_join) {
  lying.writer_write = write_to_the_first;
}

static ddsmark_status matched_most(ddsmark_writer *w, ddsmark_match *out) {
  const ddsmark_status status = writer_matched(w, out);
  out->count += (uint32_t)closed_count;
  return status;
}
VIOLATION(counts_the_closed) {
  lying.reader_close = close_counting;
  lying.writer_matched = matched_most;
}

static ddsmark_status matched_none_after(ddsmark_writer *w, ddsmark_match *out) {
  const ddsmark_status status = writer_matched(w, out);
  if (closed_count > 0)
    out->count = 0;
  return status;
}
VIOLATION(drops_all_at_leave) {
  lying.reader_close = close_counting;
  lying.writer_matched = matched_none_after;
}

static ddsmark_status acked_by_two(ddsmark_writer *w, uint64_t timeout_ns) {
  ddsmark_match match = {.struct_size = sizeof match};
  writer_matched(w, &match);
  return match.count > 2 ? DDSMARK_TIMED_OUT : writer_wait_acked(w, timeout_ns);
}
VIOLATION(acknowledges_never_to_three) {
  lying.writer_wait_acked = acked_by_two;
}
