/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver -DREAL="<path>" with one fault: -DHOW=<name of a function below>. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ddsmark/driver.h>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>

static ddsmark_driver real, bad;

static void say(const char *words) {
  std::puts(words);
  std::fflush(stdout);
}

[[maybe_unused]] static void hang() {
  say("waiting for a licence server");
  for (;;)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

[[maybe_unused]] static void prints() {
  bad.participant_open = [](const ddsmark_participant_config *config, ddsmark_participant **out) -> ddsmark_status {
    say("{\"schema_version\": 1}");
    return real.participant_open(config, out);
  };
  bad.writer_close = [](ddsmark_writer *writer) -> ddsmark_status {
    say("goodbye");
    return real.writer_close(writer);
  };
}

// Keeps no samples for readers that join later, and says so.
[[maybe_unused]] static void is_volatile() {
  bad.writer_qos = [](ddsmark_writer *writer, ddsmark_qos *out) -> ddsmark_status {
    const ddsmark_status status = real.writer_qos(writer, out);
    out->durability = DDSMARK_VOLATILE;
    return status;
  };
}

// Opens one participant only.
[[maybe_unused]] static void opens_one_participant() {
  bad.participant_open = [](const ddsmark_participant_config *config, ddsmark_participant **out) -> ddsmark_status {
    static std::atomic<unsigned> opened;
    return opened++ == 0 ? real.participant_open(config, out) : DDSMARK_UNSUPPORTED;
  };
  bad.last_error = []() -> const char * { return "only one participant per process is supported"; };
}

[[maybe_unused]] static void exits() {
  bad.writer_open = [](ddsmark_participant *, const ddsmark_writer_config *, ddsmark_writer **) -> ddsmark_status {
    say("the licence has expired");
    std::exit(0);
  };
}

[[maybe_unused]] static void aborts() {
  bad.writer_write = [](ddsmark_writer *, uint32_t, const uint8_t *, uint64_t) -> ddsmark_status {
    say("assertion failed: queue");
    std::abort();
  };
}

[[maybe_unused]] static void hangs_in_open() {
  bad.participant_open = [](const ddsmark_participant_config *, ddsmark_participant **) -> ddsmark_status {
    hang();
    return DDSMARK_OK;
  };
}

[[maybe_unused]] static void hangs_in_close() {
  bad.writer_close = [](ddsmark_writer *) -> ddsmark_status {
    hang();
    return DDSMARK_OK;
  };
}

[[maybe_unused]] static void throws() {
  bad.writer_write = [](ddsmark_writer *, uint32_t, const uint8_t *, uint64_t) -> ddsmark_status {
    throw std::runtime_error("no such partition");
  };
}

[[maybe_unused]] static void crashes_in_a_thread() {
  bad.writer_open = [](ddsmark_participant *participant, const ddsmark_writer_config *config,
                       ddsmark_writer **out) -> ddsmark_status {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      say("thread `discovery` is lost");
      *static_cast<volatile int *>(nullptr) = 1;
    }).detach();
    return real.writer_open(participant, config, out);
  };
}

// Delay of a write in some of the cases below.
static constexpr auto KEPT = std::chrono::milliseconds(50);
static std::atomic<bool> pings;

[[maybe_unused]] static void know_pings() {
  bad.writer_open = [](ddsmark_participant *participant, const ddsmark_writer_config *config,
                       ddsmark_writer **out) -> ddsmark_status {
    std::string topic = config->topic;
    pings = topic.size() >= 4 && topic.compare(topic.size() - 4, 4, "_out") == 0;
    return real.writer_open(participant, config, out);
  };
}

// Delays one write in 1000, of pings and of echoes, but never both of one round trip.
[[maybe_unused]] static void stalls() {
  know_pings();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written = pings ? 0 : 500;
    if (++written % 1000 == 0)
      std::this_thread::sleep_for(KEPT);
    return real.writer_write(writer, key, data, size);
  };
}

// Delays one write of a ping in 500, and times out.
[[maybe_unused]] static void times_out() {
  know_pings();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    if (pings && ++written % 500 == 0) {
      std::this_thread::sleep_for(KEPT);
      return DDSMARK_TIMED_OUT;
    }
    return real.writer_write(writer, key, data, size);
  };
}

