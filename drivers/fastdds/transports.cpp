/* SPDX-License-Identifier: Apache-2.0
 *
 * transports.cpp: plan -> QoS of a participant: transports and discovery.
 *
 * Only the requested transport is enabled. Those that the library enables itself do not keep to an interface: as
 * `builtin`, they are listed here.
 */
#include "internal.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

const char flow_controller_name[] = "ddsmark";

namespace {

enum { KIND_UDP4 = 1, KIND_UDP6 = 2, KIND_TCP4 = 4 }; /* port parameters of RTPS */

/* TCP ports: those that RTPS derives from the domain for UDP, without the first one, where Cyclone DDS listens. */
const uint32_t tcp_offset = 1;
/* Minimum number of ports to which a participant connects on another host. */
const uint32_t tcp_peers = 10;
/* Within a connection RTPS has its own "logical" ports. That of discovery is the same in each participant;
 * participants are distinguished by their TCP port. */
const uint32_t tcp_discovery_offset = 10;

/* Maximum time for which a participant waits for others to open. */
std::chrono::seconds tcp_turn_limit(const Plan &plan) {
  return std::chrono::seconds(std::max(5u, plan.count));
}

uint16_t tcp_port(uint32_t domain, uint32_t index) {
  return static_cast<uint16_t>(first_port(domain) + tcp_offset + index);
}

/* Returns the discovery locator of a participant at this address and port; without an address, that of all addresses
 * where it listens. */
Locator tcp_discovery(uint32_t domain, const std::string &address = "", uint16_t port = 0) {
  Locator locator;
  locator.kind = KIND_TCP4;
  if (!address.empty())
    IpLocator::setIPv4(locator, address);
  IpLocator::setPhysicalPort(locator, port);
  IpLocator::setLogicalPort(locator, static_cast<uint16_t>(first_port(domain) + tcp_discovery_offset));
  return locator;
}

/* Returns the number of ports of a peer to which a participant connects, from the lowest. Exactly one of two
 * participants connects. If both do, the library may keep neither connection, or leave a thread that reads from one of
 * them after the transport was destroyed, which crashes the process when it exits. On this host, we connect to earlier
 * participants; later ones connect to us. Of two hosts, that with the lower address connects, to all participants of
 * the other one. */
uint32_t tcp_peers_at(const Plan &plan, const std::string &peer, uint32_t index) {
  const std::string own = plan.address.empty() ? address_towards(peer) : plan.address;
  if (peer == own || is_loopback_peer(peer.c_str()))
    return index;
  return is_lower(peer, own) ? 0 : std::max(tcp_peers, plan.count);
}

/* Returns a transport with the settings of the profiles file, if it has one of this kind. */
template <class Descriptor> std::shared_ptr<Descriptor> descriptor(const GivenTransports &given) {
  for (const auto &transport : given)
    if (const auto *same = dynamic_cast<const Descriptor *>(transport.get()))
      return std::make_shared<Descriptor>(*same);
  return std::make_shared<Descriptor>();
}

template <class Descriptor> bool has(const GivenTransports &given) {
  for (const auto &transport : given)
    if (dynamic_cast<const Descriptor *>(transport.get()))
      return true;
  return false;
}

bool has_measured(const Plan &plan, const GivenTransports &given) {
  switch (plan.transport) {
  case TRANSPORT_UDP6:
    return has<transports::UDPv6TransportDescriptor>(given);
  case TRANSPORT_TCP4:
    return has<transports::TCPv4TransportDescriptor>(given);
  case TRANSPORT_SHM:
    return has<transports::SharedMemTransportDescriptor>(given);
  default:
    return has<transports::UDPv4TransportDescriptor>(given);
  }
}

/* Sets what the experiment decides, and what is requested. */
template <class Descriptor> void set_sockets(const Plan &plan, Descriptor *transport) {
  transport->interfaceWhiteList.clear();
  if (!plan.address.empty())
    transport->interfaceWhiteList.push_back(plan.address);
  if (plan.receive_buffer)
    transport->receiveBufferSize = static_cast<uint32_t>(plan.receive_buffer);
  if (plan.send_buffer)
    transport->sendBufferSize = static_cast<uint32_t>(plan.send_buffer);
  if (plan.max_message)
    transport->maxMessageSize = static_cast<uint32_t>(plan.max_message);
  transport->maxInitialPeersRange = static_cast<uint32_t>(plan.participants);
}

template <class Descriptor> std::shared_ptr<Descriptor> sockets(const Plan &plan, const GivenTransports &given) {
  auto transport = descriptor<Descriptor>(given);
  set_sockets(plan, transport.get());
  return transport;
}

/* Adds a locator for each peer, where the library contacts every port that a participant may have. Adds one for us
 * without address and port: all allowed interfaces, and no multicast group. */
void by_unicast(const Plan &plan, int32_t kind, fast::DomainParticipantQos &qos) {
  auto &builtin = qos.wire_protocol().builtin;
  if (plan.peers.empty())
    return;
  Locator ours;
  ours.kind = kind;
  builtin.metatrafficUnicastLocatorList.push_back(ours);
  for (const std::string &address : plan.peers) {
    Locator peer;
    peer.kind = kind;
    if (kind == KIND_UDP6)
      IpLocator::setIPv6(peer, address);
    else
      IpLocator::setIPv4(peer, address);
    builtin.initialPeersList.push_back(peer);
  }
}

ddsmark_status tcp(const Plan &plan, const GivenTransports &given, PortIndex &port, fast::DomainParticipantQos &qos) {
  const char *name = transport_infos[plan.transport].name;
  /* The library retries a rejected connection only after seconds. Participants therefore open one at a time, so that
   * later ones find all earlier ones listening. */
  if (!port.wait_for_turn(name, plan.domain, tcp_turn_limit(plan)))
    return fail(DDSMARK_ERROR,
                "another process has been opening a participant of domain %u over TCP for more than %lld s; hint: end "
                "that process, or use another domain",
                plan.domain, static_cast<long long>(tcp_turn_limit(plan).count()));
  if (!port.take(name, plan.domain, tcp_ports))
    return fail(
        DDSMARK_ERROR,
        "all %u TCP ports of domain %u are in use on this host; hint: end other participants, or use another domain",
        tcp_ports, plan.domain);
  auto transport = sockets<transports::TCPv4TransportDescriptor>(plan, given);
  transport->listening_ports.clear();
  transport->add_listener_port(tcp_port(plan.domain, port.index));
  if (!plan.untuned())
    transport->enable_tcp_nodelay = true;
  if (!plan.tcp_crc || plan.profiles_file.empty())
    transport->calculate_crc = transport->check_crc = plan.tcp_crc;
  qos.transport().user_transports.push_back(transport);
  /* The logical port is set explicitly. By default the library asks a peer for the logical port of each possible
   * participant of a process, a tenth of a second apart, and does not listen in the meantime: 3.2 s for up to 32. */
  auto &builtin = qos.wire_protocol().builtin;
  builtin.metatrafficUnicastLocatorList.push_back(tcp_discovery(plan.domain));
  for (const std::string &address : plan.peers)
    for (uint32_t i = 0; i < tcp_peers_at(plan, address, port.index); i++)
      builtin.initialPeersList.push_back(tcp_discovery(plan.domain, address, tcp_port(plan.domain, i)));
  return DDSMARK_OK;
}

void shared_memory(const Plan &plan, const GivenTransports &given, PortIndex &port, fast::DomainParticipantQos &qos) {
  auto transport = descriptor<transports::SharedMemTransportDescriptor>(given);
  if (plan.segment)
    transport->segment_size(static_cast<uint32_t>(plan.segment));
  if (plan.port_queue)
    transport->port_queue_capacity(static_cast<uint32_t>(plan.port_queue));
  if (plan.max_shm_message)
    transport->max_message_size(static_cast<uint32_t>(plan.max_shm_message));
  /* By default the library tries ports until one is free. */
  if (port.take(transport_infos[plan.transport].name, plan.domain, std::max(100u, plan.count + SPARE_PARTICIPANTS)))
    qos.wire_protocol().participant_id = static_cast<int32_t>(port.index);
  qos.transport().user_transports.push_back(transport);
}

#if FASTDDS_GENERATION > 2

/* Lets the library list its transports and locators for large data, and sets what the experiment decides. */
ddsmark_status large_data(const Plan &plan, const GivenTransports &given, PortIndex &port,
                          fast::DomainParticipantQos &qos) {
  if (!given.empty() &&
      !(has<transports::SharedMemTransportDescriptor>(given) && has<transports::TCPv4TransportDescriptor>(given)))
    return fail(
        DDSMARK_INCONSISTENT,
        "profiles file `%s` has user transports, but not those of `large_data`; hint: use <builtinTransports> in the "
        "file, or set `transport` to one of the file",
        plan.profiles_file.c_str());
  rtps::BuiltinTransportsOptions options;
  options.non_blocking_send = plan.non_blocking;
  options.tcp_negotiation_timeout = static_cast<uint32_t>(plan.negotiation_ms);
  if (plan.max_message) {
    options.maxMessageSize = static_cast<uint32_t>(plan.max_message);
    /* A buffer must hold a message. */
    options.sockets_buffer_size =
        static_cast<uint32_t>(std::max({plan.max_message, plan.receive_buffer, plan.send_buffer}));
  }
  qos.setup_transports(rtps::BuiltinTransports::LARGE_DATA, options);
  for (auto &transport : qos.transport().user_transports) {
    if (auto *shm = dynamic_cast<transports::SharedMemTransportDescriptor *>(transport.get())) {
      if (has<transports::SharedMemTransportDescriptor>(given))
        *shm = *descriptor<transports::SharedMemTransportDescriptor>(given);
      if (plan.segment)
        shm->segment_size(static_cast<uint32_t>(plan.segment));
      if (plan.port_queue)
        shm->port_queue_capacity(static_cast<uint32_t>(plan.port_queue));
    } else if (auto *tcp4 = dynamic_cast<transports::TCPv4TransportDescriptor *>(transport.get())) {
      if (has<transports::TCPv4TransportDescriptor>(given))
        *tcp4 = *descriptor<transports::TCPv4TransportDescriptor>(given);
      else
        tcp4->calculate_crc = tcp4->check_crc = plan.tcp_crc;
      set_sockets(plan, tcp4);
    } else if (auto *udp = dynamic_cast<transports::UDPv4TransportDescriptor *>(transport.get())) {
      if (has<transports::UDPv4TransportDescriptor>(given))
        *udp = *descriptor<transports::UDPv4TransportDescriptor>(given);
      set_sockets(plan, udp);
    }
  }
  const char *name = transport_infos[plan.transport].name;
  if (port.take(name, plan.domain, std::max(100u, plan.count + SPARE_PARTICIPANTS)))
    qos.wire_protocol().participant_id = static_cast<int32_t>(port.index);
  return DDSMARK_OK;
}

#endif

} // namespace

