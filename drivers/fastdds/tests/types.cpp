/* SPDX-License-Identifier: Apache-2.0
 *
 * types.cpp: both types of samples with a sequence have the same octets on the wire, and read each other's. Without
 * participants; types.c has the tests between processes.
 */
#include "../generated.hpp"
#include "../type.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void check(bool holds, const char *what, uint32_t kind, size_t size) {
  if (holds)
    return;
  fprintf(stderr, "kind %u, %zu bytes: %s\n", kind, size, what);
  exit(1);
}

/* Returns the serialised payload. */
std::vector<uint8_t> written(TypeOfSamples &type, const void *sample, uint32_t kind, size_t size) {
  const uint32_t bytes = type.size_of(sample);
  rtps::SerializedPayload_t payload(bytes);
  check(type.write_into(sample, payload), "not written", kind, size);
  check(payload.length == bytes, "the size was computed wrong", kind, size);
  check(payload.encapsulation == CDR_LE || payload.encapsulation == CDR_BE, "no encapsulation", kind, size);
  if (bytes > 1) {
    rtps::SerializedPayload_t small(bytes - 1);
    check(!type.write_into(sample, small), "written into less memory than it needs", kind, size);
  }
  return {payload.data, payload.data + payload.length};
}

/* Reads `octets`, with the last `missing` bytes cut off. */
bool read(TypeOfSamples &type, const std::vector<uint8_t> &octets, size_t missing, void *sample) {
  rtps::SerializedPayload_t payload(static_cast<uint32_t>(octets.size()));
  payload.length = static_cast<uint32_t>(octets.size() - missing);
  memcpy(payload.data, octets.data(), payload.length);
  return type.read_from(payload, sample);
}

void compare(uint32_t kind, size_t size) {
  SampleType by_copy(kind, 0, false);
  GeneratedType generated(kind, false);
  const uint32_t key = kind == DDSMARK_TYPE_KEYED ? 0x01020304 : 0;
  GeneratedSample one;
  one.key = key;
  for (size_t i = 0; i < size; i++)
    one.payload.push_back(static_cast<uint8_t>(i * 7 + i / 251));
  Sample other;
  other.key = key;
  other.size = static_cast<uint32_t>(size);
  other.payload = one.payload.data();

  const std::vector<uint8_t> octets = written(by_copy, &other, kind, size);
  check(octets.size() == header_size(kind) + size, "unexpected size", kind, size);
  std::vector<uint8_t> others = written(generated, &one, kind, size);
  /* Fast CDR 2.3 and later writes the number of padding bytes after the sample here, others 0. Readers ignore it. */
  check(others[3] == 0 || others[3] == (4 - size % 4) % 4, "unexpected options", kind, size);
  others[3] = 0;
  check(octets == others, "the octets on the wire differ", kind, size);

  GeneratedSample came;
  Sample back;
  /* The second time into memory of an earlier, longer sample. */
  came.payload.resize(size + 100, 1);
  check(read(generated, octets, 0, &came) && came.payload == one.payload && came.key == key, "not read as generated",
        kind, size);
  check(read(by_copy, octets, 0, &back) && back.size == size && back.key == key &&
            (size == 0 || memcmp(back.payload, one.payload.data(), size) == 0),
        "not read as octets", kind, size);
  check(!read(generated, octets, 1, &came) && !read(by_copy, octets, 1, &back), "a cut sample was read", kind, size);

  rtps::InstanceHandle_t first, second;
  check(by_copy.key_of(&other, first) == generated.key_of(&one, second), "only one has a key", kind, size);
  check(memcmp(&first.value, &second.value, 16) == 0, "the keys differ", kind, size);
}

} // namespace

int main() {
  for (const uint32_t kind : {DDSMARK_TYPE_OCTETS, DDSMARK_TYPE_KEYED}) {
    for (const size_t size : {0, 1, 2, 3, 4, 5, 63, 64, 100, 101, 1000, 59999, 60000, 65500, 65536, 1 << 20})
      compare(kind, size);
    /* As computed by fastddsgen: the sequence, filled up to four bytes, after the fields before it. */
    check(GeneratedType::room_for(kind, 1000) == header_size(kind) + 1000, "bound", kind, 1000);
    check(GeneratedType::room_for(kind, 1001) == header_size(kind) + 1004, "bound", kind, 1001);
    check(GeneratedType(kind, true).is_bounded() && !GeneratedType(kind, false).is_bounded(), "bounded", kind, 0);
  }
  return 0;
}
