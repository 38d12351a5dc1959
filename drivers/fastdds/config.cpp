/* SPDX-License-Identifier: Apache-2.0
 *
 * config.cpp: configuration and options of a participant -> plan.
 *
 * Settings that this driver makes by default are the defaults of its options. With the vendor's defaults, or the
 * value `vendor` of an option, it sets nothing.
 */
#include "internal.hpp"

#include <arpa/inet.h>
#include <cstdio>
#include <cstring>
#include <sys/statvfs.h>

namespace {

/* Lengths, and the number of fragments, are uint32 in the library. */
const uint64_t max_library_payload = 2147483647u - 64u;
/* One segment of shared memory contains the whole history of a writer. */
const uint64_t max_shared_payload = 256u << 20;

const uint64_t receive_buffer = 8u << 20;
const uint64_t participants = 32;
const uint64_t heartbeat_ms = 10;
const uint64_t history_bytes = 64u << 20;
const uint64_t segment_size = 32u << 20;
const uint64_t port_queue = 1024;
const uint64_t extra_samples = 8;

const char large_samples_note[] = "a large sample is a burst of UDP datagrams, which the receive buffer must hold; "
                                  "`net.core.rmem_max` limits its size";

enum {
  OPTION_PUBLISH_MODE,
  OPTION_FLOW_CONTROLLER,
  OPTION_HEARTBEAT,
  OPTION_RESPONSE,
  OPTION_HISTORY_BYTES,
  OPTION_MEMORY,
  OPTION_PLAIN,
  OPTION_TYPE,
  OPTION_MAX_MESSAGE,
  OPTION_SEGMENT,
  OPTION_PORT_QUEUE,
  OPTION_TCP_CRC,
  OPTION_EXTRA,
  OPTION_INTRAPROCESS,
  OPTION_PARTICIPANTS,
  OPTION_PROFILES,
  OPTION_SERVER,
  OPTION_NON_BLOCKING,
  OPTION_NEGOTIATION,
};

} // namespace

const ddsmark_transport_info transport_infos[] = {
    {"udp4", max_library_payload, large_samples_note},
    {"udp6", max_library_payload, large_samples_note},
    {"tcp4", max_library_payload,
     "RTPS over TCP; within a process Fast DDS passes samples on directly, and one that a full reader rejects is lost"},
    {"shm", max_library_payload, "samples larger than the option `max_message_size` are fragmented"},
    {"data_sharing", max_shared_payload,
     "samples are in a shared-memory segment of the writer; discovery and acknowledgments use udp4"},
    {"builtin", max_library_payload, "those of Fast DDS itself: udp4, and shm between endpoints of one host"},
#if FASTDDS_GENERATION > 2
    {"large_data", max_library_payload,
     "LARGE_DATA of Fast DDS: announcements by multicast over udp4, all else over tcp4, and shm between endpoints of "
     "one "
     "host"},
#endif
};
const uint32_t transport_count = sizeof transport_infos / sizeof transport_infos[0];

