/* SPDX-License-Identifier: Apache-2.0
 *
 * types.cpp: CPU time of the two types of samples, without participants.
 *
 *     types [SIZE]...
 *
 * prints the median ns per sample of 15 rounds: to serialise, with the computation of the size; to deserialise into a
 * used sample; and to fill the vector of a generated sample.
 */
#include "../generated.hpp"
#include "../type.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

template <class Call> double median(size_t size, Call call) {
  const size_t calls = std::clamp<size_t>((200u << 20) / std::max<size_t>(size, 1), 100, 100000);
  double rounds[15];
  for (double &round : rounds) {
    const double start = cpu_ns();
    for (size_t i = 0; i < calls; i++)
      call();
    round = (cpu_ns() - start) / static_cast<double>(calls);
  }
  std::sort(rounds, rounds + 15);
  return rounds[7];
}

struct Times {
  double write, read;
};

Times times_of(TypeOfSamples &type, size_t size, const void *sample, void *back) {
  rtps::SerializedPayload_t payload(type.size_of(sample));
  bool ok = true;
  const Times times{median(size, [&] { ok = type.size_of(sample) > 0 && type.write_into(sample, payload) && ok; }),
                    median(size, [&] { ok = type.read_from(payload, back) && ok; })};
  if (!ok) {
    fprintf(stderr, "types: a sample of %zu bytes was not serialised\n", size);
    exit(1);
  }
  return times;
}

void compare(size_t size) {
  SampleType by_copy(DDSMARK_TYPE_OCTETS, 0, false);
  GeneratedType generated(DDSMARK_TYPE_OCTETS, false);
  const std::vector<uint8_t> octets(size, 7);
  Sample one, one_back;
  one.size = static_cast<uint32_t>(size);
  one.payload = octets.data();
  GeneratedSample other, other_back;
  const double fill = median(size, [&] { other.payload.assign(octets.begin(), octets.end()); });
  const Times a = times_of(by_copy, size, &one, &one_back), b = times_of(generated, size, &other, &other_back);
  printf("%zu B: serialise octets %.0f, generated %.0f; deserialise octets %.0f, generated %.0f; fill %.0f ns\n", size,
         a.write, b.write, a.read, b.read, fill);
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    compare(strtoul(argv[i], nullptr, 10));
  for (const size_t size : {64, 1024, 60000, 1 << 20})
    if (argc == 1)
      compare(size);
  return 0;
}
