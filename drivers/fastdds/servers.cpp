/* SPDX-License-Identifier: Apache-2.0
 *
 * servers.cpp: discovery servers. A server of the user is only contacted. That of the run is a participant of its own,
 * in the process that is the first of its host to open a participant. Of several hosts, it is on that with the lowest
 * address.
 */
#include "internal.hpp"

#include <thread>

namespace {

/* Maximum time in which a server of the user has to answer. */
const auto server_limit = std::chrono::seconds(5);

#if FASTDDS_GENERATION > 2

/* Period in which a client of the run's server looks for it until it answers; as shipped, 450 ms. */
const uint64_t sync_ns = 100000000;

/* Id of a server; its ports are within those of the domain, also of the highest one. */
const int32_t server_id = 60;

Locator locator_of(const std::string &address, uint16_t port) {
  Locator locator;
  locator.kind = LOCATOR_KIND_UDPv4;
  IpLocator::setIPv4(locator, address);
  locator.port = port;
  return locator;
}

/* Returns the address of the run's server; `own`: that of this host. */
std::string lowest_address(const Plan &plan, std::string &own) {
  own = plan.address;
  std::string lowest = own;
  for (const std::string &peer : plan.peers) {
    if (is_loopback_peer(peer.c_str()))
      continue;
    if (own.empty())
      lowest = own = address_towards(peer);
    if (is_lower(peer, lowest))
      lowest = peer;
  }
  if (lowest.empty())
    lowest = own = "127.0.0.1";
  return lowest;
}

#endif

} // namespace

ddsmark_status Server::begin(const Plan &plan, const GivenTransports &given, fast::DomainParticipantQos &qos) {
#if FASTDDS_GENERATION > 2
  if (!plan.has_server())
    return DDSMARK_OK;
  address_ = plan.server;
  port_ = plan.server_port;
  auto &client = qos.wire_protocol().builtin;
  if (plan.own_server) {
    std::string own;
    address_ = lowest_address(plan, own);
    port_ = rtps::PortParameters().get_discovery_server_port(plan.domain);
    client.discovery_config.discoveryServer_client_syncperiod = duration_of(sync_ns);
    if (address_ == own && name_.take("ddsmark-fastdds-server-" + std::to_string(plan.domain))) {
      fast::DomainParticipantQos server;
      server.name("ddsmark-server");
      server.transport().use_builtin_transports = false;
      server.transport().user_transports.push_back(udp4_of(plan, given));
      /* Participants of a process have different ids; that of the client may be set, starting with 0. */
      server.wire_protocol().participant_id = server_id;
      server.wire_protocol().builtin.discovery_config.discoveryProtocol = rtps::DiscoveryProtocol::SERVER;
      server.wire_protocol().builtin.metatrafficUnicastLocatorList.push_back(locator_of(address_, port_));
      entity_ = fast::DomainParticipantFactory::get_instance()->create_participant(plan.domain, server, nullptr,
                                                                                   fast::StatusMask::none());
      if (entity_ == nullptr)
        return fail_null("create_participant",
                         "cannot start a discovery server at " + address_ + ":" + std::to_string(port_));
    }
  }
  client.discovery_config.discoveryProtocol = rtps::DiscoveryProtocol::CLIENT;
  client.discovery_config.m_DiscoveryServers.push_back(locator_of(address_, port_));
  client.initialPeersList.clear();
#else
  (void)plan, (void)given, (void)qos;
#endif
  return DDSMARK_OK;
}

fast::DomainParticipantListener *Server::listener() {
  return port_ ? &listener_ : nullptr;
}

ddsmark_status Server::wait(const Plan &plan) {
  const auto end = std::chrono::steady_clock::now() + server_limit;
  /* That of the run may be on a host whose process is not open yet. */
  while (!plan.server.empty() && listener_.found == 0) {
    if (std::chrono::steady_clock::now() >= end)
      return fail(
          DDSMARK_BAD_ARGUMENT,
          "no discovery server answered at %s:%u within 5 s; hint: start one with `fast-discovery-server -i 0 -l %s "
          "-p %u`, or set the option `discovery_server=own`",
          address_.c_str(), port_, address_.c_str(), port_);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return DDSMARK_OK;
}

void Server::end() {
  if (entity_)
    fast::DomainParticipantFactory::get_instance()->delete_participant(entity_);
  entity_ = nullptr;
  name_.give_back();
}

void Server::visit(const Plan &plan, const fast::DomainParticipantQos &qos, ddsmark_visitor to, void *context) const {
#if FASTDDS_GENERATION > 2
  const auto &config = qos.wire_protocol().builtin.discovery_config;
  const bool is_client = config.discoveryProtocol == rtps::DiscoveryProtocol::CLIENT;
  to(context, "discovery", is_client ? "client of a server" : "simple");
  std::string servers;
  for (const Locator &locator : config.m_DiscoveryServers)
    servers += (servers.empty() ? "" : ", ") + IpLocator::ip_to_string(locator) + ":" + std::to_string(locator.port);
  if (is_client)
    to(context, "discovery_server", (servers + (plan.own_server ? ", of the run" : ", of the user")).c_str());
#else
  (void)plan, (void)qos;
  to(context, "discovery", "simple");
#endif
}