const ddsmark_option_info option_infos[] = {
    {"publish_mode", "sync",
     "thread that sends samples: sync, the writing thread, or async, a thread of Fast DDS; default sync"},
    {"flow_controller", "none",
     "limit of an asynchronous writer as BYTES/MS, the maximum number of bytes in each period of that many ms, or "
     "none; default none"},
    {"heartbeat_ms", "10",
     "heartbeat period of a reliable writer in ms, 1 to 60000, or vendor, which is 3000; default 10"},
    {"heartbeat_response_us", "vendor",
     "delay of a reliable reader before it answers a heartbeat in us, 0 to 1000000; default vendor, which is 5000"},
    {"history_bytes", "67108864",
     "history size in bytes with `keep_all` and no resource limits, converted to 16 to 5000 samples, or vendor, which "
     "is 5000 samples; default 67108864"},
    {"memory", "prealloc_realloc",
     "memory policy of histories: prealloc, prealloc_realloc, dynamic, dynamic_reusable or vendor; default "
     "prealloc_realloc"},
    {"plain", "false",
     "whether samples have a type of fixed size, which a reader loans instead of copying: true or false; default "
     "false"},
    {"type", "octets",
     "code that serialises samples: octets, one copy by this driver, or generated, Fast CDR with a vector as in the "
     "code of fastddsgen; default octets"},
    {"max_message_size", nullptr,
     "maximum size of a message in bytes, 1000 to 65500, over shm and large_data to 1073741824; default 65500, over "
     "shm half "
     "of the option `shm_segment_size`"},
    {"shm_segment_size", "33554432",
     "size of the shared-memory segment of a participant in bytes, 65536 to 2147483648, or vendor, which is 524288; "
     "default 33554432, with large_data vendor, which is 8704000"},
    {"shm_port_queue", "1024",
     "maximum number of messages in the shared-memory queue of a participant, 1 to 1000000, or vendor, which is 512; "
     "default 1024, with large_data vendor, which depends on the segment"},
    {"tcp_crc", "off",
     "whether each message over TCP has a checksum that its receiver verifies: on or off; default off, as in the "
     "transports LARGE_DATA of Fast DDS"},
    {"extra_samples", "8",
     "number of samples for which a writer over data_sharing has memory beyond its history, 1 to 1000, or vendor, "
     "which is 1; default 8"},
    {"intraprocess", "off",
     "whether samples bypass the transport within a process: off or full; default off, over tcp4 full"},
    {"participants", nullptr,
     "maximum number of participants of a domain on one host for discovery by unicast, 1 to 1000, or vendor, which is "
     "discovery by multicast; default those of the run, 32 if they are unknown"},
    {"profiles_file", nullptr,
     "path of an XML profiles file of Fast DDS, whose default profiles replace the settings of this driver; default "
     "the file that FASTDDS_DEFAULT_PROFILES_FILE names, in Fast DDS 2 FASTRTPS_DEFAULT_PROFILES_FILE"},
    {"discovery_server", "none",
     "discovery server of all participants: none; own, one that a participant of the run starts and ends; or ADDRESS "
     "or "
     "ADDRESS:PORT of a running one; default none"},
    {"non_blocking_send", "off",
     "whether large_data drops a message, and sends it again later if it is reliable, instead of waiting for a full "
     "socket: on or off; default off"},
    {"tcp_negotiation_timeout_ms", "0",
     "time that large_data waits until a peer has opened a port of TCP in ms, 0 to 60000; default 0"},
};
const uint32_t option_count = sizeof option_infos / sizeof option_infos[0];

namespace {

const char *given(const ddsmark_participant_config *config, int option) {
  return option_value(config, option_infos[option].name);
}

/* Parses a number, or `vendor`, which is 0. */
ddsmark_status number(const ddsmark_participant_config *config, int option, uint64_t min, uint64_t max, uint64_t ours,
                      bool untuned, uint64_t &out) {
  const char *value = given(config, option);
  out = untuned ? 0 : ours;
  if (value && strcmp(value, "vendor") == 0) {
    out = 0;
    return DDSMARK_OK;
  }
  return option_number(config, option_infos[option].name, min, max, &out);
}

/* Parses the response delay; 0 (immediately) is a valid number here. */
ddsmark_status response(const ddsmark_participant_config *config, int64_t &out) {
  const char *value = given(config, OPTION_RESPONSE);
  if (value == nullptr || strcmp(value, "vendor") == 0)
    return DDSMARK_OK;
  uint64_t us = 0;
  const ddsmark_status status = option_number(config, option_infos[OPTION_RESPONSE].name, 0, 1000000, &us);
  out = static_cast<int64_t>(us);
  return status;
}

/* Parses one of several words. */
ddsmark_status word(const ddsmark_participant_config *config, int option, const std::vector<const char *> &words,
                    int &out) {
  const char *value = given(config, option);
  if (value == nullptr)
    return DDSMARK_OK;
  std::string known;
  for (size_t i = 0; i < words.size(); i++) {
    if (strcmp(value, words[i]) == 0) {
      out = static_cast<int>(i);
      return DDSMARK_OK;
    }
    known += (i ? ", " : "") + std::string(words[i]);
  }
  return fail(DDSMARK_BAD_ARGUMENT, "invalid value `%s` of option `%s`; hint: available: %s", value,
              option_infos[option].name, known.c_str());
}

ddsmark_status flow_controller(const ddsmark_participant_config *config, Plan &p) {
  const char *value = given(config, OPTION_FLOW_CONTROLLER);
  if (value == nullptr || strcmp(value, "none") == 0)
    return DDSMARK_OK;
  unsigned long long bytes = 0, ms = 0;
  int end = 0;
  if (value[0] < '0' || value[0] > '9' || sscanf(value, "%llu/%llu%n", &bytes, &ms, &end) != 2 || value[end] != '\0' ||
      bytes == 0 || bytes > INT32_MAX || ms == 0 || ms > 60000)
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid value `%s` of option `flow_controller`; hint: use none, or BYTES/MS such as 1000000/10",
                value);
  p.flow_bytes = bytes;
  p.flow_ms = ms;
  return DDSMARK_OK;
}

