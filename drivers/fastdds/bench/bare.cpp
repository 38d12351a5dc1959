/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.cpp: minimal benchmark of Fast DDS, to measure the overhead of ddsmark.
 *
 *     bare latency|throughput SIZE MS CORE CORE [udp4|shm]
 *
 * prints the median round trip in ns, or the samples per second that the reader received in its own window.
 *
 * Two processes with the settings, QoS and type of the driver; the first core is that of the pinging or writing
 * process. Payloads are not stamped or checked beyond what the result needs.
 */
#include "../type.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const int64_t domain = 78, capacity = 256, ms = 1000000, warm_up = 200 * ms;

fast::DomainParticipantFactory *factory;
fast::DomainParticipant *participant;
fast::DataWriter *out;
fast::DataReader *in;
fast::LoanableSequence<Sample> samples(capacity); /* created once and reused for each take */
fast::SampleInfoSeq infos(capacity);
volatile sig_atomic_t over;

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

void must(bool ok, const char *what) {
  if (!ok)
    fprintf(stderr, "bare: %s\n", what), exit(1);
}

fast::DomainParticipantQos participant_qos(bool shm) {
  fast::DomainParticipantQos qos;
  auto &builtin = qos.wire_protocol().builtin;
  qos.transport().use_builtin_transports = false;
  builtin.discovery_config.leaseDuration = Duration(10, 0);
  if (shm) {
    auto transport = std::make_shared<transports::SharedMemTransportDescriptor>();
    transport->segment_size(32u << 20);
    transport->port_queue_capacity(1024);
    transport->max_message_size(16u << 20);
    qos.transport().user_transports.push_back(transport);
    return qos;
  }
  auto transport = std::make_shared<transports::UDPv4TransportDescriptor>();
  transport->interfaceWhiteList.push_back("127.0.0.1");
  transport->receiveBufferSize = 8u << 20;
  transport->maxInitialPeersRange = 32;
  qos.transport().user_transports.push_back(transport);
  Locator here;
  here.kind = LOCATOR_KIND_UDPv4;
  builtin.metatrafficUnicastLocatorList.push_back(here);
  IpLocator::setIPv4(here, "127.0.0.1");
  builtin.initialPeersList.push_back(here);
  return qos;
}

template <class Qos> Qos endpoint_qos(int32_t size) {
  Qos qos;
  qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = fast::VOLATILE_DURABILITY_QOS;
  qos.history().kind = fast::KEEP_ALL_HISTORY_QOS;
  qos.resource_limits().max_samples = std::clamp((64 << 20) / size, 64, 10000);
  qos.resource_limits().max_instances = qos.resource_limits().max_samples_per_instance = -1;
  qos.resource_limits().allocated_samples = std::clamp((16 << 20) / size, 1, 100);
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.data_sharing().off();
  representation_of(qos).m_value = {fast::XCDR_DATA_REPRESENTATION};
  return qos;
}

void open_endpoints(bool shm, int32_t size, const char *writes, const char *reads) {
  factory = fast::DomainParticipantFactory::get_instance();
  must((participant = factory->create_participant(domain, participant_qos(shm))), "participant");
  auto *type = new SampleType(DDSMARK_TYPE_OCTETS, 0, false);
  type->set_room(header_size(DDSMARK_TYPE_OCTETS) + static_cast<uint32_t>(size));
  fast::TypeSupport(type).register_type(participant);
  const auto topic = [](const char *name) {
    return participant->create_topic(name, SampleType::name_of(DDSMARK_TYPE_OCTETS, 0), fast::TOPIC_QOS_DEFAULT);
  };
  if (writes) {
    auto qos = endpoint_qos<fast::DataWriterQos>(size);
    qos.reliability().max_blocking_time = Duration(1, 0);
    heartbeat_period(qos.reliable_writer_qos().times) = Duration(0, 10 * ms);
    out = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT)->create_datawriter(topic(writes), qos);
  }
  if (reads)
    in = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT)
             ->create_datareader(topic(reads), endpoint_qos<fast::DataReaderQos>(size));
  must((out || !writes) && (in || !reads), "writer and reader");
  fast::PublicationMatchedStatus readers;
  fast::SubscriptionMatchedStatus writers;
  while ((out && (out->get_publication_matched_status(readers), readers.current_count < 1)) ||
         (in && (in->get_subscription_matched_status(writers), writers.current_count < 1)))
    usleep(1000);
  usleep(100000);
}

