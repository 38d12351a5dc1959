/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.c: the least program that measures Cyclone DDS, to see what ddsmark adds.
 *
 *     bare latency SIZE SECONDS       prints the median round trip in ns
 *     bare throughput SIZE SECONDS    prints the samples per second that the reader got, over its own window
 *
 * Two processes over loopback, reliable, keep-all, waitset, no batching, configured as the driver does. Nothing is
 * stamped into the payload, checked or counted but what the figure needs.
 */
#include "Sample.h"
#include "dds/dds.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DOMAIN = 77, TAKE = 256, WARM_UP_MS = 200 };

static const char configuration[] =
    "<General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>"
    "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex>"
    "<Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>"
    "<Internal><SocketReceiveBufferSize min=\"default\" max=\"8388608 B\"/></Internal>";

static dds_entity_t participant, out, in, waitset;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(dds_return_t rc, const char *what) {
  if (rc < 0) {
    fprintf(stderr, "bare: %s: %s\n", what, dds_strretcode(-rc));
    exit(1);
  }
}

static void open_endpoints(const char *writes, const char *reads) {
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  dds_qset_resource_limits(qos, 10000, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  must(participant = dds_create_participant(DOMAIN, NULL, NULL), "participant");
  if (writes)
    must(out =
             dds_create_writer(participant, dds_create_topic(participant, &Sample_desc, writes, NULL, NULL), qos, NULL),
         "writer");
  if (reads) {
    must(in = dds_create_reader(participant, dds_create_topic(participant, &Sample_desc, reads, NULL, NULL), qos, NULL),
         "reader");
    must(waitset = dds_create_waitset(participant), "waitset");
    must(dds_waitset_attach(waitset, dds_create_readcondition(in, DDS_ANY_STATE), 0), "attach");
  }
  dds_delete_qos(qos);
  dds_publication_matched_status_t p = {.current_count = 1};
  dds_subscription_matched_status_t s = {.current_count = 1};
  do {
    dds_sleepfor(DDS_MSECS(1));
    if (out)
      dds_get_publication_matched_status(out, &p);
    if (in)
      dds_get_subscription_matched_status(in, &s);
  } while (p.current_count == 0 || s.current_count == 0);
  dds_sleepfor(DDS_MSECS(100));
}

static Sample memory[TAKE];
static void *samples[TAKE];

/* Samples are taken into memory made once: loans cost more, up to a third of the rate of small samples. */
static void make_memory(uint32_t size) {
  for (int i = 0; i < TAKE; i++) {
    memory[i].payload = (dds_sequence_octet){._maximum = size, ._buffer = dds_alloc(size), ._release = true};
    samples[i] = &memory[i];
  }
}

/* Waits for samples, and echoes each where there is a writer. Returns how many valid ones came. */
static int take(dds_duration_t timeout, bool echo) {
  static dds_sample_info_t infos[TAKE];
  if (dds_waitset_wait(waitset, NULL, 0, timeout) <= 0)
    return 0;
  int valid = 0;
  const int n = dds_take(in, samples, infos, TAKE, TAKE);
  must(n, "take");
  for (int i = 0; i < n; i++) {
    if (!infos[i].valid_data)
      continue;
    valid++;
    if (echo)
      must(dds_write(out, samples[i]), "echo");
  }
  return valid;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void ping(Sample *sample, uint64_t seconds) {
  open_endpoints("Ping", "Pong");
  const size_t capacity = 500000 * seconds;
  uint64_t *rtt = malloc(capacity * sizeof *rtt);
  size_t n = 0;
  const uint64_t warm = now() + WARM_UP_MS * 1000000ull, end = warm + seconds * 1000000000ull;
  for (uint64_t sent = now(); sent < end && n < capacity;) {
    must(dds_write(out, sample), "write");
    while (take(DDS_SECS(1), false) == 0) {
    }
    const uint64_t came = now();
    if (sent >= warm)
      rtt[n++] = came - sent;
    sent = came;
  }
  qsort(rtt, n, sizeof *rtt, ascending);
  printf("%llu\n", (unsigned long long)rtt[n / 2]);
  free(rtt);
}

static void flood(Sample *sample, uint64_t seconds) {
  open_endpoints("Flood", NULL);
  for (const uint64_t end = now() + WARM_UP_MS * 1000000ull + seconds * 1000000000ull; now() < end;)
    must(dds_write(out, sample), "write");
  must(dds_wait_for_acks(out, DDS_SECS(5)), "acknowledgments");
}

static void count(void) {
  open_endpoints(NULL, "Flood");
  uint64_t first = 0, last = 0, n = 0, warm = 0;
  while (last == 0 || now() - last < 300000000u) {
    const int taken = take(DDS_MSECS(10), false);
    if (taken == 0)
      continue;
    last = now();
    if (warm == 0)
      warm = last + WARM_UP_MS * 1000000ull;
    if (first == 0 && last >= warm)
      first = last;
    else if (first)
      n += (uint64_t)taken;
  }
  printf("%.0f\n", (double)n / ((double)(last - first) / 1e9));
}

int main(int argc, char **argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: bare latency|throughput SIZE SECONDS\n"), 2;
  const bool latency = strcmp(argv[1], "latency") == 0;
  const uint64_t size = strtoull(argv[2], NULL, 10), seconds = strtoull(argv[3], NULL, 10);
  Sample sample = {.payload = {._length = (uint32_t)size, ._maximum = (uint32_t)size, ._buffer = calloc(1, size)}};
  make_memory((uint32_t)size);
  setenv("CYCLONEDDS_URI", configuration, 0);
  const pid_t child = fork();
  alarm((unsigned)seconds + 30);
  if (child == 0 && latency) {
    open_endpoints("Pong", "Ping");
    for (;;) /* until killed by the parent */
      take(DDS_MSECS(100), true);
  } else if (child == 0) {
    flood(&sample, seconds);
  } else if (latency) {
    ping(&sample, seconds);
    kill(child, SIGKILL);
  } else {
    count();
  }
  if (child)
    waitpid(child, NULL, 0);
  dds_delete(participant);
  return 0;
}