ddsmark_status words(const ddsmark_participant_config *config, Plan &p) {
  /* By TCP a participant does not connect to itself. */
  int mode = 0, plain = 0, type = 0, crc = p.untuned() && !p.is_large() ? 0 : 1, blocking = 0,
      intraprocess = p.untuned() || p.transport == TRANSPORT_TCP4 ? 1 : 0, memory = p.untuned() ? 4 : 1;
  ddsmark_status status;
  if ((status = word(config, OPTION_PUBLISH_MODE, {"sync", "async"}, mode)) ||
      (status = word(config, OPTION_PLAIN, {"false", "true"}, plain)) ||
      (status = word(config, OPTION_TYPE, {"octets", "generated"}, type)) ||
      (status = word(config, OPTION_TCP_CRC, {"on", "off"}, crc)) ||
      (status = word(config, OPTION_NON_BLOCKING, {"off", "on"}, blocking)) ||
      (status = word(config, OPTION_INTRAPROCESS, {"off", "full"}, intraprocess)) ||
      (status = word(config, OPTION_MEMORY, {"prealloc", "prealloc_realloc", "dynamic", "dynamic_reusable", "vendor"},
                     memory)))
    return status;
  static const int policies[] = {rtps::PREALLOCATED_MEMORY_MODE, rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE,
                                 rtps::DYNAMIC_RESERVE_MEMORY_MODE, rtps::DYNAMIC_REUSABLE_MEMORY_MODE, -1};
  p.publish_mode_set = p.profiles_file.empty() || given(config, OPTION_PUBLISH_MODE);
  p.intraprocess_set = p.profiles_file.empty() || given(config, OPTION_INTRAPROCESS);
  p.async = mode == 1;
  p.plain = plain == 1;
  p.generated = type == 1;
  p.tcp_crc = crc == 0;
  p.non_blocking = blocking == 1;
  p.intraprocess = intraprocess == 1;
  p.memory = policies[memory];
  if (p.plain && p.generated)
    return fail(DDSMARK_INCONSISTENT,
                "option `plain=true` excludes `type=generated`, which has a sequence; hint: remove one of the two");
  return DDSMARK_OK;
}

uint64_t segment_bytes(const Plan &p) {
  return p.segment ? p.segment : p.is_large() ? 8704000 : 512u << 10; /* vendor defaults */
}

ddsmark_status numbers(const ddsmark_participant_config *config, Plan &p) {
  const uint64_t most = UINT64_C(1) << 30;
  const bool shm = p.transport == TRANSPORT_SHM;
  /* The mode has sizes of its own. */
  const bool as_mode = p.untuned() || p.is_large();
  uint64_t max_message = 0;
  ddsmark_status status;
  if ((status = number(config, OPTION_HEARTBEAT, 1, 60000, heartbeat_ms, p.untuned(), p.heartbeat_ms)) ||
      (status = response(config, p.response_us)) ||
      (status = number(config, OPTION_HISTORY_BYTES, 1, most * 4, history_bytes, p.untuned(), p.history_bytes)) ||
      (status = number(config, OPTION_SEGMENT, 65536, 2 * most, segment_size, as_mode, p.segment)) ||
      (status = number(config, OPTION_PORT_QUEUE, 1, 1000000, port_queue, as_mode, p.port_queue)) ||
      (status = option_number(config, option_infos[OPTION_NEGOTIATION].name, 0, 60000, &p.negotiation_ms)) ||
      (status = number(config, OPTION_EXTRA, 1, 1000, extra_samples, p.untuned(), p.extra_samples)) ||
      (status = number(config, OPTION_PARTICIPANTS, 1, 1000, participants, p.untuned(), p.participants)) ||
      (status =
           number(config, OPTION_MAX_MESSAGE, 1000, shm || p.is_large() ? most : 65500, 0, p.untuned(), max_message)))
    return status;
  (shm ? p.max_shm_message : p.max_message) = max_message;
  if (p.is_large())
    return DDSMARK_OK;
  if (p.max_shm_message == 0 && !p.untuned())
    p.max_shm_message = p.segment / 2;
  if (p.over_shm() && p.max_shm_message > segment_bytes(p))
    return fail(DDSMARK_INCONSISTENT,
                "option `max_message_size` is %llu, more than `shm_segment_size`, %llu; hint: increase "
                "`shm_segment_size` or reduce `max_message_size`",
                static_cast<unsigned long long>(p.max_shm_message), static_cast<unsigned long long>(segment_bytes(p)));
  return DDSMARK_OK;
}

