/* SPDX-License-Identifier: Apache-2.0
 *
 * participant.cpp: participants, topics, and common parts of writers and readers.
 */
#include "internal.hpp"

#include <chrono>
#include <cstring>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <new>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

/* Protects opening and closing as a whole, so that newly opened sockets are known to be ours, and the library's
 * switch for all participants is set before the first one. */
std::mutex opening;
uint32_t open_participants;

ddsmark_status set_library(const Plan &plan) {
  if (!plan.intraprocess_set)
    return DDSMARK_OK;
  if (open_participants == 0 && set_intraprocess(plan.intraprocess))
    return DDSMARK_OK;
  if (intraprocess_is_full() == plan.intraprocess)
    return DDSMARK_OK;
  return fail(DDSMARK_BAD_ARGUMENT, "option `intraprocess` differs from that of an open participant; hint: use the "
                                    "same value for all participants of a process");
}

/* Closes leaked sockets. Once per process the library queries the address of each interface and does not close the
 * sockets used for this. They are neither bound nor connected, unlike all others of the library. */
void close_forgotten(const socket_set &sockets) {
  for (uint32_t i = 0; i < sockets.count; i++) {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    int type = 0;
    socklen_t type_size = sizeof type;
    if (getsockopt(sockets.fds[i], SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_DGRAM &&
        getsockname(sockets.fds[i], reinterpret_cast<sockaddr *>(&name), &size) == 0 && name.sin_family == AF_INET &&
        name.sin_port == 0)
      close(sockets.fds[i]);
  }
}

/* Gets the number of segments with data of a connection. False if the socket is none. */
bool segments_of(int fd, tcp_info &info) {
  socklen_t size = sizeof info;
  int listening = 0;
  socklen_t listening_size = sizeof listening;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &listening_size) == 0 && !listening &&
         getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
}

/* Returns whether this is a connection with one message sent, one received, and nothing since. */
bool is_silent(int fd) {
  tcp_info info{};
  return segments_of(fd, info) && info.tcpi_data_segs_out == 1 && info.tcpi_data_segs_in == 1;
}

/* Ends connections that have become silent. The library requests a connection and only then records what it will
 * send on it. An answer that arrives in between is ignored, and the connection stays silent: seen in every second
 * participant that opened later than another. At this point the request is recorded. If the answer has arrived and
 * nothing followed, the connection is ended, and the library reconnects with its next announcement. */
