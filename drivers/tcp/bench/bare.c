/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.c: minimal benchmark of TCP connections, to measure the overhead of ddsmark.
 *
 *     bare latency|throughput|batched SIZE MS CORE CORE
 *
 * prints the median round trip in ns, or the samples per second that the reader received in its own window.
 *
 * Two processes over loopback, with a connection for each direction and without Nagle's algorithm, like the driver.
 * A sample is its length and its bytes; `batched` sends as many at a time as fit into 8192 bytes. The first core is
 * that of the pinging or writing process. Payloads are not stamped or checked beyond what the result needs.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP_MS = 200, BATCH = 8192, AHEAD = 128 << 10 };

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

/* Opens both ends of a connection. */
static void opened(int *from, int *to) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  must(door >= 0 && bind(door, (struct sockaddr *)&address, length) == 0 && listen(door, 1) == 0, "bare: listen");
  must(getsockname(door, (struct sockaddr *)&address, &length) == 0, "bare: getsockname");
  *to = socket(AF_INET, SOCK_STREAM, 0);
  must(connect(*to, (struct sockaddr *)&address, length) == 0, "bare: connect");
  *from = accept(door, NULL, NULL);
  must(*from >= 0 && setsockopt(*from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "bare: accept");
  close(door);
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static char *in;
static size_t room;

/* Sends a sample. Returns whether it was sent. */
static int put(int s, char *out, size_t size) {
  uint32_t length = (uint32_t)size;
  const struct iovec parts[] = {{&length, sizeof length}, {out, size}};
  ssize_t sent = writev(s, parts, 2);
  for (size_t n = (size_t)sent; sent >= 0 && n < size + sizeof length; n += (size_t)sent) {
    sent = n < sizeof length ? -1 : write(s, out + n - sizeof length, size + sizeof length - n);
    if (sent < 0)
      return 0;
  }
  return sent >= 0;
}

/* Receives one sample. Returns whether it arrived completely. */
static int get(int s, size_t size) {
  size_t n = 0;
  for (ssize_t came = 1; came > 0 && n < size + sizeof(uint32_t); n += (size_t)came)
    if ((came = recv(s, in + n, room - n, 0)) <= 0)
      return 0;
  return n == size + sizeof(uint32_t);
}

static void ping(int to, int back, char *out, size_t size, uint64_t ms) {
  const size_t capacity = 1000 * ms;
  uint64_t *rtt = malloc(capacity * sizeof *rtt);
  must(rtt != NULL, "bare: malloc");
  size_t n = 0;
  const uint64_t warm = now() + WARM_UP_MS * 1000000ull, end = warm + ms * 1000000ull;
  for (uint64_t sent = now(); sent < end && n < capacity;) {
    must(put(to, out, size), "bare: send");
    must(get(back, size), "bare: no echo");
    const uint64_t came = now();
    if (sent >= warm)
      rtt[n++] = came - sent;
    sent = came;
  }
  qsort(rtt, n, sizeof *rtt, ascending);
  printf("%llu\n", (unsigned long long)rtt[n / 2]);
  free(rtt);
}

static void flood(int s, char *out, size_t size, size_t batch, uint64_t ms) {
  const uint64_t end = now() + WARM_UP_MS * 1000000ull + ms * 1000000ull;
  const size_t frame = sizeof(uint32_t) + size, samples = batch ? batch / size + (batch < size) : 1;
  char *packed = malloc(samples * frame);
  must(packed != NULL, "bare: malloc");
  while (now() < end) {
    if (batch == 0) {
      must(put(s, out, size), "bare: send");
      continue;
    }
    for (size_t i = 0; i < samples; i++) {
      const uint32_t length = (uint32_t)size;
      memcpy(packed + i * frame, &length, sizeof length);
      memcpy(packed + i * frame + sizeof length, out, size);
    }
    for (size_t n = 0; n < samples * frame;) {
      const ssize_t sent = write(s, packed + n, samples * frame - n);
      must(sent > 0, "bare: send");
      n += (size_t)sent;
    }
  }
  free(packed);
}

static void count(int s, size_t size) {
  uint64_t warm = 0, first = 0, last = 0, bytes = 0;
  for (ssize_t came; (came = recv(s, in, room, 0)) > 0;) { /* until the writer closes */
    last = now();
    if (warm == 0)
      warm = last + WARM_UP_MS * 1000000ull;
    if (first)
      bytes += (uint64_t)came;
    else if (last >= warm)
      first = last;
  }
  printf("%.0f\n", (double)bytes / (double)(size + sizeof(uint32_t)) / ((double)(last - first) / 1e9));
}

static void run_on(const char *core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(atoi(core), &cores);
  must(sched_setaffinity(0, sizeof cores, &cores) == 0, "bare: sched_setaffinity");
}

int main(int argc, char **argv) {
  const int latency = argc > 1 && strcmp(argv[1], "latency") == 0;
  const int batched = argc > 1 && strcmp(argv[1], "batched") == 0;
  if (argc > 1 && !latency && !batched && strcmp(argv[1], "throughput") != 0)
    return 3; /* unknown workload */
  if (argc != 6)
    return fprintf(stderr, "usage: bare latency|throughput|batched SIZE MS CORE CORE\n"), 2;
  const size_t size = strtoull(argv[2], NULL, 10);
  const uint64_t ms = strtoull(argv[3], NULL, 10);
  char *out = calloc(1, size);
  room = sizeof(uint32_t) + size + AHEAD;
  in = malloc(room);
  int there[2], back[2];
  opened(&there[0], &there[1]);
  opened(&back[0], &back[1]);
  const pid_t child = fork();
  alarm((unsigned)ms / 1000 + 30);
  run_on(argv[(child != 0) == latency ? 4 : 5]); /* the parent pings, or reads */
  if (child == 0 && latency) {
    close(there[0]); /* the end of the parent closes it */
    while (get(there[1], size) && put(back[0], out, size))
      ;
  } else if (child == 0) {
    flood(there[0], out, size, batched ? BATCH : 0, ms);
  } else if (latency) {
    ping(there[0], back[1], out, size, ms);
    kill(child, SIGKILL);
  } else {
    close(there[0]); /* the only writing end is that of the child */
    count(there[1], size);
  }
  if (child)
    waitpid(child, NULL, 0);
  return 0;
}