std::shared_ptr<transports::TransportDescriptorInterface> udp4_of(const Plan &plan, const GivenTransports &given) {
  return sockets<transports::UDPv4TransportDescriptor>(plan, given);
}

std::string address_towards(const std::string &peer) {
  sockaddr_in to{}, from{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_base);
  socklen_t size = sizeof from;
  char found[INET_ADDRSTRLEN] = "";
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && inet_pton(AF_INET, peer.c_str(), &to.sin_addr) == 1 &&
      connect(fd, reinterpret_cast<const sockaddr *>(&to), sizeof to) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr *>(&from), &size) == 0)
    inet_ntop(AF_INET, &from.sin_addr, found, sizeof found);
  if (fd >= 0)
    close(fd);
  return found;
}

bool is_lower(const std::string &one, const std::string &other) {
  in_addr left{}, right{};
  return inet_pton(AF_INET, one.c_str(), &left) == 1 && inet_pton(AF_INET, other.c_str(), &right) == 1 &&
         ntohl(left.s_addr) < ntohl(right.s_addr);
}

bool SoleName::take(const std::string &name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  /* The first byte is 0: an abstract name without a file. */
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (socket_ < 0)
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return socket_ >= 0 && bind(socket_, reinterpret_cast<const sockaddr *>(&address), size) == 0;
}

