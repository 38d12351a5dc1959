/* SPDX-License-Identifier: Apache-2.0
 *
 * net.c: what the kernel knows about interfaces and sockets. Connext prints the buffers that it was asked for; what was
 * granted the kernel tells.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

ddsmark_status interface_find(const char *name, char address[NAME_SIZE]) {
  struct ifaddrs *list = NULL;
  if (strlen(name) >= NAME_SIZE || if_nametoindex(name) == 0)
    return fail(DDSMARK_BAD_ARGUMENT,
                "interface `%s` does not exist; hint: `ip -br link` lists the interfaces of this host", name);
  if (getifaddrs(&list) != 0)
    return fail(DDSMARK_ERROR, "cannot list the interfaces of this host: getifaddrs failed");
  bool up = false, found = false;
  for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
    if (strcmp(i->ifa_name, name) != 0)
      continue;
    up |= (i->ifa_flags & IFF_UP) != 0;
    if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET)
      found = inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, address,
                        NAME_SIZE) != NULL;
  }
  freeifaddrs(list);
  if (!up)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` is down; hint: `ip link set %s up`", name, name);
  if (!found)
    return fail(DDSMARK_BAD_ARGUMENT, "interface `%s` has no IPv4 address; hint: `ip -br addr` lists the addresses",
                name);
  return DDSMARK_OK;
}

/* Over an interface without this flag Connext sends by unicast, and does not say so. */
static bool claims_multicast(const char *interface, int fd) {
  struct ifreq request = {0};
  strcpy(request.ifr_name, interface);
  return ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_MULTICAST) != 0;
}

ddsmark_status multicast_check(const char *interface) {
  const struct ip_mreqn through = {.imr_ifindex = (int)if_nametoindex(interface)};
  struct sockaddr_in group = {.sin_family = AF_INET, .sin_port = htons(7400)};
  inet_pton(AF_INET, "239.255.1.1", &group.sin_addr);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool claims = strlen(interface) < IFNAMSIZ && claims_multicast(interface, fd);
  /* Connecting looks for the way, and sends nothing. */
  const bool fine = setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &through, sizeof through) == 0 &&
                    connect(fd, (const struct sockaddr *)&group, sizeof group) == 0;
  const int failure = errno;
  if (fd >= 0)
    close(fd);
  if (fine && claims)
    return DDSMARK_OK;
  return fail(DDSMARK_UNSUPPORTED, "no multicast by udp4 over interface `%s`: %s; hint: `ip link set %s multicast on`",
              interface, claims ? strerror(failure) : "it is not switched on there", interface);
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

/* RTPS 2.5 section 9.6.2: a domain has 250 ports, from 7400 + 250 * domain. */
static bool receives(int fd, uint32_t domain) {
  struct sockaddr_in name = {0};
  socklen_t size = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &size) != 0 || name.sin_family != AF_INET)
    return false;
  const uint32_t port = ntohs(name.sin_port), first = 7400 + 250 * domain;
  return port >= first && port < first + 250;
}

void sockets_visit(const socket_set *set, uint32_t domain, ddsmark_visitor visit, void *context) {
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

/* The groups of this network namespace, whoever has joined them, are in a file: a line `1<TAB>lo ...` for each
 * interface, then `<TAB>010000E0 ...` for each group, in the order of the bytes in memory. Each is then looked for in
 * ours: who has not joined cannot be asked for its filter. */
bool sockets_groups(const socket_set *set, bool *joined) {
  char line[256];
  unsigned interface = 0;
  FILE *file = fopen("/proc/self/net/igmp", "re");
  if (file == NULL)
    return false;
  *joined = false;
  while (fgets(line, sizeof line, file)) {
    struct sockaddr_in group = {.sin_family = AF_INET};
    if (line[0] != '\t') {
      interface = (unsigned)strtoul(line, NULL, 10);
    } else if (sscanf(line, "%8x", &group.sin_addr.s_addr) == 1) {
      for (uint32_t i = 0; i < set->count; i++) {
        struct group_filter filter = {.gf_interface = interface};
        memcpy(&filter.gf_group, &group, sizeof group);
        socklen_t size = sizeof filter;
        *joined |= getsockopt(set->fds[i], IPPROTO_IP, MCAST_MSFILTER, &filter, &size) == 0;
      }
    }
  }
  fclose(file);
  return true;
}
