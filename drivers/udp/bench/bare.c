/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.c: minimal benchmark of a UDP socket, to measure the overhead of ddsmark.
 *
 *     bare latency|throughput SIZE MS CORE CORE [NAMESPACE ADDRESS NAMESPACE ADDRESS]
 *
 * prints the median round trip in ns, or the datagrams per second that the reader received in its own window.
 *
 * Two processes over loopback, each with one socket that blocks in recv(). The first core is that of the pinging or
 * writing process, and so are the first network namespace and address, if there are any. Payloads are not stamped or
 * checked beyond what the result needs.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP_MS = 200, LARGEST = 65507 };

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(int ok, const char *what) {
  if (!ok) {
    perror(what);
    exit(1);
  }
}

/* Opens a socket on loopback, or on a host in a network namespace: a socket stays in the one where it was opened. */
static int opened(struct sockaddr_in *address, char **host) {
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (host) {
    char path[256];
    must((size_t)snprintf(path, sizeof path, "/run/netns/%s", host[0]) < sizeof path, "bare: NAMESPACE");
    const int namespace = open(path, O_RDONLY | O_CLOEXEC);
    must(namespace >= 0 && setns(namespace, CLONE_NEWNET) == 0, path);
    close(namespace);
    must(inet_pton(AF_INET, host[1], &address->sin_addr) == 1, "bare: ADDRESS");
  }
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  socklen_t length = sizeof *address;
  must(s >= 0 && bind(s, (struct sockaddr *)address, length) == 0, "bare: bind");
  must(getsockname(s, (struct sockaddr *)address, &length) == 0, "bare: getsockname");
  const struct timeval limit = {.tv_usec = 200000};
  must(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "bare: SO_RCVTIMEO");
  return s;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static char in[LARGEST];

static void ping(int s, const char *out, size_t size, uint64_t ms) {
  const size_t capacity = 1000 * ms;
  uint64_t *rtt = malloc(capacity * sizeof *rtt);
  must(rtt != NULL, "bare: malloc");
  size_t n = 0;
  const uint64_t warm = now() + WARM_UP_MS * 1000000ull, end = warm + ms * 1000000ull;
  for (uint64_t sent = now(); sent < end && n < capacity;) {
    must(send(s, out, size, 0) == (ssize_t)size, "bare: send");
    must(recv(s, in, sizeof in, 0) == (ssize_t)size, "bare: no echo");
    const uint64_t came = now();
    if (sent >= warm)
      rtt[n++] = came - sent;
    sent = came;
  }
  qsort(rtt, n, sizeof *rtt, ascending);
  printf("%llu\n", (unsigned long long)rtt[n / 2]);
  free(rtt);
}

static void echo(int s) {
  for (;;) { /* until killed by the parent */
    const ssize_t n = recv(s, in, sizeof in, 0);
    if (n > 0)
      send(s, in, (size_t)n, 0);
  }
}

static void flood(int s, const char *out, size_t size, uint64_t ms) {
  for (const uint64_t end = now() + WARM_UP_MS * 1000000ull + ms * 1000000ull; now() < end;)
    send(s, out, size, 0);
}

static void count(int s) {
  uint64_t warm = 0, first = 0, last = 0, n = 0;
  while (last == 0 || recv(s, in, sizeof in, 0) > 0) { /* until the socket times out */
    last = now();
    if (warm == 0)
      warm = last + WARM_UP_MS * 1000000ull;
    if (first)
      n++;
    else if (last >= warm)
      first = last;
  }
  printf("%.0f\n", (double)n / ((double)(last - first) / 1e9));
}

static void run_on(const char *core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(atoi(core), &cores);
  must(sched_setaffinity(0, sizeof cores, &cores) == 0, "bare: sched_setaffinity");
}

int main(int argc, char **argv) {
  const int latency = argc > 1 && strcmp(argv[1], "latency") == 0;
  if (argc > 1 && !latency && strcmp(argv[1], "throughput") != 0)
    return 3; /* unknown workload */
  if (argc != 6 && argc != 10)
    return fprintf(stderr, "usage: bare latency|throughput SIZE MS CORE CORE [NAMESPACE ADDRESS NAMESPACE ADDRESS]\n"),
           2;
  const size_t size = strtoull(argv[2], NULL, 10);
  const uint64_t ms = strtoull(argv[3], NULL, 10);
  char *out = calloc(1, size);
  struct sockaddr_in near, far;
  /* The parent pings, or reads: the first host is that of the pinging or writing process. */
  char **hosts = argc == 10 ? argv + 6 : NULL;
  const int a = opened(&near, hosts ? hosts + (latency ? 0 : 2) : NULL);
  const int b = opened(&far, hosts ? hosts + (latency ? 2 : 0) : NULL);
  const pid_t child = fork();
  alarm((unsigned)ms / 1000 + 30);
  run_on(argv[(child != 0) == latency ? 4 : 5]);
  must(connect(child ? a : b, (struct sockaddr *)(child ? &far : &near), sizeof near) == 0, "bare: connect");
  if (child == 0 && latency) {
    echo(b);
  } else if (child == 0) {
    flood(b, out, size, ms);
  } else if (latency) {
    ping(a, out, size, ms);
    kill(child, SIGKILL);
  } else {
    count(a);
  }
  if (child)
    waitpid(child, NULL, 0);
  return 0;
}