void SoleName::give_back() {
  if (socket_ >= 0)
    close(socket_);
  socket_ = -1;
}

std::string PortIndex::name_of(const char *transport, uint32_t domain, const std::string &what) {
  return "ddsmark-fastdds-" + std::string(transport) + "-" + std::to_string(domain) + "-" + what;
}

bool PortIndex::wait_for_turn(const char *transport, uint32_t domain, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!turn_.take(name_of(transport, domain, "turn"))) {
    if (std::chrono::steady_clock::now() >= end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool PortIndex::take(const char *transport, uint32_t domain, uint32_t count) {
  for (index = 0; index < count; index++) {
    if (name_.take(name_of(transport, domain, std::to_string(index))))
      return true;
  }
  return false;
}

ddsmark_status transport_apply(const Plan &plan, const GivenTransports &given, PortIndex &port,
                               fast::DomainParticipantQos &qos) {
  ddsmark_status status = DDSMARK_OK;
  if (!given.empty() && !has_measured(plan, given))
    return fail(DDSMARK_INCONSISTENT,
                "profiles file `%s` has user transports, but none of the kind `%s`; hint: set `transport` to one of "
                "the file, or remove `userTransports` from the file",
                plan.profiles_file.c_str(), transport_infos[plan.transport].name);
  qos.transport().use_builtin_transports = false;
  /* A participant tries one port after the other until one is free, as shipped 100 times. */
  auto &tries = qos.wire_protocol().builtin.mutation_tries;
  tries = std::max(tries, plan.count + SPARE_PARTICIPANTS);
  switch (plan.transport) {
  case TRANSPORT_UDP4:
  case TRANSPORT_DATA_SHARING:
    qos.transport().user_transports.push_back(udp4_of(plan, given));
    by_unicast(plan, KIND_UDP4, qos);
    break;
  case TRANSPORT_UDP6:
    qos.transport().user_transports.push_back(sockets<transports::UDPv6TransportDescriptor>(plan, given));
    by_unicast(plan, KIND_UDP6, qos);
    break;
  case TRANSPORT_TCP4:
    status = tcp(plan, given, port, qos);
    break;
  case TRANSPORT_SHM:
    shared_memory(plan, given, port, qos);
    break;
  case TRANSPORT_BUILTIN:
    qos.transport().user_transports.push_back(udp4_of(plan, given));
    shared_memory(plan, given, port, qos);
    by_unicast(plan, KIND_UDP4, qos);
    break;
  case TRANSPORT_LARGE_DATA:
#if FASTDDS_GENERATION > 2
    status = large_data(plan, given, port, qos);
#endif
    break;
  }
  if (!plan.untuned()) /* as long as other middlewares take to forget who was killed */
    qos.wire_protocol().builtin.discovery_config.leaseDuration = duration_of(UINT64_C(10000000000));
  if (plan.flow_bytes) {
    auto controller = std::make_shared<transports::FlowControllerDescriptor>();
    controller->name = flow_controller_name;
    controller->max_bytes_per_period = static_cast<int32_t>(plan.flow_bytes);
    controller->period_ms = plan.flow_ms;
#if FASTDDS_GENERATION > 2
    controller->sender_thread = qos.builtin_controllers_sender_thread();
#endif
    qos.flow_controllers().push_back(controller);
  }
  return status;
}

Locator multicast_group(const Plan &plan) {
  const uint32_t data = 1; /* offset of the port of data by multicast */
  Locator group;
  group.kind = plan.ipv6() ? KIND_UDP6 : KIND_UDP4;
  if (plan.ipv6())
    IpLocator::setIPv6(group, "ff02::ffff:239.255.0.1");
  else
    IpLocator::setIPv4(group, "239.255.0.1");
  group.port = first_port(plan.domain) + data;
  return group;
}

void visit_number(ddsmark_visitor visit, void *context, const char *name, uint64_t value) {
  visit(context, name, std::to_string(value).c_str());
}

std::string flow_limit(const fast::DomainParticipantQos &qos, const std::string &name) {
  for (const auto &controller : qos.flow_controllers())
    if (controller->name == name && controller->max_bytes_per_period > 0)
      return std::to_string(controller->max_bytes_per_period) + "/" + std::to_string(controller->period_ms);
  return "";
}

/* Returns the kinds of locators. */
template <class List> std::string kinds_of(const List &list) {
  std::string kinds;
  for (const Locator &locator : list) {
    const char *kind = locator.kind == LOCATOR_KIND_UDPv4   ? "udp4"
                       : locator.kind == LOCATOR_KIND_TCPv4 ? "tcp4"
                       : locator.kind == LOCATOR_KIND_SHM   ? "shm"
                                                            : "unknown";
    kinds += (kinds.empty() ? "" : "+") + std::string(kind);
  }
  return kinds.empty() ? "none" : kinds;
}

/* The library returns the descriptors that it was given. */
void transport_visit(const Plan &plan, const fast::DomainParticipantQos &qos, const Server &server, ddsmark_visitor to,
                     void *target) {
  struct Names {
    ddsmark_visitor to;
    void *target;
    std::string all;
  } names{to, target, ""};
  const ddsmark_visitor visit = [](void *context, const char *name, const char *value) {
    auto *known = static_cast<Names *>(context);
    known->all += (known->all.empty() ? "" : ",") + std::string(name);
    known->to(known->target, name, value);
  };
  void *const context = &names;
  std::string found;
  for (const auto &transport : qos.transport().user_transports) {
    const char *name = "unknown";
    if (dynamic_cast<const transports::UDPv4TransportDescriptor *>(transport.get()))
      name = plan.transport == TRANSPORT_DATA_SHARING ? "data_sharing" : "udp4";
    else if (dynamic_cast<const transports::UDPv6TransportDescriptor *>(transport.get()))
      name = "udp6";
    else if (dynamic_cast<const transports::TCPv4TransportDescriptor *>(transport.get()))
      name = "tcp4";
    else if (dynamic_cast<const transports::SharedMemTransportDescriptor *>(transport.get()))
      name = "shm";
    found += (found.empty() ? "" : "+") + std::string(name);
  }
  const bool is_builtin = plan.transport == TRANSPORT_BUILTIN && found == "udp4+shm",
             is_large = plan.is_large() && found == "shm+tcp4+udp4";
  visit(context, "transport", is_builtin ? "builtin" : is_large ? "large_data" : found.c_str());
  if (is_builtin || is_large)
    visit(context, "transports", found.c_str());
  if (is_large) {
    const auto &wire = qos.wire_protocol();
    visit(context, "announcements_over", kinds_of(wire.builtin.metatrafficMulticastLocatorList).c_str());
    visit(context, "discovery_over", kinds_of(wire.builtin.metatrafficUnicastLocatorList).c_str());
    visit(context, "data_over", kinds_of(wire.default_unicast_locator_list).c_str());
  }
  if (plan.over_ip()) {
    visit(context, "interface", plan.interface.empty() ? "all" : plan.interface.c_str());
    if (!plan.address.empty())
      visit(context, "address", plan.address.c_str());
  }
  if (!qos.transport().user_transports.empty()) {
    const auto &first = qos.transport().user_transports.front();
    visit_number(visit, context, "max_message_size", first->maxMessageSize);
    visit_number(visit, context, "participants", first->maxInitialPeersRange);
  }
  for (const auto &transport : qos.transport().user_transports) {
    if (const auto *tcp = dynamic_cast<const transports::TCPTransportDescriptor *>(transport.get())) {
      visit(context, "tcp_nodelay", tcp->enable_tcp_nodelay ? "on" : "off");
      visit(context, "tcp_crc", tcp->calculate_crc ? "on" : "off");
#if FASTDDS_GENERATION > 2
      if (is_large) {
        visit(context, "non_blocking_send", tcp->non_blocking_send ? "on" : "off");
        visit_number(visit, context, "tcp_negotiation_timeout_ms", tcp->tcp_negotiation_timeout);
      } else
#endif
        visit_number(visit, context, "tcp_peers", qos.wire_protocol().builtin.initialPeersList.size());
    }
    if (const auto *shm = dynamic_cast<const transports::SharedMemTransportDescriptor *>(transport.get())) {
      visit_number(visit, context, "shm_segment_size", shm->segment_size());
      visit_number(visit, context, "shm_port_queue", shm->port_queue_capacity());
    }
  }
  const std::string limit = flow_limit(qos, flow_controller_name);
  if (!limit.empty())
    visit(context, "flow_controller", limit.c_str());
  visit_number(visit, context, "lease_ms", ns_of(qos.wire_protocol().builtin.discovery_config.leaseDuration) / 1000000);
  server.visit(plan, qos, visit, context);
  to(target, "as_requested", names.all.c_str());
}
