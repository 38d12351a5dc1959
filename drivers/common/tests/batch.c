/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c: batch <test>: packing of samples, and rejection of malformed batches.
 */
#include "../common.h"
#include "harness.h"

static batch with_room(uint64_t batch_bytes, uint64_t max_payload, uint64_t most) {
  batch b;
  CHECK_U64(batch_open(&b, batch_bytes, max_payload, most), DDSMARK_OK);
  return b;
}

static void push(batch *b, const void *sample, uint64_t size) {
  CHECK(batch_has_room(b, size));
  batch_push(b, sample, size);
}

/* The layout of all drivers: their tests contain the same bytes. */
static void test_layout(void) {
  static const char expected[] = "\x02\0\0\0ab\0\0\0\0\x01\0\0\0c";
  batch b = with_room(100, 10, 1000);
  push(&b, "ab", 2);
  push(&b, NULL, 0);
  push(&b, "c", 1);
  CHECK_U64(b.length, sizeof expected - 1);
  CHECK(memcmp(b.bytes, expected, sizeof expected - 1) == 0);
  CHECK_U64(b.payload, 3);
  batch_free(&b);
  CHECK(b.bytes == NULL && b.length == 0);
}

static void test_full(void) {
  static const uint8_t sample[200];
  batch b = with_room(10, 5, 100);
  push(&b, sample, 5);
  CHECK(batch_has_room(&b, 5) && !batch_has_room(&b, 6));
  push(&b, sample, 5);
  CHECK(!batch_has_room(&b, 1));
  batch_clear(&b);
  CHECK(batch_has_room(&b, 5));
  batch_free(&b);

  b = with_room(10, 96, 100); /* a sample over the limit is alone in its batch, up to the maximum */
  CHECK(batch_has_room(&b, 96) && !batch_has_room(&b, 97) && !batch_has_room(&b, UINT64_MAX));
  push(&b, sample, 96);
  CHECK(!batch_has_room(&b, 0));
  batch_free(&b);

  b = with_room(UINT64_MAX, 8, 20); /* framing counts towards the maximum */
  push(&b, sample, 8);
  CHECK(batch_has_room(&b, 4) && !batch_has_room(&b, 5));
  batch_free(&b);

  b = with_room(8192, 200, 64000); /* as many as the host writes between two flushes */
  for (int i = 0; i < 8192 / 200; i++)
    push(&b, sample, 200);
  CHECK(!batch_has_room(&b, 200));
  batch_free(&b);
}

/* Checks a copy of exact size, so that a sanitizer detects reads beyond its end. */
static bool whole(const void *bytes, uint64_t size, uint64_t max_payload) {
  uint8_t *copy = malloc(size ? size : 1);
  memcpy(copy, bytes, size);
  const bool is = batch_is_whole(copy, size, max_payload);
  free(copy);
  return is;
}

static void test_malformed(void) {
  batch b = with_room(100, 10, 1000);
  push(&b, "abc", 3);
  push(&b, "de", 2);
  CHECK(whole(b.bytes, b.length, 3));
  CHECK(!whole(b.bytes, b.length, 2)); /* larger than the maximum sample */
  CHECK(!whole(b.bytes, 0, 9));        /* no sample */
  for (uint64_t end = 1; end < b.length; end++)
    CHECK(whole(b.bytes, end, 9) == (end == 7));
  CHECK(!whole("\xff\xff\xff\xff", 4, UINT64_MAX));
  CHECK(!whole("\0\0\0\0x", 5, 9));
  batch_free(&b);
}

/* Packed samples are unpacked unchanged, and every byte of a valid batch belongs to a sample. */
static void test_any_samples(void) {
  srand(1);
  for (int round = 0; round < 5000; round++) {
    uint8_t samples[40][50];
    uint64_t sizes[40];
    const int count = 1 + rand() % 40;
    batch b = with_room(64000, 50, 64000);
    for (int i = 0; i < count; i++) {
      sizes[i] = (uint64_t)(rand() % 50);
      memset(samples[i], rand(), sizeof samples[i]);
      push(&b, samples[i], sizes[i]);
    }
    CHECK(batch_is_whole(b.bytes, b.length, 50));
    uint64_t at = 0, size = 0;
    const uint8_t *sample = NULL;
    for (int i = 0; i < count; i++) {
      CHECK(batch_next(b.bytes, b.length, &at, &sample, &size));
      CHECK(size == sizes[i] && memcmp(sample, samples[i], size) == 0);
    }
    CHECK(!batch_next(b.bytes, b.length, &at, &sample, &size));
    batch_free(&b);
  }
}

static void test_any_bytes(void) {
  uint32_t batches = 0;
  srand(1);
  for (int round = 0; round < 50000; round++) {
    const uint64_t length = (uint64_t)(rand() % 60);
    uint8_t *bytes = malloc(length ? length : 1);
    for (uint64_t i = 0; i < length; i++)
      bytes[i] = (uint8_t)(rand() % 3 ? 0 : rand() % 8);
    if (batch_is_whole(bytes, length, 20)) {
      uint64_t at = 0, size = 0, sum = 0;
      const uint8_t *sample = NULL;
      while (batch_next(bytes, length, &at, &sample, &size)) {
        CHECK(size <= 20 && sample + size <= bytes + length);
        sum += size + BATCH_FRAMING;
      }
      CHECK_U64(sum, length);
      batches++;
    }
    free(bytes);
  }
  CHECK(batches > 100); /* else the test checks nothing */
}

/* clang-format off */
#define TESTS(TEST) \
    TEST(layout) \
    TEST(full) \
    TEST(malformed) \
    TEST(any_samples) \
    TEST(any_bytes)
/* clang-format on */

int main(int argc, char **argv) {
#define ENTRY(name) {#name, test_##name},
  static const test tests[] = {TESTS(ENTRY)};
  if (argc == 2)
    return run_test(tests, sizeof tests / sizeof tests[0], argv[1]);
  fprintf(stderr, "usage: %s <test>\n", argv[0]);
  return 2;
}
