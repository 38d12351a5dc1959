/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.c: minimal benchmark of Cyclone DDS, to measure the overhead of ddsmark. Prints the median round trip in ns,
 * or the samples per second that the reader received in its own window; `batched` flushes after every 8192 bytes.
 * Two processes over loopback, configured like the driver; the first core is that of the pinging or writing process.
 * Payloads are not stamped or checked beyond what the result needs.
 */
#include "Sample.h"
#include "dds/dds.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DOMAIN = 77, TAKE = 256, BATCH_BYTES = 8192 };
static const dds_time_t WARM_UP = DDS_MSECS(200);

static const char configuration[] =
    "<General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces><AllowMulticast>false</AllowMulticast>"
    "<MaxMessageSize>65500 B</MaxMessageSize><FragmentSize>65000 B</FragmentSize></General>"
    "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex>"
    "<Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>"
    "<Internal><SocketReceiveBufferSize min=\"default\" max=\"8388608 B\"/></Internal>";

static dds_entity_t participant, out, in, waitset;
static bool batched;
static Sample memory[TAKE]; /* created once and reused for each take: loans cost more */
static void *samples[TAKE];

static dds_return_t must(dds_return_t rc, const char *what) {
  return rc >= 0 ? rc : (fprintf(stderr, "bare: %s: %s\n", what, dds_strretcode(-rc)), exit(1), rc);
}

static dds_entity_t topic(const char *name) {
  return must(dds_create_topic(participant, &Sample_desc, name, NULL, NULL), name);
}

static void open_endpoints(const char *writes, const char *reads) {
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  dds_qset_resource_limits(qos, 10000, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
#ifdef HAVE_WRITER_BATCHING_QOS
  dds_qset_writer_batching(qos, batched);
#else
  dds_write_set_batch(batched);
#endif
  participant = must(dds_create_participant(DOMAIN, NULL, NULL), "participant");
  if (writes)
    out = must(dds_create_writer(participant, topic(writes), qos, NULL), "writer");
  if (reads) {
    in = must(dds_create_reader(participant, topic(reads), qos, NULL), "reader");
    waitset = must(dds_create_waitset(participant), "waitset");
    must(dds_set_status_mask(in, DDS_DATA_AVAILABLE_STATUS), "status");
    must(dds_waitset_attach(waitset, in, 0), "attach");
  }
  dds_delete_qos(qos);
  while ((out && dds_get_matched_subscriptions(out, NULL, 0) <= 0) ||
         (in && dds_get_matched_publications(in, NULL, 0) <= 0))
    dds_sleepfor(DDS_MSECS(1));
  dds_sleepfor(DDS_MSECS(100));
}

/* Takes samples and returns the number of valid ones. */
static int take(dds_duration_t timeout) {
  static dds_sample_info_t infos[TAKE];
  static int n = TAKE; /* more may be available, and the status is reset */
  if (n < TAKE && dds_waitset_wait(waitset, NULL, 0, timeout) <= 0)
    return 0;
  int valid = 0;
  n = must(dds_take(in, samples, infos, TAKE, TAKE), "take");
  for (int i = 0; i < n; i++)
    valid += infos[i].valid_data;
  return valid;
}

static int ascending(const void *a, const void *b) {
  const dds_time_t x = *(const dds_time_t *)a, y = *(const dds_time_t *)b;
  return (x > y) - (x < y);
}

static void ping(Sample *sample, dds_duration_t time, size_t capacity) {
  dds_time_t *rtt = malloc(capacity * sizeof *rtt);
  size_t n = 0;
  const dds_time_t warm = dds_time() + WARM_UP, end = warm + time;
  for (dds_time_t sent = dds_time(), came; sent < end && n < capacity; sent = came) {
    must(dds_write(out, sample), "write");
    while (take(DDS_MSECS(200)) == 0) {
    }
    if ((came = dds_time(), sent >= warm))
      rtt[n++] = came - sent;
  }
  qsort(rtt, n, sizeof *rtt, ascending);
  printf("%lld\n", (long long)rtt[n / 2]);
}

static void flush(void) {
#ifdef HAVE_FLUSH_RESULT
  must(dds_write_flush(out), "flush");
#else
  dds_write_flush(out);
#endif
}

/* Writes warm-up samples, and after a pause those that count: their first byte is 1. */
static void flood(Sample *sample, dds_duration_t time) {
  const uint32_t per_flush = batched ? BATCH_BYTES / sample->payload._length : UINT32_MAX;
  for (uint8_t counts = 0; counts < 2; counts++) {
    sample->payload._buffer[0] = counts;
    const dds_time_t end = dds_time() + (counts ? time : WARM_UP);
    for (uint32_t written = 1; dds_time() < end; written++) {
      must(dds_write(out, sample), "write");
      if (written % per_flush == 0)
        flush();
    }
    flush();
    must(dds_wait_for_acks(out, DDS_SECS(5)), "acknowledgments");
    dds_sleepfor(DDS_MSECS(20));
  }
}

static void count(pid_t writer) {
  dds_time_t first = 0, last = 0;
  uint64_t n = 0;
  for (int taken; (taken = take(DDS_MSECS(10))) > 0 || waitpid(writer, NULL, WNOHANG) != writer;) {
    last = taken ? dds_time() : last;
    n += first ? (uint64_t)taken : 0;
    first = first || !taken || !memory[0].payload._buffer[0] ? first : last;
  }
  printf("%.0f\n", (double)n / ((double)(last - first) / 1e9));
}

int main(int argc, char **argv) {
  if (argc != 6)
    return fprintf(stderr, "usage: bare latency|throughput|batched SIZE MS CORE CORE\n"), 2;
  const bool latency = strcmp(argv[1], "latency") == 0;
  batched = strcmp(argv[1], "batched") == 0;
  if (!latency && !batched && strcmp(argv[1], "throughput") != 0)
    return 3; /* unknown workload */
  const uint32_t size = (uint32_t)strtoul(argv[2], NULL, 10), ms = (uint32_t)strtoul(argv[3], NULL, 10);
  Sample sample = {{._length = size, ._maximum = size, ._buffer = calloc(1, size)}};
  for (int i = 0; i < TAKE; samples[i] = &memory[i], i++)
    memory[i].payload = (dds_sequence_octet){._maximum = size, ._buffer = dds_alloc(size), ._release = true};
  setenv("CYCLONEDDS_URI", configuration, 0);
  const pid_t child = fork();
  alarm(ms / 1000 + 30);
  cpu_set_t cores;
  const bool first = (child != 0) == latency; /* the parent pings, or writes */
  CPU_ZERO(&cores);
  CPU_SET(atoi(argv[first ? 4 : 5]), &cores);
  must(sched_setaffinity(0, sizeof cores, &cores), "sched_setaffinity");
  const char *const to_reader = latency ? "Ping" : "Data", *const to_writer = latency ? "Pong" : NULL;
  open_endpoints(first ? to_reader : to_writer, first ? to_writer : to_reader);
  while (child == 0 && latency) /* until killed by the parent */
    for (int n = take(DDS_MSECS(20)), i = 0; i < n; i++)
      must(dds_write(out, samples[i]), "echo");
  if (child == 0)
    flood(&sample, DDS_MSECS(ms));
  else if (latency)
    ping(&sample, DDS_MSECS(ms), (size_t)ms * 500), kill(child, SIGKILL), waitpid(child, NULL, 0);
  else
    count(child);
  dds_delete(participant);
  return 0;
}
