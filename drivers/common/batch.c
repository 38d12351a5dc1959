/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c: application-level batching in the driver.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

ddsmark_status batch_open(batch *b, uint64_t batch_bytes, uint64_t max_payload, uint64_t most) {
  const uint64_t limit = least(batch_bytes, most), alone = max_payload + BATCH_FRAMING;
  const uint64_t together = limit + limit / (max_payload ? max_payload : 1) * BATCH_FRAMING;
  *b = (batch){.limit = limit, .capacity = least(together, most)};
  if (b->capacity < alone)
    b->capacity = alone;
  b->bytes = malloc(b->capacity);
  return b->bytes ? DDSMARK_OK : fail_memory("a batch");
}

void batch_free(batch *b) {
  free(b->bytes);
  *b = (batch){0};
}

bool batch_has_room(const batch *b, uint64_t size) {
  const bool fits = size <= b->capacity && b->length + BATCH_FRAMING + size <= b->capacity;
  return fits && (b->length == 0 || b->payload + size <= b->limit);
}

void batch_push(batch *b, const uint8_t *sample, uint64_t size) {
  uint8_t *place = b->bytes + b->length;
  for (uint32_t i = 0; i < BATCH_FRAMING; i++)
    place[i] = (uint8_t)(size >> 8 * i);
  if (size > 0)
    memcpy(place + BATCH_FRAMING, sample, size);
  b->length += BATCH_FRAMING + size;
  b->payload += size;
}

void batch_clear(batch *b) {
  b->length = b->payload = 0;
}

bool batch_next(const uint8_t *bytes, uint64_t size, uint64_t *at, const uint8_t **sample, uint64_t *sample_size) {
  if (size - *at < BATCH_FRAMING)
    return false;
  uint64_t length = 0;
  for (uint32_t i = 0; i < BATCH_FRAMING; i++)
    length |= (uint64_t)bytes[*at + i] << 8 * i;
  if (length > size - *at - BATCH_FRAMING)
    return false;
  *sample = bytes + *at + BATCH_FRAMING;
  *sample_size = length;
  *at += BATCH_FRAMING + length;
  return true;
}

bool batch_is_whole(const uint8_t *bytes, uint64_t size, uint64_t max_payload) {
  uint64_t at = 0, length;
  const uint8_t *sample;
  while (at < size)
    if (!batch_next(bytes, size, &at, &sample, &length) || length > max_payload)
      return false;
  return size > 0;
}