// Rejects one write of a ping in 500, and its retries until the delay is over.
[[maybe_unused]] static void refuses() {
  know_pings();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    using Clock = std::chrono::steady_clock;
    static unsigned written;
    static Clock::time_point until;
    if (Clock::now() < until)
      return DDSMARK_REFUSED;
    if (pings && ++written % 500 == 0) {
      until = Clock::now() + KEPT;
      return DDSMARK_REFUSED;
    }
    return real.writer_write(writer, key, data, size);
  };
}

[[maybe_unused]] static void unchanged() {}

// A write takes 2 ms longer.
[[maybe_unused]] static void slows() {
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return real.writer_write(writer, key, data, size);
  };
}

// Delays every write by 20 ms, without CPU time.
[[maybe_unused]] static void blocks() {
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return real.writer_write(writer, key, data, size);
  };
}

// Uses a fifth of a core in a thread of its own, independent of the traffic.
[[maybe_unused]] static void keeps_busy() {
  bad.participant_open = [](const ddsmark_participant_config *config, ddsmark_participant **out) -> ddsmark_status {
    std::thread([] {
      using Clock = std::chrono::steady_clock;
      for (;;) {
        auto until = Clock::now() + std::chrono::milliseconds(2);
        while (Clock::now() < until) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(8));
      }
    }).detach();
    return real.participant_open(config, out);
  };
}

// Reports one sample too many in one of 10 receive calls that return samples.
[[maybe_unused]] static void overstates_taken() {
  bad.reader_receive = [](ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                          void *context, uint32_t *taken) -> ddsmark_status {
    static unsigned calls;
    const ddsmark_status status = real.reader_receive(reader, timeout_ns, max_samples, sink, context, taken);
    *taken += *taken > 0 && ++calls % 10 == 0;
    return status;
  };
}

// Reports a thousandth of the bytes sent.
[[maybe_unused]] static void understates_sent() {
  bad.writer_counters = [](ddsmark_writer *writer, ddsmark_counters *out) -> ddsmark_status {
    const ddsmark_status status = real.writer_counters(writer, out);
    out->values[DDSMARK_COUNTER_BYTES_SENT] /= 1000;
    return status;
  };
}

// Reports a thousandth of the bytes received.
[[maybe_unused]] static void understates_received() {
  bad.reader_counters = [](ddsmark_reader *reader, ddsmark_counters *out) -> ddsmark_status {
    const ddsmark_status status = real.reader_counters(reader, out);
    out->values[DDSMARK_COUNTER_BYTES_RECEIVED] /= 1000;
    return status;
  };
}

// Reports lost samples, although none is lost.
[[maybe_unused]] static void invents_losses() {
  bad.reader_counters = [](ddsmark_reader *reader, ddsmark_counters *out) -> ddsmark_status {
    const ddsmark_status status = real.reader_counters(reader, out);
    out->valid |= UINT64_C(1) << DDSMARK_COUNTER_SAMPLES_LOST;
    out->values[DDSMARK_COUNTER_SAMPLES_LOST] = 1000000;
    return status;
  };
}

// Reports one loan in ten as overwritten.
[[maybe_unused]] static void overwrites() {
  bad.reader_sample_intact = [](ddsmark_reader *, const ddsmark_sample *) -> uint32_t {
    static unsigned asked;
    return ++asked % 10 != 0;
  };
}

// Accepts one write in ten without sending the sample.
[[maybe_unused]] static void swallows() {
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    return ++written % 10 == 0 ? DDSMARK_OK : real.writer_write(writer, key, data, size);
  };
}

// Sends the sample of one write in ten twice.
[[maybe_unused]] static void repeats() {
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    const ddsmark_status status = real.writer_write(writer, key, data, size);
    if (status == DDSMARK_OK && ++written % 10 == 0)
      (void)real.writer_write(writer, key, data, size);
    return status;
  };
}

