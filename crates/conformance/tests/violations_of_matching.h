/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_matching.h: violations that concern the time of a match. Part of faulty_driver.c.
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
static void times_the_open(void) {
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
static void times_the_query(void) {
  lying.writer_matched = matched_when_queried;
}

static ddsmark_status matched_moving(ddsmark_writer *w, ddsmark_match *out) {
  static uint64_t queries;
  const ddsmark_status status = writer_matched(w, out);
  if (out->changed_ns > 0)
    out->changed_ns += queries++;
  return status;
}
static void moves_the_time(void) {
  lying.writer_matched = matched_moving;
}

static ddsmark_status matched_first(ddsmark_writer *w, ddsmark_match *out) {
  static uint64_t first_ns;
  const ddsmark_status status = writer_matched(w, out);
  out->changed_ns = first_ns = first_ns > 0 ? first_ns : out->changed_ns;
  return status;
}
static void keeps_the_time(void) {
  lying.writer_matched = matched_first;
}
