/* SPDX-License-Identifier: Apache-2.0
 *
 * For LD_PRELOAD: spins for SLOW_RECEIVE_NS ns after every message received from a socket. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static long long delay_ns;
static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
static ssize_t (*real_recvmsg)(int, struct msghdr *, int);
static int (*real_recvmmsg)(int, struct mmsghdr *, unsigned, int, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("SLOW_RECEIVE_NS");
  delay_ns = text == NULL ? 0 : atoll(text);
  real_recv = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
  real_recvfrom = (ssize_t(*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "recvfrom");
  real_recvmsg = (ssize_t(*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
  real_recvmmsg = (int (*)(int, struct mmsghdr *, unsigned, int, struct timespec *))dlsym(RTLD_NEXT, "recvmmsg");
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void spin(long long messages) {
  if (delay_ns <= 0 || messages <= 0)
    return;
  long long until = now_ns() + messages * delay_ns;
  while (now_ns() < until) {
  }
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
  ssize_t received = real_recv(fd, data, size, flags);
  spin(received > 0);
  return received;
}

ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *from_size) {
  ssize_t received = real_recvfrom(fd, data, size, flags, from, from_size);
  spin(received > 0);
  return received;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  ssize_t received = real_recvmsg(fd, message, flags);
  spin(received > 0);
  return received;
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  int received = real_recvmmsg(fd, messages, count, flags, timeout);
  spin(received);
  return received;
}