/* Samples are sent by multicast if their readers have a group and no address of their own. */
ddsmark_status choose_interface(const ddsmark_participant_config *config, Plan &p) {
  net_interface chosen;
  const ddsmark_status status = interface_choose(config, p.ipv6(), &chosen);
  p.interface = chosen.name;
  p.address = chosen.address;
  p.multicast = config->multicast != 0;
  if (status != DDSMARK_OK || !p.multicast)
    return status;
  if (p.transport != TRANSPORT_UDP4 && p.transport != TRANSPORT_UDP6)
    return fail(DDSMARK_UNSUPPORTED, "multicast is not supported over `%s`; hint: use transport `udp4`",
                transport_infos[p.transport].name);
  return multicast_check(&chosen, p.ipv6());
}

ddsmark_status choose_peers(const ddsmark_participant_config *config, Plan &p) {
  unsigned char bytes[16];
  for (uint32_t i = 0; i < config->peer_count; i++) {
    std::string peer = config->peers[i];
    if (peer == "localhost")
      peer = p.ipv6() ? "::1" : "127.0.0.1";
    if (inet_pton(p.ipv6() ? AF_INET6 : AF_INET, peer.c_str(), bytes) != 1)
      return fail(DDSMARK_BAD_ARGUMENT,
                  "peer `%s` is not a valid %s address; hint: list the addresses of a name with `getent ahosts %s`",
                  peer.c_str(), p.ipv6() ? "IPv6" : "IPv4", peer.c_str());
    p.peers.push_back(peer);
  }
  /* Of two participants that start together, the first one answers the second at once. By TCP a participant is only
   * discovered by its address. */
  if (p.peers.empty() && !p.address.empty() && (p.participants > 0 || p.transport == TRANSPORT_TCP4))
    p.peers.push_back(p.address);
  const char *name = option_infos[OPTION_PARTICIPANTS].name;
  if (p.participants > 0 && (!p.untuned() || option_value(config, name))) {
    /* Those that do not exist would be contacted every 3 s, also while the run measures. */
    if (config->participant_count > 0 && option_value(config, name) == nullptr)
      p.participants = config->participant_count;
    else
      return participants_raise(config, name, 0, &p.participants);
    return DDSMARK_OK;
  }
  p.participants = 4; /* vendor default if peers are given */
  if (!p.peers.empty() && config->participant_count > p.participants)
    p.participants = config->participant_count + SPARE_PARTICIPANTS;
  return DDSMARK_OK;
}

/* Parses the discovery server. It needs a transport whose discovery is by UDP. */
ddsmark_status choose_server(const ddsmark_participant_config *config, Plan &p) {
  const char *value = given(config, OPTION_SERVER), *name = option_infos[OPTION_SERVER].name;
  if (value == nullptr || strcmp(value, "none") == 0)
    return DDSMARK_OK;
  p.own_server = strcmp(value, "own") == 0;
  if (!p.own_server) {
    const std::string both = value;
    const size_t colon = both.find(':');
    const std::string port = colon == std::string::npos ? "11811" : both.substr(colon + 1);
    unsigned char bytes[4];
    const bool digits = !port.empty() && port.size() < 6 && port.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long number = digits ? std::stoul(port) : 0;
    p.server = both.substr(0, colon);
    p.server_port = static_cast<uint16_t>(number);
    if (inet_pton(AF_INET, p.server.c_str(), bytes) != 1 || number == 0 || number > UINT16_MAX)
      return fail(DDSMARK_BAD_ARGUMENT,
                  "invalid value `%s` of option `%s`; hint: use none, own, or an IPv4 address with a port, such as "
                  "127.0.0.1:11811",
                  value, name);
  }
  if (FASTDDS_GENERATION == 2)
    return fail(DDSMARK_UNSUPPORTED, "option `%s` is not supported with Fast DDS 2; hint: use Fast DDS 3", name);
  if (p.transport != TRANSPORT_UDP4 && p.transport != TRANSPORT_DATA_SHARING && p.transport != TRANSPORT_BUILTIN)
    return fail(DDSMARK_UNSUPPORTED,
                "option `%s` is not supported over `%s`; hint: use transport `udp4`, `builtin` or `data_sharing`", name,
                transport_infos[p.transport].name);
  return DDSMARK_OK;
}

