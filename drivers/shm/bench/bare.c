/* SPDX-License-Identifier: Apache-2.0
 *
 * bare.c: minimal benchmark of shared memory, to measure the overhead of ddsmark.
 *
 *     bare latency|throughput|batched SIZE MS CORE CORE
 *
 * prints the median round trip in ns, or the samples per second that the reader received in its own window.
 *
 * Two processes with a ring for each direction, like those of the driver: mapped twice in a row, with futexes for a
 * reader without samples and a writer without room. A sample is its length and its bytes; `batched` publishes as many
 * at a time as fit into 8192 bytes. The first core is that of the pinging or writing process. Payloads are not stamped
 * or checked beyond what the result needs.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP_MS = 200, BATCH = 8192, HEADER = 8, LINE = 128, PAGE = 65536 };

/* The words that both processes share, each in cache lines of its own; the bytes of the ring follow in the file. */
struct control {
  _Alignas(LINE) atomic_uint sleeping; /* of the reader */
  _Alignas(LINE) _Atomic uint64_t head;
  _Alignas(LINE) _Atomic uint64_t tail;
  atomic_uint waiting; /* of the writer */
};

struct ring {
  struct control *control;
  char *bytes;
  uint64_t capacity, head, tail; /* head and tail as one process knows them */
};

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

static struct ring opened(size_t size) {
  struct ring ring = {.capacity = 1 << 20};
  while (ring.capacity < 4 * (HEADER + size))
    ring.capacity *= 2;
  const int fd = memfd_create("bare", 0), all = PROT_READ | PROT_WRITE;
  must(fd >= 0 && ftruncate(fd, PAGE + (off_t)ring.capacity) == 0, "bare: memfd_create");
  ring.control = mmap(NULL, PAGE, all, MAP_SHARED, fd, 0);
  ring.bytes = mmap(NULL, 2 * ring.capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(ring.control != MAP_FAILED && ring.bytes != MAP_FAILED, "bare: mmap");
  for (int half = 0; half < 2; half++)
    must(mmap(ring.bytes + (uint64_t)half * ring.capacity, ring.capacity, all, MAP_SHARED | MAP_FIXED, fd, PAGE) !=
             MAP_FAILED,
         "bare: mmap");
  memset(ring.bytes, 0, 2 * ring.capacity);
  return ring;
}

static void wake(atomic_uint *word) {
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(word, memory_order_relaxed) && atomic_exchange(word, 0))
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL);
}

static uint64_t room(struct ring *r) {
  return r->capacity - (r->head - r->tail);
}

/* Copies a sample into the ring, after waiting for room. */
static void push(struct ring *r, const char *out, uint64_t size) {
  const uint64_t record = HEADER + (size + 7) / 8 * 8;
  while (room(r) < record) {
    atomic_store(&r->control->head, r->head);
    wake(&r->control->sleeping);
    atomic_store(&r->control->waiting, 1);
    r->tail = atomic_load(&r->control->tail);
    if (room(r) < record)
      syscall(SYS_futex, &r->control->waiting, FUTEX_WAIT, 1, NULL);
    atomic_store(&r->control->waiting, 0);
    r->tail = atomic_load(&r->control->tail);
  }
  char *to = r->bytes + (r->head & (r->capacity - 1));
  memcpy(to, &size, HEADER);
  memcpy(to + HEADER, out, size);
  r->head += record;
}

static void publish(struct ring *r) {
  atomic_store_explicit(&r->control->head, r->head, memory_order_release);
  wake(&r->control->sleeping);
}

/* Waits for samples, and returns the number of those that are there, which are released. They are sent back to `echo`,
 * unless it is NULL. */
static uint64_t take(struct ring *r, size_t size, struct ring *echo) {
  struct control *c = r->control;
  uint64_t samples = 0;
  while ((r->head = atomic_load_explicit(&c->head, memory_order_acquire)) == r->tail) {
    atomic_store(&c->sleeping, 1);
    if (atomic_load(&c->head) == r->tail)
      syscall(SYS_futex, &c->sleeping, FUTEX_WAIT, 1, NULL);
    atomic_store(&c->sleeping, 0);
  }
  for (; r->tail != r->head; samples++) {
    const char *record = r->bytes + (r->tail & (r->capacity - 1));
    uint64_t length;
    memcpy(&length, record, HEADER);
    must(length == size, "bare: invalid length");
    if (echo) {
      push(echo, record + HEADER, length);
      publish(echo);
    }
    r->tail += HEADER + (length + 7) / 8 * 8;
    atomic_store_explicit(&c->tail, r->tail, memory_order_release);
  }
  wake(&c->waiting);
  return samples;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void ping(struct ring *there, struct ring *back, const char *out, size_t size, uint64_t ms) {
  const size_t capacity = 10000 * ms;
  uint64_t *rtt = malloc(capacity * sizeof *rtt);
  must(rtt != NULL, "bare: malloc");
  size_t n = 0;
  const uint64_t warm = now() + WARM_UP_MS * 1000000ull, end = warm + ms * 1000000ull;
  for (uint64_t sent = now(); sent < end && n < capacity;) {
    push(there, out, size);
    publish(there);
    take(back, size, NULL);
    const uint64_t came = now();
    if (sent >= warm)
      rtt[n++] = came - sent;
    sent = came;
  }
  qsort(rtt, n, sizeof *rtt, ascending);
  printf("%llu\n", (unsigned long long)rtt[n / 2]);
  free(rtt);
}

static void flood(struct ring *r, const char *out, size_t size, size_t samples) {
  for (;;) { /* until it is killed */
    for (size_t i = 0; i < samples; i++)
      push(r, out, size);
    publish(r);
  }
}

static void count(struct ring *r, size_t size, uint64_t ms) {
  uint64_t samples = 0, first = 0, last = now();
  const uint64_t warm = last + WARM_UP_MS * 1000000ull, end = warm + ms * 1000000ull;
  while (last < end) {
    const uint64_t came = take(r, size, NULL);
    last = now();
    if (first)
      samples += came;
    else if (last >= warm)
      first = last;
  }
  printf("%.0f\n", (double)samples / ((double)(last - first) / 1e9));
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
  must(out != NULL, "bare: calloc");
  struct ring there = opened(size), back = opened(size);
  const pid_t child = fork();
  alarm((unsigned)ms / 1000 + 30);
  run_on(argv[(child != 0) == latency ? 4 : 5]); /* the parent pings, or reads */
  if (child == 0 && latency) {
    for (;;) /* until it is killed */
      take(&there, size, &back);
  } else if (child == 0) {
    flood(&there, out, size, batched ? BATCH / size + (BATCH < size) : 1);
  } else if (latency) {
    ping(&there, &back, out, size, ms);
  } else {
    count(&there, size, ms);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