// The 340th sample stays in the reader until 120 ms after the 640th. It is given once, after the others.
static constexpr unsigned HELD = 340, ALL = 640;
static constexpr auto AFTER = std::chrono::milliseconds(120);
static std::string held;
static unsigned seen;
static std::chrono::steady_clock::time_point release_time;

struct Pass {
  ddsmark_sink sink;
  void *context;
  uint32_t held_now;
};

static void pass_or_hold(void *context, const ddsmark_sample *sample) {
  Pass *pass = static_cast<Pass *>(context);
  if (++seen == ALL)
    release_time = std::chrono::steady_clock::now() + AFTER;
  if (seen == HELD) {
    held.assign(reinterpret_cast<const char *>(sample->payload), sample->size);
    pass->held_now = 1;
    return;
  }
  pass->sink(pass->context, sample);
}

[[maybe_unused]] static void holds_one() {
  bad.reader_receive = [](ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                          void *context, uint32_t *taken) -> ddsmark_status {
    Pass pass{sink, context, 0};
    const ddsmark_status status = real.reader_receive(reader, timeout_ns, max_samples, pass_or_hold, &pass, taken);
    *taken -= pass.held_now;
    if (seen < ALL || held.empty() || std::chrono::steady_clock::now() < release_time)
      return status;
    const ddsmark_sample sample = {reinterpret_cast<const uint8_t *>(held.data()), held.size(), 0, 0, nullptr};
    sink(context, &sample);
    held.clear();
    *taken += 1;
    return DDSMARK_OK;
  };
  bad.reader_sample_intact = nullptr;
}

// Whether this process writes the second hop of a ring.
static std::atomic<bool> second_hop;

static bool is_second_hop(const char *name) {
  const std::string topic = name, hop = "_hop_2";
  return topic.size() >= hop.size() && topic.compare(topic.size() - hop.size(), hop.size(), hop) == 0;
}

static void know_second_hop() {
  bad.writer_open = [](ddsmark_participant *participant, const ddsmark_writer_config *config,
                       ddsmark_writer **out) -> ddsmark_status {
    second_hop = is_second_hop(config->topic);
    return real.writer_open(participant, config, out);
  };
}

// The reader of the second hop of a ring reads another topic.
[[maybe_unused]] static void reads_elsewhere() {
  bad.reader_open = [](ddsmark_participant *participant, const ddsmark_reader_config *config,
                       ddsmark_reader **out) -> ddsmark_status {
    ddsmark_reader_config other = *config;
    const std::string topic = std::string(config->topic) + "_elsewhere";
    if (is_second_hop(config->topic))
      other.topic = topic.c_str();
    return real.reader_open(participant, &other, out);
  };
}

// Loses one sample in 10 on the second hop of a ring.
[[maybe_unused]] static void loses_on_a_hop() {
  know_second_hop();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    if (second_hop && ++written % 10 == 0)
      return DDSMARK_OK;
    return real.writer_write(writer, key, data, size);
  };
}

// Rejects one sample in 10 on the second hop of a ring.
[[maybe_unused]] static void rejects_on_a_hop() {
  know_second_hop();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    if (second_hop && ++written % 10 == 0)
      return DDSMARK_REFUSED;
    return real.writer_write(writer, key, data, size);
  };
}

// Rejects each write of the second hop of a ring from the 500th on.
[[maybe_unused]] static void blocks_a_hop() {
  know_second_hop();
  bad.writer_write = [](ddsmark_writer *writer, uint32_t key, const uint8_t *data, uint64_t size) -> ddsmark_status {
    static unsigned written;
    if (second_hop && ++written >= 500)
      return DDSMARK_REFUSED;
    return real.writer_write(writer, key, data, size);
  };
}

extern "C" DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void) {
  void *library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return nullptr;
  using Entry = const ddsmark_driver *(*)(void);
  real = *reinterpret_cast<Entry>(dlsym(library, DDSMARK_ENTRY_SYMBOL))();
  bad = real;
  bad.describe = [] {
    static ddsmark_description description;
    description = *real.describe();
    description.name = "bad";
    return const_cast<const ddsmark_description *>(&description);
  };
  HOW();
  return &bad;
}
