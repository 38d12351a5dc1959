/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.hpp: declarations shared by the files of this driver.
 *
 *   generation.hpp   differences between Fast DDS 2 and 3
 *   type.cpp         the types of samples
 *   generated.cpp    the same types, serialised as the code of fastddsgen does
 *   driver.cpp       function table, description, and error texts of the library
 *   config.cpp       options and configuration of the participant -> plan
 *   transports.cpp   plan -> QoS of a participant: transports and discovery
 *   servers.cpp      discovery servers
 *   profiles.cpp     the user's XML profiles as the base of all QoS
 *   participant.cpp  participants, topics, common parts of writers and readers
 *   shm.cpp          files of the library in /dev/shm
 *   policies.cpp     support of each policy
 *   qos.cpp, readback.cpp  policies, to the library and back
 *   writer.cpp, reader.cpp
 *   ../common        code shared by the drivers
 */
#ifndef DDSMARK_FASTDDS_INTERNAL_HPP
#define DDSMARK_FASTDDS_INTERNAL_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common.h"
#include "ddsmark/driver.h"
#include "generated.hpp"
#include "generation.hpp"
#include "type.hpp"

/* -- failures ------------------------------------------------------------------------------------------------------ */

/* fail() for a return code of `function` of Fast DDS, with the last error that the library has logged. */
ddsmark_status fail_dds(const ReturnCode &code, const char *function, const std::string &what);
/* fail() for a `function` that returned NULL, which means that the library could not create something. */
ddsmark_status fail_null(const char *function, const std::string &what);
/* Starts to keep the errors that the library logs; discards those kept before. */
void errors_watch();
/* Returns the last error that was kept. */
std::string errors_kept();
/* Ends the logging thread. */
void errors_end();

/* Calls a function and converts exceptions into errors, because none may cross the C boundary. */
template <class Call> ddsmark_status guarded(Call call) {
  try {
    return call();
  } catch (const std::exception &e) {
    return fail(DDSMARK_ERROR,
                "Fast DDS threw an exception: %s; hint: see the messages of Fast DDS in the log of the agent",
                e.what());
  } catch (...) {
    return fail(
        DDSMARK_ERROR,
        "Fast DDS threw an exception of an unknown type; hint: see the messages of Fast DDS in the log of the agent");
  }
}

/* -- config.cpp ---------------------------------------------------------------------------------------------------- */

enum Transport {
  TRANSPORT_UDP4,
  TRANSPORT_UDP6,
  TRANSPORT_TCP4,
  TRANSPORT_SHM,
  TRANSPORT_DATA_SHARING,
  TRANSPORT_BUILTIN,    /* UDP over IPv4, and shared memory on the same host */
  TRANSPORT_LARGE_DATA, /* LARGE_DATA: announcements by UDP, all else by TCP, and by shared memory on the same host */
};

extern const ddsmark_transport_info transport_infos[];
extern const uint32_t transport_count;
extern const ddsmark_option_info option_infos[];
extern const uint32_t option_count;

/* Configuration of a participant. 0 and "": the vendor's default. */
struct Plan {
  uint32_t domain = 0;
  Transport transport = TRANSPORT_UDP4;
  bool vendor_defaults = false;
  std::string interface;          /* "": all interfaces */
  std::string address;            /* address of that interface; "" if unknown */
  std::vector<std::string> peers; /* addresses; empty: discovery by multicast, or by shared memory */
  uint64_t receive_buffer = 0, send_buffer = 0;
  uint64_t max_message = 0, max_shm_message = 0, segment = 0, port_queue = 0;
  uint64_t participants = 0; /* for which discovery by unicast looks */
  uint32_t count = 0;        /* participants of the run; 0: unknown */
  bool multicast = false;    /* samples are sent by multicast */
  uint64_t heartbeat_ms = 0;
  int64_t response_us = -1; /* -1: the vendor default */
  uint64_t history_bytes = 0;
  uint64_t extra_samples = 0;
  bool async = false;
  uint64_t flow_bytes = 0, flow_ms = 0; /* 0: no flow controller */
  bool tcp_crc = true;
  bool non_blocking = false;   /* of `large_data` */
  uint64_t negotiation_ms = 0; /* of `large_data` */
  bool own_server = false;     /* one participant of the run has a discovery server */
  std::string server;          /* address of a discovery server; "": none, or ours */
  uint16_t server_port = 0;
  bool intraprocess = true;
  bool plain = false;           /* octets are sent as the plain type */
  bool generated = false;       /* samples are serialised as by the code of fastddsgen */
  int memory = -1;              /* MemoryManagementPolicy */
  std::string profiles_file;    /* the user's XML profiles; "": none */
  bool intraprocess_set = true; /* false: as the profiles say */
  bool publish_mode_set = true; /* false: as the profiles say */

