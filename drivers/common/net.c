/* SPDX-License-Identifier: Apache-2.0
 *
 * net.c: interfaces and sockets, from the kernel. No middleware reports its sockets and the granted buffer sizes.
 */
#include "common.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static ddsmark_status interface_find(const char *name, bool ipv6, net_interface *out) {
  struct ifaddrs *list = NULL;
  if (strlen(name) >= sizeof out->name || if_nametoindex(name) == 0)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` does not exist; hint: list the interfaces with `ip -br link`",
                name);
  if (getifaddrs(&list) != 0)
    return fail(DDSMARK_ERROR, "cannot list the interfaces of this host: getifaddrs() failed: %s", strerror(errno));
  bool up = false, found = false;
  for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
    if (strcmp(i->ifa_name, name) != 0)
      continue;
    up |= (i->ifa_flags & IFF_UP) != 0;
    out->loopback = (i->ifa_flags & IFF_LOOPBACK) != 0;
    out->multicast = (i->ifa_flags & IFF_MULTICAST) != 0;
    if (i->ifa_addr == NULL || i->ifa_addr->sa_family != (ipv6 ? AF_INET6 : AF_INET))
      continue;
    const void *bytes = ipv6 ? (const void *)&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr
                             : (const void *)&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
    /* A link-local address needs a scope, which a peer's address cannot have: use it only if there is no other. */
    if (found && ipv6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes))
      continue;
    found = inet_ntop(i->ifa_addr->sa_family, bytes, out->address, sizeof out->address) != NULL;
    if (found && !(ipv6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes)))
      break;
  }
  freeifaddrs(list);
  if (!up)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` is down; hint: activate it with `ip link set %s up`", name, name);
  if (!found)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` has no %s address; hint: list the addresses with `ip -br addr`",
                name, ipv6 ? "IPv6" : "IPv4");
  strcpy(out->name, name);
  return DDSMARK_OK;
}

bool is_loopback_peer(const char *peer) {
  return strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0 || strcasecmp(peer, "localhost") == 0;
}

bool is_own_address(const char *address) {
  struct ifaddrs *list = NULL;
  unsigned char wanted[sizeof(struct in6_addr)];
  const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
  if (inet_pton(family, address, wanted) != 1 || getifaddrs(&list) != 0)
    return false;
  bool found = false;
  for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
    if (i->ifa_addr == NULL || i->ifa_addr->sa_family != family)
      continue;
    found = family == AF_INET6
                ? memcmp(&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, wanted, 16) == 0
                : memcmp(&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, wanted, 4) == 0;
  }
  freeifaddrs(list);
  return found;
}

ddsmark_status interface_choose(const ddsmark_participant_config *config, bool ipv6, net_interface *out) {
  bool elsewhere = config->vendor_defaults != 0;
  for (uint32_t i = 0; i < config->peer_count; i++)
    elsewhere |= !is_loopback_peer(config->peers[i]);
  *out = (net_interface){0};
  if (config->interface == NULL && elsewhere)
    return DDSMARK_OK;
  return interface_find(config->interface ? config->interface : "lo", ipv6, out);
}

/* -- sockets ------------------------------------------------------------------------------------------------------- */

static bool option_of(int fd, int option, int *value) {
  socklen_t size = sizeof *value;
  return getsockopt(fd, SOL_SOCKET, option, value, &size) == 0;
}

void sockets_now(socket_set *out) {
  out->count = 0;
  DIR *dir = opendir("/proc/self/fd");
  if (dir == NULL)
    return;
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL && out->count < MAX_SOCKETS;) {
    char *end = NULL;
    const long fd = strtol(entry->d_name, &end, 10);
    int family = 0;
    if (end != entry->d_name && *end == '\0' && option_of((int)fd, SO_DOMAIN, &family) &&
        (family == AF_INET || family == AF_INET6))
      out->fds[out->count++] = (int)fd;
  }
  closedir(dir);
}

void sockets_subtract(socket_set *set, const socket_set *before) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t b = 0;
    while (b < before->count && before->fds[b] != set->fds[i])
      b++;
    if (b == before->count)
      set->fds[kept++] = set->fds[i];
  }
  set->count = kept;
}

/* Returns the offset of the port of a socket above the first one of the domain, or -1 if it is not a port of the
 * domain. */
static int port_offset(int fd, uint32_t domain) {
  struct sockaddr_storage name = {0};
  socklen_t size = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &size) != 0)
    return -1;
  const uint16_t port = name.ss_family == AF_INET ? ((const struct sockaddr_in *)(const void *)&name)->sin_port
                                                  : ((const struct sockaddr_in6 *)(const void *)&name)->sin6_port;
  const int offset = (int)ntohs(port) - (int)(7400 + 250 * domain);
  return offset < 250 ? offset : -1;
}

bool is_port_of_domain(int fd, uint32_t domain) {
  return port_offset(fd, domain) >= 0;
}

int sockets_participant_index(const socket_set *set, uint32_t domain) {
  int highest = -1;
  for (uint32_t i = 0; i < set->count; i++) {
    const int offset = port_offset(set->fds[i], domain);
    if (offset >= 10 && (offset - 10) / 2 > highest)
      highest = (offset - 10) / 2;
  }
  return highest;
}

void sockets_visit(const socket_set *set, uint32_t domain, socket_test receives, ddsmark_visitor visit, void *context) {
  int receive = 0, send = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    int value = 0;
    const bool receiver = receives(set->fds[i], domain);
    if (!option_of(set->fds[i], receiver ? SO_RCVBUF : SO_SNDBUF, &value))
      continue;
    int *least = receiver ? &receive : &send;
    if (*least == 0 || value < *least)
      *least = value;
  }
  char number[16];
  if (receive) {
    snprintf(number, sizeof number, "%d", receive);
    visit(context, "receive_buffer_bytes", number);
  }
  if (send) {
    snprintf(number, sizeof number, "%d", send);
    visit(context, "send_buffer_bytes", number);
  }
  char limit[24] = "";
  FILE *file = set->count ? fopen("/proc/sys/net/core/rmem_max", "re") : NULL;
  if (file == NULL)
    return;
  if (fgets(limit, sizeof limit, file)) {
    limit[strcspn(limit, "\n")] = '\0';
    visit(context, "receive_buffer_limit_bytes", limit);
  }
  fclose(file);
}

/* -- multicast ----------------------------------------------------------------------------------------------------- */

typedef union group {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_storage room;
} group;

/* The multicast group of DDS: RTPS 2.5, section 9.6.2, and its counterpart for IPv6. */
static group group_of(bool ipv6, unsigned interface) {
  group g = {.room.ss_family = ipv6 ? AF_INET6 : AF_INET};
  if (ipv6) {
    g.v6.sin6_port = htons(7400);
    g.v6.sin6_scope_id = interface;
    inet_pton(AF_INET6, "ff02::ffff:239.255.0.1", &g.v6.sin6_addr);
  } else {
    g.v4.sin_port = htons(7400);
    inet_pton(AF_INET, "239.255.0.1", &g.v4.sin_addr);
  }
  return g;
}

ddsmark_status multicast_check(const net_interface *interface, bool ipv6) {
  const char *name = interface->name, *transport = ipv6 ? "udp6" : "udp4";
  if (name[0] == '\0')
    return DDSMARK_OK;
  /* The kernel delivers multicast within this host even so, but no other host gets it, and middlewares do not send it.
   */
  if (!interface->multicast && !interface->loopback)
    return fail(DDSMARK_UNSUPPORTED,
                "multicast over `%s` is not possible on interface `%s`: multicast is disabled there; hint: enable "
                "multicast with `ip link set dev %s multicast on`",
                transport, name, name);
  const unsigned index = if_nametoindex(name);
  const group g = group_of(ipv6, index);
  const struct ip_mreqn through = {.imr_ifindex = (int)index};
  const int fd = socket(g.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int set = ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index)
                       : setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &through, sizeof through);
  /* connect() looks up the route and sends nothing. */
  const int failure = set == 0 && connect(fd, &g.any, ipv6 ? sizeof g.v6 : sizeof g.v4) == 0 ? 0 : errno;
  if (fd >= 0)
    close(fd);
  if (failure == 0)
    return DDSMARK_OK;
  const char *route = !ipv6                 ? "ip route add 224.0.0.0/4"
                      : interface->loopback ? "ip -6 route add local ff00::/8"
                                            : "ip -6 route add multicast ff00::/8";
  return fail(DDSMARK_UNSUPPORTED,
              "multicast over `%s` is not possible on interface `%s`: %s; hint: add a route with `%s dev %s%s`",
              transport, name, strerror(failure), route, name, ipv6 ? " table local" : "");
}

/* Returns whether one of the sockets has joined the group on the interface: getting the filter fails otherwise. */
static bool any_joined(const socket_set *set, const group *g, unsigned interface) {
  for (uint32_t i = 0; i < set->count; i++) {
    struct group_filter filter = {.gf_interface = interface};
    memcpy(&filter.gf_group, &g->room, sizeof g->room);
    socklen_t size = sizeof filter;
    const int level = g->any.sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (getsockopt(set->fds[i], level, MCAST_MSFILTER, &filter, &size) == 0)
      return true;
  }
  return false;
}

static void add_if_joined(const socket_set *set, const group *g, unsigned interface, text *out) {
  char address[ADDRESS_SIZE];
  const bool ipv6 = g->any.sa_family == AF_INET6;
  const void *bytes = ipv6 ? (const void *)&g->v6.sin6_addr : (const void *)&g->v4.sin_addr;
  if (any_joined(set, g, interface) && inet_ntop(g->any.sa_family, bytes, address, sizeof address))
    text_add(out, "%s%s", out->length ? "," : "", address);
}

/* The groups of this network namespace are listed in two files; each is then looked up for our sockets. igmp: a line
 * `1<TAB>lo ...` per interface, then `<TAB>010000E0 ...` per group, in memory byte order. igmp6: `1 lo
 * ff020000000000000000000000000001 ...`. */
bool sockets_groups(const socket_set *set, text *out) {
  char line[256];
  unsigned interface = 0;
  FILE *file = fopen("/proc/self/net/igmp", "re");
  if (file == NULL)
    return false;
  while (fgets(line, sizeof line, file)) {
    group g = {.room.ss_family = AF_INET};
    if (line[0] != '\t')
      interface = (unsigned)strtoul(line, NULL, 10);
    else if (sscanf(line, "%8x", &g.v4.sin_addr.s_addr) == 1)
      add_if_joined(set, &g, interface, out);
  }
  fclose(file);
  file = fopen("/proc/self/net/igmp6", "re");
  while (file && fgets(line, sizeof line, file)) {
    char digits[33];
    group g = {.room.ss_family = AF_INET6};
    if (sscanf(line, "%u %*s %32[0-9a-f]", &interface, digits) != 2)
      continue;
    for (int i = 0; i < 16; i++)
      sscanf(digits + 2 * i, "%2hhx", &g.v6.sin6_addr.s6_addr[i]);
    add_if_joined(set, &g, interface, out);
  }
  if (file)
    fclose(file);
  return !out->failed;
}
