/* SPDX-License-Identifier: Apache-2.0
 *
 * For LD_PRELOAD: spins for SLOW_SEND_NS ns before every call that sends. This injects a slowdown from outside of the
 * measured software; `cargo validation slowdown` checks that it is detected. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static long long delay_ns;
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static int (*real_sendmmsg)(int, struct mmsghdr *, unsigned, int);

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("SLOW_SEND_NS");
  delay_ns = text == NULL ? 0 : atoll(text);
  real_send = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
  real_sendto =
      (ssize_t(*)(int, const void *, size_t, int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "sendto");
  real_sendmsg = (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
  real_sendmmsg = (int (*)(int, struct mmsghdr *, unsigned, int))dlsym(RTLD_NEXT, "sendmmsg");
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void spin(void) {
  if (delay_ns <= 0)
    return;
  long long until = now_ns() + delay_ns;
  while (now_ns() < until) {
  }
}

ssize_t send(int fd, const void *data, size_t size, int flags) {
  spin();
  return real_send(fd, data, size, flags);
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t to_size) {
  spin();
  return real_sendto(fd, data, size, flags, to, to_size);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  spin();
  return real_sendmsg(fd, message, flags);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
  spin();
  return real_sendmmsg(fd, messages, count, flags);
}