  /* Whether settings that are not requested are left as they are. */
  bool untuned() const { return vendor_defaults || !profiles_file.empty(); }

  bool over_ip() const { return transport != TRANSPORT_SHM; }
  bool over_shm() const { return transport == TRANSPORT_SHM || transport == TRANSPORT_BUILTIN || is_large(); }
  bool is_large() const { return transport == TRANSPORT_LARGE_DATA; }
  bool has_server() const { return own_server || !server.empty(); }
  bool ipv6() const { return transport == TRANSPORT_UDP6; }
};

ddsmark_status plan_make(const ddsmark_participant_config *config, Plan &out);

/* Number of TCP ports of a domain, and so of participants on one host. */
const uint32_t tcp_ports = 249;

/* -- transports.cpp ------------------------------------------------------------------------------------------------ */

/* First port of domain 0, and distance between the first ports of two domains (RTPS 2.5, 9.6.2.3). */
const uint32_t port_base = 7400, port_gain = 250;
/* Returns the first port of a domain, which is that of all its participants. */
constexpr uint32_t first_port(uint32_t domain) {
  return port_base + port_gain * domain;
}

/* Name that only one process of this host can hold at a time. It is the name of an abstract socket, so the kernel
 * releases it however the process ends. */
class SoleName {
public:
  SoleName() = default;
  SoleName(const SoleName &) = delete;
  SoleName &operator=(const SoleName &) = delete;
  ~SoleName() { give_back(); }
  /* Takes the name. False if another process holds it. */
  bool take(const std::string &name);
  void give_back();

private:
  int socket_ = -1;
};

/* Index of a participant among those of a domain and transport on this host. No other participant has it during the
 * lifetime of this object. */
class PortIndex {
public:
  /* Waits until no other participant is being opened. False if the limit is reached. */
  bool wait_for_turn(const char *transport, uint32_t domain, std::chrono::milliseconds limit);
  /* Ends the turn: the participant is open. */
  void end_turn() { turn_.give_back(); }
  /* Takes the lowest free index. False if all are taken. */
  bool take(const char *transport, uint32_t domain, uint32_t count);
  uint32_t index = 0;

private:
  static std::string name_of(const char *transport, uint32_t domain, const std::string &what);
  SoleName turn_, name_;
};

/* Transports of the profiles file. */
using GivenTransports = std::vector<std::shared_ptr<transports::TransportDescriptorInterface>>;

ddsmark_status transport_apply(const Plan &plan, const GivenTransports &given, PortIndex &port,
                               fast::DomainParticipantQos &qos);
/* Returns the transport UDP over IPv4 of a plan. */
std::shared_ptr<transports::TransportDescriptorInterface> udp4_of(const Plan &plan, const GivenTransports &given);
/* Returns the address from which this host reaches a peer; "" if it does not. Sends nothing. */
std::string address_towards(const std::string &peer);
/* Compares two IPv4 addresses. */
bool is_lower(const std::string &one, const std::string &other);
/* Returns the group of the readers of a domain: that of RTPS for data. */
Locator multicast_group(const Plan &plan);
class Server;
void transport_visit(const Plan &plan, const fast::DomainParticipantQos &qos, const Server &server,
                     ddsmark_visitor visit, void *context);

extern const char flow_controller_name[];
/* Returns the limit of a flow controller of the participant as BYTES/MS; "" if there is none of this name, or it is
 * without a limit. */
std::string flow_limit(const fast::DomainParticipantQos &qos, const std::string &name);

/* -- servers.cpp --------------------------------------------------------------------------------------------------- */

