/* SPDX-License-Identifier: Apache-2.0
 *
 * tcp.c: RTPS over TCP between two processes of one host, one of which listens.
 *
 * The first process that opens a domain over TCP listens, at a port derived from the domain; the other one connects
 * to it. The first process owns the "door" of the domain: a socket name that the kernel gives to one process only,
 * and releases when that process ends.
 *
 * Cyclone DDS 11.0.1 has a race there. An accepted socket is added to the wait set before its connection is
 * registered (add_entry_locked in ddsi_sockwaitset.c), and a thread `recv` that wakes up in between crashes.
 * Until both ends match, `recv` of the listening process is therefore scheduled as SCHED_BATCH, which does not
 * preempt the accepting thread.
 */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Maximum time for the listening process to open its domain. */
#define PATIENCE_MS 10000
/* Maximum time for a thread to set its name. */
#define NAMED_MS 1000

/* Requests that TCP does not support are rejected, not ignored. */
ddsmark_status tcp_check(const ddsmark_participant_config *config) {
  if (config->multicast)
    return fail(DDSMARK_UNSUPPORTED,
                "multicast is not supported over `tcp4`; hint: set `multicast` to false, or use transport `udp4`");
  const ddsmark_status status =
      participants_check(config, 2, "over `tcp4` this driver connects two processes", "use transport `udp4`");
  if (status != DDSMARK_OK)
    return status;
  for (uint32_t i = 0; i < config->peer_count; i++)
    if (!is_loopback_peer(config->peers[i]) && !is_own_address(config->peers[i]))
      return fail(DDSMARK_UNSUPPORTED,
                  "peer `%s` is not supported: over `tcp4` this driver connects processes of one host only; hint: use "
                  "transport `udp4`, or run both processes on one host",
                  config->peers[i]);
  if (config->send_buffer_bytes || config->receive_buffer_bytes)
    return fail(DDSMARK_UNSUPPORTED,
                "`send_buffer` and `receive_buffer` are not supported over `tcp4`: Cyclone DDS sets no buffer sizes of "
                "TCP sockets; hint: set net.ipv4.tcp_wmem and net.ipv4.tcp_rmem with `sysctl`");
  return DDSMARK_OK;
}

/* Returns the first of the domain's ports, which RTPS 2.5 defines for UDP. */
static uint32_t port_of(uint32_t number) {
  return 7400 + 250 * number;
}

/* Creates a datagram socket for an abstract name, which leaves no file. */
static int socket_for(uint32_t number, const char *what, struct sockaddr_un *name, socklen_t *length) {
  *name = (struct sockaddr_un){.sun_family = AF_UNIX};
  const int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "ddsmark-cyclonedds-tcp-%u-%s", number, what);
  *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
  return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* Takes the name: returns a descriptor that holds it, or -1 and errno. */
static int take(uint32_t number, const char *what) {
  struct sockaddr_un name;
  socklen_t length;
  const int fd = socket_for(number, what, &name, &length);
  if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) == 0)
    return fd;
  const int failure = errno;
  close(fd);
  errno = failure;
  return -1;
}

/* Returns whether a process holds the name. */
static bool is_taken(uint32_t number, const char *what) {
  struct sockaddr_un name;
  socklen_t length;
  const int fd = socket_for(number, what, &name, &length);
  const bool taken = fd >= 0 && connect(fd, (struct sockaddr *)&name, length) == 0;
  if (fd >= 0)
    close(fd);
  return taken;
}

ddsmark_status tcp_meet(uint32_t number, const char *address, tcp_door *door, text *configuration) {
  *door = (tcp_door){.held = -1, .open = -1};
  for (int waited = 0; waited < PATIENCE_MS; waited += 5) {
    door->held = take(number, "door");
    if (door->held >= 0) {
      text_add(configuration, "<TCP><Port>%u</Port></TCP>", port_of(number));
      return DDSMARK_OK;
    }
    if (errno != EADDRINUSE)
      return fail(DDSMARK_ERROR,
                  "cannot reserve the socket name @ddsmark-cyclonedds-tcp-%u-door, which selects the listening process "
                  "of the domain: %s",
                  number, strerror(errno));
    if (is_taken(number, "open")) {
      text_add(configuration,
               "<TCP><Port>-1</Port></TCP><Discovery><Peers><Peer Address=\"%s:%u\"/></Peers></Discovery>", address,
               port_of(number));
      return DDSMARK_OK;
    }
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return fail(DDSMARK_TIMED_OUT,
              "another process has reserved domain %u over TCP, but has not listened within %d s; hint: find it with "
              "`ss -xp` as the owner of @ddsmark-cyclonedds-tcp-%u-door, and end it",
              number, PATIENCE_MS / 1000, number);
}

/* Sets the scheduling policy of the receiving threads of this process. Returns whether there are any: a new thread
 * sets its name only after it has started. */
static bool schedule_receivers(int policy) {
  bool found = false;
  DIR *dir = opendir("/proc/self/task");
  for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
    char path[64], name[16] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", entry->d_name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
      continue;
    if (fgets(name, sizeof name, file) && strcmp(name, "recv\n") == 0)
      found |= sched_setscheduler((pid_t)strtol(entry->d_name, NULL, 10), policy, &(struct sched_param){0}) == 0;
    fclose(file);
  }
  if (dir)
    closedir(dir);
  return found;
}

void tcp_opened(uint32_t number, tcp_door *door) {
  if (door->held < 0)
    return;
  for (int waited = 0; !schedule_receivers(SCHED_BATCH) && waited < NAMED_MS; waited++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  door->waits = true;
  door->open = take(number, "open");
}

void tcp_matched(tcp_door *door) {
  if (!door->waits)
    return;
  door->waits = false;
  schedule_receivers(SCHED_OTHER);
}

void tcp_leave(tcp_door *door) {
  if (door->open >= 0)
    close(door->open);
  if (door->held >= 0)
    close(door->held);
  *door = (tcp_door){.held = -1, .open = -1};
}
