/* SPDX-License-Identifier: Apache-2.0
 *
 * match.c: the number of matched peers, and when it changed.
 */
#include "common.h"

#include <string.h>
#include <time.h>

static void change(match_record *m, int32_t count) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  m->count = count;
  m->changed_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void match_add(match_record *m, int32_t peers) {
  pthread_mutex_lock(&m->lock);
  if (peers != 0)
    change(m, m->count + peers);
  pthread_mutex_unlock(&m->lock);
}

void match_set(match_record *m, uint32_t count) {
  pthread_mutex_lock(&m->lock);
  if (m->count != (int32_t)count)
    change(m, (int32_t)count);
  pthread_mutex_unlock(&m->lock);
}

ddsmark_match match_state(match_record *m) {
  pthread_mutex_lock(&m->lock);
  const int32_t count = m->count;
  const uint64_t changed_ns = m->changed_ns;
  pthread_mutex_unlock(&m->lock);
  return (ddsmark_match){
      .struct_size = sizeof(ddsmark_match), .count = count > 0 ? (uint32_t)count : 0, .changed_ns = changed_ns};
}

ddsmark_status match_out(const ddsmark_match *from, ddsmark_match *out) {
  const uint32_t size = out->struct_size;
  if (size < offsetof(ddsmark_match, changed_ns))
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid `struct_size` of ddsmark_match: %u; hint: set it to the size of the struct", size);
  ddsmark_match state = *from;
  state.struct_size = size;
  memcpy(out, &state, size < sizeof state ? size : sizeof state);
  return DDSMARK_OK;
}
