/* SPDX-License-Identifier: Apache-2.0
 *
 * tcp.c: the listening process over TCP, and unsupported requests.
 */
#include "harness.h"
#include "tests.h"

#include <dirent.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool has_tcp(void) {
  const ddsmark_description *info = d->describe();
  for (uint32_t i = 0; i < info->transport_count; i++)
    if (strcmp(info->transports[i].name, "tcp4") == 0)
      return true;
  printf("this Cyclone DDS was built without TCP: the test only checks that tcp4 is rejected\n");
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.transport = "tcp4";
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "built without TCP");
  return false;
}

/* Returns the scheduling policy of the receiving threads, which must all have the same. */
static int receivers(void) {
  int found = -1;
  DIR *dir = opendir("/proc/self/task");
  CHECK(dir != NULL);
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char path[300], name[16] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
      continue;
    if (fgets(name, sizeof name, file) && strcmp(name, "recv\n") == 0) {
      const int policy = sched_getscheduler((pid_t)atoi(entry->d_name));
      CHECK(found < 0 || found == policy);
      found = policy;
    }
    fclose(file);
  }
  closedir(dir);
  return found;
}

void test_tcp(void) {
  if (!has_tcp())
    return;
  const unsigned descriptors = descriptor_count();
  ddsmark_participant_config c = participant_config();
  c.transport = "tcp4";
  for (int i = 0; i < 2; i++) {
    ddsmark_participant *first = NULL, *second = NULL;
    OK(d->participant_open(&c, &first));
    OK(d->participant_open(&c, &second)); /* shares the listening socket of the first participant */
    setting s;
    CHECK(strcmp(participant_setting(first, "transport", &s), "tcp4") == 0);
    CHECK(strcmp(participant_setting(first, "multicast", &s), "off") == 0);
    CHECK(strstr(participant_setting(first, "configuration", &s), "<TCP><Port>") != NULL);
    CHECK(strcmp(participant_setting(first, "receive_buffer_bytes", &s), "") == 0 && !s.found);
    CHECK_U64(receivers(), SCHED_BATCH);
    ddsmark_writer *w = writer(first, NULL);
    ddsmark_reader *r = reader(second, NULL);
    WAIT_UNTIL(matched_readers(w) == 1 && matched_writers(r) == 1);
    CHECK_U64(receivers(), SCHED_OTHER);
    OK(d->reader_close(r));
    OK(d->writer_close(w));
    OK(d->participant_close(first));
    OK(d->participant_close(second));
    CHECK_U64(descriptor_count(), descriptors);
    WAIT_UNTIL(thread_count() == 1);
  }
}

void test_tcp_errors(void) {
  if (!has_tcp())
    return;
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  c.transport = "tcp4";
  c.multicast = 1;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "multicast is not supported over `tcp4`");
  c.multicast = 0;
  c.send_buffer_bytes = 100000;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "no buffer sizes of TCP sockets");
  c.send_buffer_bytes = 0;
  const char *peers[] = {"127.0.0.1", "203.0.113.9"};
  c.peers = peers;
  c.peer_count = 2;
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_UNSUPPORTED, "peer `203.0.113.9` is not supported");
  /* The process that should listen never does. */
  c = participant_config();
  c.transport = "tcp4";
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  const int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "ddsmark-cyclonedds-tcp-%u-door", c.domain);
  const int door = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(bind(door, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0);
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_TIMED_OUT, "has reserved domain");
  close(door);
  OK(d->participant_open(&c, &p));
  OK(d->participant_close(p));
}