/* Rejects options of a transport that is not measured. */
ddsmark_status check_transport_options(const ddsmark_participant_config *config, const Plan &p) {
  for (const int option : {OPTION_NON_BLOCKING, OPTION_NEGOTIATION})
    if (!p.is_large() && given(config, option))
      return fail(DDSMARK_INCONSISTENT,
                  "option `%s` acts on the transport `large_data` only; hint: set `transport` to "
                  "`large_data`, or remove the option",
                  option_infos[option].name);
  return DDSMARK_OK;
}

/* Limits of the transport on the number of participants. */
ddsmark_status check_participants(const ddsmark_participant_config *config, const Plan &p) {
  if (p.transport == TRANSPORT_TCP4)
    return participants_check(config, tcp_ports, "a domain has 249 TCP ports on a host", "use transport `udp4`");
  struct statvfs space {};
  if (!p.over_shm() || statvfs("/dev/shm", &space) != 0)
    return DDSMARK_OK;
  const uint64_t size = static_cast<uint64_t>(space.f_blocks) * space.f_frsize;
  const uint64_t needed = segment_bytes(p) * config->participant_count;
  if (size == 0 || needed <= size)
    return DDSMARK_OK;
  return fail(DDSMARK_INCONSISTENT,
              "the segments of %u participants need %llu MiB of shared memory, more than the %llu MiB of /dev/shm; "
              "hint: reduce `shm_segment_size`, or enlarge /dev/shm with `mount -o remount,size=%lluM /dev/shm`",
              config->participant_count, static_cast<unsigned long long>(needed >> 20),
              static_cast<unsigned long long>(size >> 20), static_cast<unsigned long long>((needed >> 20) + 64));
}

} // namespace

ddsmark_status plan_make(const ddsmark_participant_config *config, Plan &p) {
  static const foreign_variable variables[] = {
      {"FASTDDS_BUILTIN_TRANSPORTS",
       "set `transport` instead, to `large_data` for LARGE_DATA, `builtin` for DEFAULT, or "
       "`shm`, `udp4` or `udp6`"},
      {"ROS_DISCOVERY_SERVER", "set the option `discovery_server` instead, such as `--option "
                               "fastdds.discovery_server=127.0.0.1:11811`, or `=own` for "
                               "one of the run"},
      {"ROS2_EASY_MODE", "set the option `discovery_server=own`, or `transport` to `large_data`"},
      {"ROS_SUPER_CLIENT", "a run needs no super client"},
      {"FASTDDS_ENVIRONMENT_FILE", "set the variables of the file with `--env`"},
      {nullptr, nullptr}};
  ddsmark_status status;
  uint32_t transport = p.transport;
  if ((status = variables_refuse("Fast DDS", variables)) ||
      (status = config_check(config, option_infos, option_count)) ||
      (status = transport_find(config, transport_infos, transport_count, &transport)))
    return status;
  p.transport = static_cast<Transport>(transport);
  p.domain = config->domain;
  p.count = config->participant_count;
  p.vendor_defaults = config->vendor_defaults != 0;
  if ((status = profiles_choose(config, option_infos[OPTION_PROFILES].name, p.profiles_file)) ||
      (status = words(config, p)) || (status = numbers(config, p)) || (status = flow_controller(config, p)) ||
      (status = choose_interface(config, p)) || (status = choose_peers(config, p)) ||
      (status = choose_server(config, p)) || (status = check_transport_options(config, p)) ||
      (status = check_participants(config, p)))
    return status;
  if (p.transport == TRANSPORT_SHM && (config->receive_buffer_bytes || config->send_buffer_bytes))
    return fail(DDSMARK_UNSUPPORTED, "`send_buffer` and `receive_buffer` are not supported over `shm`, which has no "
                                     "sockets; hint: set the options `shm_segment_size` and `shm_port_queue` instead");
  p.receive_buffer = config->receive_buffer_bytes;
  if (p.receive_buffer == 0 && !p.untuned())
    p.receive_buffer = receive_buffer;
  p.send_buffer = config->send_buffer_bytes;
  return DDSMARK_OK;
}