/* Takes samples and returns their number. */
int32_t take(int64_t timeout) {
  samples.length(0);
  infos.length(0);
  if (in->wait_for_unread_message(Duration(0, static_cast<uint32_t>(timeout))))
    in->take(samples, infos, capacity);
  return samples.length();
}

/* A full history rejects the sample long before the blocking time has elapsed. */
void put(const Sample &sample) {
  uint32_t code;
  for (unsigned pause = 1; (code = code_of(out->write(const_cast<Sample *>(&sample), {}))) != CODE_OK; pause *= 2) {
    must(code == CODE_OUT_OF_RESOURCES || code == CODE_TIMEOUT, "write");
    usleep(std::min(pause, 1000u));
  }
}

void ping(const Sample &sample, int64_t time) {
  std::vector<int64_t> rtt;
  rtt.reserve(static_cast<size_t>(time / 2000));
  const int64_t warm = now() + warm_up, end = warm + time;
  for (int64_t sent = now(), came; sent < end; sent = came) {
    put(sample);
    while (take(200 * ms) == 0) {
    }
    if ((came = now(), sent >= warm))
      rtt.push_back(came - sent);
  }
  std::sort(rtt.begin(), rtt.end());
  printf("%jd\n", rtt.at(rtt.size() / 2));
}

/* Writes warm-up samples, and after a pause those that count: their first byte is 1. */
void flood(Sample &sample, int64_t time) {
  for (uint8_t counts = 0; counts < 2; counts++) {
    sample.room[0] = counts;
    for (const int64_t end = now() + (counts ? time : warm_up); now() < end;)
      put(sample);
    out->wait_for_acknowledgments(Duration(5, 0));
    usleep(20000);
  }
}

void count(pid_t writer) {
  int64_t first = 0, last = 0, n = 0;
  for (int32_t taken; (taken = take(10 * ms)) > 0 || waitpid(writer, nullptr, WNOHANG) != writer;) {
    last = taken ? now() : last;
    n += first ? taken : 0;
    first = first || !taken || !samples[0].payload[0] ? first : last;
  }
  printf("%.0f\n", static_cast<double>(n) / (static_cast<double>(last - first) / 1e9));
}

} // namespace

int main(int argc, char **argv) {
  const bool latency = argc > 1 && strcmp(argv[1], "latency") == 0, shm = argc == 7 && strcmp(argv[6], "shm") == 0;
  if (argc > 1 && !latency && strcmp(argv[1], "throughput") != 0)
    return 3; /* unknown workload */
  if (argc < 6 || argc > 7 || (argc == 7 && !shm && strcmp(argv[6], "udp4") != 0))
    return fprintf(stderr, "usage: bare latency|throughput SIZE MS CORE CORE [udp4|shm]\n"), 2;
  const int32_t size = atoi(argv[2]), time_ms = atoi(argv[3]);
  Sample sample;
  sample.room.resize(sample.size = static_cast<uint32_t>(size));
  sample.payload = sample.room.data();
  const pid_t child = fork();
  alarm(static_cast<unsigned>(time_ms) / 1000 + 30);
  signal(SIGTERM, [](int) { over = 1; });
  cpu_set_t cores{};
  const bool first = (child != 0) == latency; /* the parent pings, or writes */
  CPU_SET(static_cast<size_t>(atoi(argv[first ? 4 : 5])), &cores);
  must(sched_setaffinity(0, sizeof cores, &cores) == 0, "sched_setaffinity");
  const char *const to_reader = latency ? "Ping" : "Data", *const to_writer = latency ? "Pong" : nullptr;
  open_endpoints(shm, size, first ? to_reader : to_writer, first ? to_writer : to_reader);
  while (child == 0 && latency && !over)
    for (int32_t n = take(20 * ms), i = 0; i < n; i++)
      put(samples[i]);
  if (child == 0 && !latency) {
    flood(sample, time_ms * ms);
  } else if (child != 0 && latency) {
    ping(sample, time_ms * ms);
    kill(child, SIGTERM);
    waitpid(child, nullptr, 0);
  } else if (child != 0) {
    count(child);
  }
  participant->delete_contained_entities();
  factory->delete_participant(participant);
  /* The library leaves these files: the ports that each process opened to send to the other. */
  for (const auto &file : std::filesystem::directory_iterator("/dev/shm")) {
    const char *const name = strstr(file.path().c_str(), "_port");
    if (child != 0 && shm && name && (atoi(name + strlen("_port")) - 7400) / 250 == domain)
      unlink(file.path().c_str());
  }
  return 0;
}