/* Discovery server of a run: the participants of one domain discover each other through it. */
class Server {
public:
  /* Makes the participant of `qos` a client of the planned server, if there is one. Starts that of the run, if it is
   * this process that has it. */
  ddsmark_status begin(const Plan &plan, const GivenTransports &given, fast::DomainParticipantQos &qos);
  /* Returns the listener of the participant; nullptr without a server. */
  fast::DomainParticipantListener *listener();
  /* Waits until a server of the user has answered. */
  ddsmark_status wait(const Plan &plan);
  /* Ends the server. */
  void end();
  void visit(const Plan &plan, const fast::DomainParticipantQos &qos, ddsmark_visitor to, void *context) const;

private:
  class Listener : public fast::DomainParticipantListener {
  public:
    std::atomic<uint32_t> found{0};
#if FASTDDS_GENERATION > 2
    void on_participant_discovery(fast::DomainParticipant *, rtps::ParticipantDiscoveryStatus reason,
                                  const fast::ParticipantBuiltinTopicData &, bool &ignored) override {
      ignored = false;
      if (reason == rtps::ParticipantDiscoveryStatus::DISCOVERED_PARTICIPANT)
        found++;
    }
#endif
  };
  Listener listener_;
  SoleName name_;
  std::string address_;
  uint16_t port_ = 0;
  fast::DomainParticipant *entity_ = nullptr;
};

/* -- shm.cpp ------------------------------------------------------------------------------------------------------- */

/* Shared-memory files of a participant. Fast DDS chooses their names. A list with a name known to the host contains
 * name patterns of these files, so that they can be removed after a kill. */
class SharedFiles {
public:
  /* Writes the list for the transport shm. Call it before the participant is created. */
  void begin(const Plan &plan, const std::string &run_name);
  /* Writes the list for data sharing, whose files have the GUID in their name. Call it after the participant was
   * created, before its writers and readers. */
  void named(const std::string &guid);
  /* Records the existing files. Call it before the participant is deleted. */
  void closing();
  /* Removes the files that the library has left, and then the list. */
  void end();

private:
  void list(const std::string &lines);
  void drop_list();

  Transport transport_ = TRANSPORT_UDP4;
  uint32_t domain_ = 0;
  std::string path_, guid_;
  int list_ = -1; /* open while a list exists */
  std::vector<std::string> names_;
};

/* -- policies.cpp, qos.cpp, readback.cpp
 * ------------------------------------------------------------------------------- */

extern const ddsmark_policy_support policy_supports[DDSMARK_POLICY_COUNT];

using Side = side;

/* Requested configuration of a writer or reader. */
struct Wish {
  Side side;
  uint32_t type_kind;
  uint64_t max_payload; /* 0: unknown */
  bool async;
};

template <class Group, class End> struct QosSet {
  fast::TopicQos topic;
  Group group;
  End end;
  bool sets_topic = false;
};
using WriterQosSet = QosSet<fast::PublisherQos, fast::DataWriterQos>;
using ReaderQosSet = QosSet<fast::SubscriberQos, fast::DataReaderQos>;

/* Converts the requested policies, over the profiles of the participant. */
ddsmark_status qos_make(const ddsmark_qos *asked, const ddsmark_participant &p, const Wish &wish, WriterQosSet &out);
ddsmark_status qos_make(const ddsmark_qos *asked, const ddsmark_participant &p, const Wish &wish, ReaderQosSet &out);

/* Storage for the pointers of a ddsmark_qos that was read back. */
struct QosTexts {
  std::vector<std::string> partitions;
  std::vector<const char *> partition_names;
  std::vector<uint8_t> user_data, topic_data, group_data;
};

ddsmark_status qos_read_back(const fast::TopicQos &topic, const fast::PublisherQos &group,
                             const fast::DataWriterQos &end, QosTexts &texts, ddsmark_qos *out);
ddsmark_status qos_read_back(const fast::TopicQos &topic, const fast::SubscriberQos &group,
                             const fast::DataReaderQos &end, QosTexts &texts, ddsmark_qos *out);

/* Convert a DDS duration in ns: infinite, and values beyond an int32 of seconds, become infinite. */
Duration duration_of(uint64_t ns);
uint64_t ns_of(const Duration &duration);

void visit_number(ddsmark_visitor visit, void *context, const char *name, uint64_t value);
/* Visits the effective settings of a writer or reader beyond DDS. */
void visit_end(const fast::DataWriterQos &qos, const fast::DomainParticipantQos &participant, const Plan &plan,
               ddsmark_visitor visit, void *context);