void end_silent(const socket_set &sockets) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  for (uint32_t i = 0; i < sockets.count; i++) {
    while (is_silent(sockets.fds[i])) {
      if (std::chrono::steady_clock::now() >= end) {
        shutdown(sockets.fds[i], SHUT_RDWR);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

ddsmark_status open_locked(ddsmark_participant *p, const char *run_name) {
  fast::DomainParticipantQos qos;
  ddsmark_status status;
  socket_set before;
  sockets_now(&before);
  if ((status = profiles_load(p->plan, p->profiles, qos)) || (status = set_library(p->plan)) ||
      (status = transport_apply(p->plan, p->profiles.transports, p->port, qos)))
    return status;
  qos.name(run_name ? run_name : "ddsmark");
  errors_watch();
  thread_schedule_of(0, &p->schedule);
  p->files.begin(p->plan, run_name ? run_name : "");
  if ((status = p->server.begin(p->plan, p->profiles.transports, qos))) {
    if (open_participants == 0)
      errors_end();
    return status;
  }
  p->entity = fast::DomainParticipantFactory::get_instance()->create_participant(
      p->plan.domain, qos, p->server.listener(), fast::StatusMask::none());
  sockets_now(&p->sockets);
  sockets_subtract(&p->sockets, &before);
  /* Another participant may be about to bind a new socket. */
  if (open_participants == 0)
    close_forgotten(p->sockets);
  if (p->entity == nullptr) {
    status = fail_null("create_participant", "cannot create a participant with transport `" +
                                                 std::string(transport_infos[p->plan.transport].name) + "`");
    p->server.end();
    if (open_participants == 0)
      errors_end();
    return status;
  }
  open_participants++;
  sockets_now(&p->sockets);
  sockets_subtract(&p->sockets, &before);
  if (p->plan.transport == TRANSPORT_TCP4)
    end_silent(p->sockets);
  p->port.end_turn();
  std::ostringstream guid;
  guid << p->entity->guid().guidPrefix;
  p->files.named(guid.str());
  return DDSMARK_OK;
}

/* Others contact as many participants as the run has. One of something else may have taken the ports of ours. */
ddsmark_status check_index(const ddsmark_participant &p) {
  const int index = sockets_participant_index(&p.sockets, p.plan.domain);
  const bool by_ports = p.plan.over_ip() && p.plan.transport != TRANSPORT_TCP4 && !p.plan.is_large() &&
                        !p.plan.has_server() && !p.plan.peers.empty();
  if (!by_ports || index < 0 || static_cast<uint64_t>(index) < p.plan.participants)
    return DDSMARK_OK;
  return fail(
      DDSMARK_ERROR,
      "this participant has index %d in domain %u, because the ports of lower ones are in use on this host, and "
      "others look for %llu participants; hint: use another domain, or set the option `participants` to at "
      "least %d",
      index, p.plan.domain, static_cast<unsigned long long>(p.plan.participants), index + 1);
}

ddsmark_status close_locked(ddsmark_participant *participant) {
  participant->files.closing();
  participant->entity->delete_contained_entities();
  const ReturnCode code = fast::DomainParticipantFactory::get_instance()->delete_participant(participant->entity);
  const ddsmark_status status =
      code_of(code) == CODE_OK ? DDSMARK_OK : fail_dds(code, "delete_participant", "cannot delete the participant");
  participant->server.end();
  if (--open_participants == 0)
    errors_end();
  participant->files.end();
  return status;
}

} // namespace

/* Returns whether a connection is open, but not used. With large data, connections begin when another participant is
 * discovered. The request of a mute one was sent, and the answer ignored, so that only the other side uses it. Over
 * `tcp4` between hosts, neither side uses it. Either the answer to the request was ignored. Or the other participant
 * was listening, but had not opened its logical ports yet: it refused the port of discovery, and the library asked
 * which ports there are, opened one of those, and never asks for the first one again. That is one message of each side,
 * or four, and no further one. */
static bool is_mute(const Plan &plan, const tcp_info &info) {
  const uint32_t most_of_mute = 2, ignored = 1, refused = 4, silence_ms = 500;
  const uint32_t sent = info.tcpi_data_segs_out;
  if (plan.is_large())
    return sent > 0 && sent <= most_of_mute;
  return (sent == ignored || sent == refused) && info.tcpi_data_segs_in == sent &&
         info.tcpi_last_data_sent > silence_ms && info.tcpi_last_data_recv > silence_ms;
}

/* Ends connections that are mute for a while. The library opens new ones with its next announcement, 3 s after the one
 * before, and asks for all ports again. Over `tcp4`, the announcement after that is the first over the new one. */
void end_mute_connections(ddsmark_participant *p) {
  using clock = std::chrono::steady_clock;
  const auto between = std::chrono::milliseconds(20), limit = std::chrono::milliseconds(300);
  if (!p->plan.is_large() && p->plan.transport != TRANSPORT_TCP4)
    return;
  const std::lock_guard<std::mutex> guard(p->lock);
  const auto now = clock::now();
  if (now - p->looked < between)
    return;
  p->looked = now;
  socket_set sockets;
  sockets_now(&sockets);
  for (uint32_t i = 0; i < sockets.count; i++) {
    const int fd = sockets.fds[i];
    tcp_info info{};
    if (!segments_of(fd, info) || !is_mute(p->plan, info)) {
      p->mute_since.erase(fd);
    } else if (now - p->mute_since.emplace(fd, now).first->second > limit) {
      shutdown(fd, SHUT_RDWR);
      p->mute_since.erase(fd);
    }
  }
}

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  return guarded([&] {
    ddsmark_participant_config c;
    ddsmark_status status = config_in(config, &c);
    if (status != DDSMARK_OK)
      return status;
    auto *participant = new ddsmark_participant;
    status = plan_make(&c, participant->plan);
    if (status == DDSMARK_OK) {
      const std::lock_guard<std::mutex> guard(opening);
      status = open_locked(participant, c.run_name);
      if (status != DDSMARK_OK)
        participant->files.end();
      else if ((status = check_index(*participant)) != DDSMARK_OK ||
               (status = participant->server.wait(participant->plan)) != DDSMARK_OK ||
               (status = profiles_read(participant->profiles, participant->entity)) != DDSMARK_OK)
        close_locked(participant);
    }
    if (status == DDSMARK_OK)
      *out = participant;
    else
      delete participant;
    return status;
  });
}

ddsmark_status participant_close(ddsmark_participant *participant) {
  return guarded([&] {
    const std::lock_guard<std::mutex> guard(opening);
    const ddsmark_status status = close_locked(participant);
    delete participant;
    return status;
  });
}

ddsmark_status participant_settings(ddsmark_participant *p, ddsmark_visitor visit, void *context) {
  return guarded([&] {
    transport_visit(p->plan, p->entity->get_qos(), p->server, visit, context);
#ifdef HAVE_THREAD_SETTINGS
    static const char *const threads[] = {"dds.", nullptr};
    threads_visit(&p->schedule, threads, !p->plan.profiles_file.empty(), visit, context);
#endif
    profiles_visit(p->profiles, visit, context);
    visit(context, "intraprocess", intraprocess_is_full() ? "full" : "off");
    /* Each writer sends to what its readers announce, which it does not report. */
    visit(context, "multicast", p->plan.multicast ? "unknown" : "off");
    if (p->plan.over_ip()) {
      socket_set now;
      sockets_now(&now); /* the socket of a group is that of a reader */
      text groups{};
      if (sockets_groups(&now, &groups) && groups.length > 0)
        visit(context, "multicast_groups", groups.data);
      text_free(&groups);
      sockets_visit(&p->sockets, p->plan.domain, is_port_of_domain, visit, context);
    }
    return DDSMARK_OK;
  });
}

/* -- what writers and readers have in common ----------------------------------------------------------------------- */

namespace {

/* Returns the bound of the sequence, that of the largest sample or batch; 0: none. */
uint64_t bound_of(const Endpoint &e) {
  return e.participant->plan.transport == TRANSPORT_DATA_SHARING ? e.largest : 0;
}

/* Returns the serialised size for which the library allocates memory at first; it enlarges it as needed. */
uint32_t room_of(const Endpoint &e) {
  if (e.participant->plan.generated)
    return GeneratedType::room_for(e.kind, bound_of(e) ? static_cast<uint32_t>(bound_of(e)) : assumed_length);
  return header_size(e.kind) + static_cast<uint32_t>(e.largest ? e.largest : 1024);
}

} // namespace

ddsmark_status endpoint_check(const Plan &plan, uint32_t type_kind, const char *topic, uint64_t max_payload,
                              uint32_t &kind) {
  const ddsmark_status status = endpoint_config_check(&transport_infos[plan.transport], type_kind, topic, max_payload);
  if (status != DDSMARK_OK)
    return status;
  kind = type_kind == DDSMARK_TYPE_OCTETS && plan.plain ? static_cast<uint32_t>(DDSMARK_TYPE_PLAIN) : type_kind;
  if (kind == DDSMARK_TYPE_PLAIN && max_payload == 0)
    return fail(DDSMARK_BAD_ARGUMENT,
                "the type `plain` has no size; hint: set `max_payload_bytes` to the size of all samples");
  if (kind == DDSMARK_TYPE_PLAIN && plan.generated)
    return fail(DDSMARK_UNSUPPORTED, "the type `plain` is not supported with option `type=generated`, which has a "
                                     "sequence; hint: set `type=octets`, or remove `loans`");
  if (plan.transport == TRANSPORT_DATA_SHARING && kind == DDSMARK_TYPE_KEYED)
    return fail(DDSMARK_UNSUPPORTED, "keyed samples are not supported over `data_sharing`: Fast DDS shares no samples "
                                     "of types with a key; hint: use transport `shm`");
  if (plan.transport == TRANSPORT_DATA_SHARING && max_payload == 0)
    return fail(DDSMARK_BAD_ARGUMENT,
                "transport `data_sharing` has no maximum size of samples; hint: set `max_payload_bytes`");
  return DDSMARK_OK;
}

/* A generated type without a bound claims the size of a short sequence, which this policy takes literally. */
ddsmark_status memory_check(const Plan &plan, uint64_t largest, int memory) {
  const bool fits = largest > 0 && largest <= assumed_length;
  if (!plan.generated || plan.transport == TRANSPORT_DATA_SHARING || memory != rtps::PREALLOCATED_MEMORY_MODE || fits)
    return DDSMARK_OK;
  return fail(DDSMARK_INCONSISTENT,
              "memory policy `prealloc` has no room for samples of more than %u bytes with option `type=generated`: "
              "fastddsgen assumes that length of a sequence without a bound; hint: set `memory=prealloc_realloc`, or "
              "`type=octets`",
              assumed_length);
}

void visit_type(const Endpoint &e, ddsmark_visitor visit, void *context) {
  if (e.kind == DDSMARK_TYPE_PLAIN)
    return;
  visit(context, "type", e.participant->plan.generated ? "generated" : "octets");
  if (bound_of(e) > 0)
    visit_number(visit, context, "type_bound", bound_of(e));
}

/* One sample of the library is one batch, so its key and its size are those of the whole batch. */
ddsmark_status batch_check(uint32_t kind) {
  if (kind == DDSMARK_TYPE_KEYED)
    return fail(DDSMARK_UNSUPPORTED,
                "batching is not supported for samples with a key; hint: remove `batch_bytes` and `batch_samples`");
  if (kind == DDSMARK_TYPE_PLAIN)
    return fail(DDSMARK_UNSUPPORTED, "batching is not supported for the type `plain`, whose samples have one size; "
                                     "hint: set option `plain=false`, or remove `batch_bytes` and `batch_samples`");
  return DDSMARK_OK;
}

ddsmark_status topic_acquire(Endpoint &e, const char *name, const fast::TopicQos &qos, bool sets_qos) {
  ddsmark_participant *p = e.participant;
  const uint32_t fixed = e.kind == DDSMARK_TYPE_PLAIN ? static_cast<uint32_t>(e.max_payload) : 0;
  const std::string type_name = SampleType::name_of(e.kind, fixed);
  TypeOfSamples *&type = p->types[type_name];
  if (type == nullptr) {
    const bool bounded = p->plan.transport == TRANSPORT_DATA_SHARING || fixed > 0;
    TypeOfSamples *made = p->plan.generated ? static_cast<TypeOfSamples *>(new GeneratedType(e.kind, bounded))
                                            : new SampleType(e.kind, fixed, bounded);
    fast::TypeSupport support(made); /* the participant owns it */
    const ReturnCode code = support.register_type(p->entity, type_name);
    if (code_of(code) != CODE_OK)
      return fail_dds(code, "register_type", "cannot register type `" + type_name + "`");
    type = made;
  }
  type->set_room(room_of(e));
  TopicUse &use = p->topics[name];
  if (use.topic == nullptr) {
    use.topic = p->entity->create_topic(name, type_name, qos);
    if (use.topic == nullptr) {
      p->topics.erase(name);
      return fail_null("create_topic", "cannot create topic `" + std::string(name) + "`");
    }
  } else if (use.topic->get_type_name() != type_name) {
    return fail(DDSMARK_BAD_ARGUMENT,
                "topic `%s` has the type `%s` in this participant, not `%s`; hint: use another topic for another type",
                name, use.topic->get_type_name().c_str(), type_name.c_str());
  } else if (sets_qos) {
    const ReturnCode code = use.topic->set_qos(qos);
    if (code_of(code) != CODE_OK)
      return fail_dds(code, "set_qos",
                      "cannot change the QoS of topic `" + std::string(name) + "`, which is already open");
  }
  use.users++;
  e.topic = use.topic;
  e.topic_name = name;
  return DDSMARK_OK;
}

void topic_release(Endpoint &e) {
  const auto found = e.participant->topics.find(e.topic_name);
  if (found == e.participant->topics.end() || --found->second.users > 0)
    return;
  e.participant->entity->delete_topic(found->second.topic);
  e.participant->topics.erase(found);
}