void visit_end(const fast::DataReaderQos &qos, ddsmark_visitor visit, void *context);

/* -- profiles.cpp -------------------------------------------------------------------------------------------------- */

/* Default profiles of the user's file; without a file, all are the library's defaults. */
struct Profiles {
  std::string file;
  std::string applied, replaced; /* texts for the settings */
  bool participant = false;      /* whether the file has a profile of participants */
  GivenTransports transports;
  WriterQosSet writer;
  ReaderQosSet reader;
};

/* Chooses the file: that of the option, or of the library's environment variable. */
ddsmark_status profiles_choose(const ddsmark_participant_config *config, const char *option, std::string &file);
/* Loads the file, and starts `qos` with its participant. */
ddsmark_status profiles_load(const Plan &plan, Profiles &profiles, fast::DomainParticipantQos &qos);
/* Reads the default profiles of writers and readers. Rejects a file without default profiles. */
ddsmark_status profiles_read(Profiles &profiles, fast::DomainParticipant *entity);
/* Rejects a QoS that differs from what the file sets. */
ddsmark_status profiles_check(const Profiles &profiles, const WriterQosSet &set);
ddsmark_status profiles_check(const Profiles &profiles, const ReaderQosSet &set);
void profiles_visit(const Profiles &profiles, ddsmark_visitor visit, void *context);

/* -- participant.cpp ----------------------------------------------------------------------------------------------- */

struct TopicUse {
  fast::Topic *topic = nullptr;
  uint32_t users = 0;
};

struct ddsmark_participant {
  Plan plan;
  Profiles profiles;
  PortIndex port;
  Server server;
  thread_schedule schedule{}; /* of the thread that opened it */
  fast::DomainParticipant *entity = nullptr;
  socket_set sockets{};
  SharedFiles files;
  std::mutex lock; /* protects the fields below, and the creation and deletion of entities */
  std::map<std::string, TopicUse> topics;
  std::map<std::string, TypeOfSamples *> types;                    /* owned by the library */
  std::map<int, std::chrono::steady_clock::time_point> mute_since; /* mute connections */
  std::chrono::steady_clock::time_point looked{};                  /* when connections were last looked at */
};

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out);
ddsmark_status participant_close(ddsmark_participant *participant);
/* Ends connections that only the other side uses, if the participant may have some: the library opens new ones. Called
 * while a match is awaited. */
void end_mute_connections(ddsmark_participant *participant);
ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

/* Common parts of writers and readers. */
struct Endpoint {
  ddsmark_participant *participant = nullptr;
  std::string topic_name;
  fast::Topic *topic = nullptr;
  uint32_t kind = 0;        /* type on the wire */
  uint64_t max_payload = 0; /* of a sample; 0: unknown */
  uint64_t largest = 0;     /* payload on the wire, which may be a batch; 0: unknown */
  QosTexts texts;
  match_record matched{}; /* changed in the listener */
};

ddsmark_status endpoint_check(const Plan &plan, uint32_t type_kind, const char *topic, uint64_t max_payload,
                              uint32_t &kind);
/* Maximum size of a batch in bytes including framing, unless a single sample is larger. With the RTPS headers it
 * fits into one message of every transport, unless max_message_size is smaller. */
const uint64_t most_of_batch = 64000;
/* Checks whether samples of this kind can be batched. */
ddsmark_status batch_check(uint32_t kind);
/* Gets the topic and its type, with room for the samples. The caller holds the participant's lock. */
ddsmark_status topic_acquire(Endpoint &e, const char *name, const fast::TopicQos &qos, bool sets_qos);
void topic_release(Endpoint &e);
/* Rejects a memory policy with which the type cannot have samples of this size. */
ddsmark_status memory_check(const Plan &plan, uint64_t largest, int memory);
/* Visits the effective type of a writer or reader, if samples can have several sizes. */
void visit_type(const Endpoint &e, ddsmark_visitor visit, void *context);

/* -- writer.cpp, reader.cpp ---------------------------------------------------------------------------------------- */

void writer_fill(ddsmark_driver &table);
void reader_fill(ddsmark_driver &table);

#endif
