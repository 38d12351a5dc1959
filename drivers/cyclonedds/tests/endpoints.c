/* SPDX-License-Identifier: Apache-2.0
 *
 * endpoints.c: opening, closing, settings, matching.
 */
#include "harness.h"

#include <sched.h>
#include <unistd.h>

void test_shared_domain(void) {
  const unsigned descriptors = descriptor_count();
  ddsmark_participant *first = participant(), *second = participant(), *third = NULL;
  ddsmark_participant_config c = participant_config();
  c.receive_buffer_bytes = 300000;
  CHECK_FAILS(d->participant_open(&c, &third), DDSMARK_BAD_ARGUMENT, "another configuration");
  OK(d->participant_close(first));
  CHECK(thread_count() > 1);
  /* The remaining participant still works. */
  ddsmark_writer *w = writer(second, NULL);
  c = participant_config();
  c.domain = test_domain % 100 + 1;
  c.receive_buffer_bytes = 300000;
  OK(d->participant_open(&c, &third)); /* another domain, another configuration */
  OK(d->writer_close(w));
  OK(d->participant_close(second));
  OK(d->participant_close(third));
  WAIT_UNTIL(thread_count() == 1);
  CHECK_U64(descriptor_count(), descriptors);
}

/* On the loopback interface those that its developers use there, unless one is given or all are to be those of the
 * library. */
void test_sizes(void) {
  static const ddsmark_option options[] = {{"max_message_size", "9000"}, {"fragment_size", "4000"}};
  static const struct {
    uint32_t first, count, vendor_defaults;
    const char *message, *fragment;
  } cases[] = {{0, 0, 0, "65500", "65000"},
               {0, 0, 1, "14720", "1344"},
               {0, 1, 0, "9000", "1344"},
               {1, 1, 0, "14720", "4000"},
               {0, 2, 1, "9000", "4000"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setting s;
    ddsmark_participant *p = NULL;
    ddsmark_participant_config c = participant_config();
    c.interface = "lo";
    c.vendor_defaults = cases[i].vendor_defaults;
    c.options = options + cases[i].first;
    c.option_count = cases[i].count;
    OK(d->participant_open(&c, &p));
    CHECK(strcmp(participant_setting(p, "max_message_size", &s), cases[i].message) == 0);
    CHECK(strcmp(participant_setting(p, "fragment_size", &s), cases[i].fragment) == 0);
    OK(d->participant_close(p));
  }
}

void test_settings(void) {
  setting s;
  ddsmark_participant_config c = participant_config();
  const ddsmark_option option = {"max_message_size", "4096"};
  c.receive_buffer_bytes = 150000;
  c.send_buffer_bytes = 120000;
  c.options = &option;
  c.option_count = 1;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "transport", &s), "udp4") == 0);
  CHECK(strcmp(participant_setting(p, "interface", &s), "lo") == 0);
  CHECK(strcmp(participant_setting(p, "address", &s), "127.0.0.1") == 0);
  CHECK(strcmp(participant_setting(p, "multicast", &s), "off") == 0);
  CHECK(strcmp(participant_setting(p, "max_message_size", &s), "4096") == 0);
  CHECK(strstr(participant_setting(p, "configuration", &s), "<MaxMessageSize>4096 B<") != NULL);
  CHECK(strcmp(participant_setting(p, "fragment_size", &s), "1344") == 0);
  CHECK(strcmp(participant_setting(p, "configuration_user", &s), "") == 0 && s.found);
  /* Linux reports twice the requested size. */
  CHECK(strcmp(participant_setting(p, "receive_buffer_bytes", &s), "300000") == 0);
  CHECK(strcmp(participant_setting(p, "send_buffer_bytes", &s), "240000") == 0);
  CHECK(atoi(participant_setting(p, "receive_buffer_limit_bytes", &s)) > 0);
  ddsmark_writer *w = writer(p, NULL);
  CHECK(strcmp(writer_setting(w, "batching", &s), "none") == 0);
  CHECK(strcmp(writer_setting(w, "send_buffer_bytes", &s), "240000") == 0);
  OK(d->writer_close(w));
  ddsmark_writer_config wc = writer_config(NULL);
  wc.batch_bytes = 8000;
  OK(d->writer_open(p, &wc, &w));
  CHECK(strcmp(writer_setting(w, "batching", &s), "native") == 0);
  CHECK(strcmp(writer_setting(w, "batch_limit_bytes", &s), "4096") == 0);
  OK(d->writer_close(w));
  ddsmark_reader *r = reader(p, NULL);
  CHECK(strcmp(reader_setting(r, "receive_mode", &s), "waitset") == 0);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

void test_users_configuration_wins(void) {
  static const char users[] = "<Internal><SocketReceiveBufferSize max=\"100000 B\"/></Internal>";
  setting s;
  ddsmark_participant_config c = participant_config();
  c.receive_buffer_bytes = 150000;
  const ddsmark_option option = {"configuration", "<Internal><SocketReceiveBufferSize max=\"130000 B\"/></Internal>"};
  c.options = &option;
  c.option_count = 1;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p)); /* the option overrides the driver's value */
  CHECK(strcmp(participant_setting(p, "receive_buffer_bytes", &s), "260000") == 0);
  OK(d->participant_close(p));

  setenv("CYCLONEDDS_URI", users, 1);
  OK(d->participant_open(&c, &p)); /* the user overrides both */
  CHECK(strcmp(participant_setting(p, "receive_buffer_bytes", &s), "200000") == 0);
  CHECK(strcmp(participant_setting(p, "configuration_user", &s), users) == 0);
  CHECK(strstr(participant_setting(p, "configuration", &s), users) != NULL);
  CHECK(strcmp(participant_setting(p, "interface", &s), "lo") == 0);
  OK(d->participant_close(p));

  /* In a file, and with an interface, which then is the only one. */
  char path[] = "/tmp/ddsmark_test_XXXXXX", uri[64];
  const int fd = mkstemp(path);
  static const char file[] =
      "<CycloneDDS><Domain Id=\"any\"><General><Interfaces><NetworkInterface address=\"127.0.0.1\"/>"
      "</Interfaces></General></Domain></CycloneDDS>\n";
  CHECK(fd >= 0 && write(fd, file, sizeof file - 1) == (ssize_t)sizeof file - 1 && close(fd) == 0);
  snprintf(uri, sizeof uri, "file://%s", path);
  setenv("CYCLONEDDS_URI", uri, 1);
  const ddsmark_status status = d->participant_open(&c, &p);
  unlink(path);
  OK(status);
  CHECK(strstr(participant_setting(p, "configuration", &s), "<NetworkInterface") == NULL);
  CHECK(strcmp(participant_setting(p, "interface", &s), "set by the configuration") == 0);
  OK(d->participant_close(p));
}

/* The groups that the library has joined, according to the kernel, whatever its configuration. */
void test_multicast_settings(void) {
  setting s;
  ddsmark_participant_config c = participant_config();
  c.multicast = 1;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "multicast", &s), "unknown") == 0);
  CHECK(strcmp(participant_setting(p, "multicast_groups", &s), "239.255.0.1") == 0);
  CHECK(strstr(participant_setting(p, "configuration", &s), "<AllowMulticast>asm<") != NULL);
  CHECK(strstr(s.value, "prefer_multicast=\"true\" multicast=\"true\"/>") != NULL);
  OK(d->participant_close(p));
  /* The user's configuration has priority. */
  setenv("CYCLONEDDS_URI", "<General><AllowMulticast>false</AllowMulticast></General>", 1);
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "multicast", &s), "off") == 0);
  OK(d->participant_close(p));
  /* 0.10 assumes that loopback does not support multicast unless configured otherwise. */
  setenv("CYCLONEDDS_URI",
         "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"true\"/></Interfaces>"
         "<AllowMulticast>spdp</AllowMulticast></General>",
         1);
  c.multicast = 0;
  OK(d->participant_open(&c, &p));
  CHECK(strcmp(participant_setting(p, "multicast", &s), "unknown") == 0);
  OK(d->participant_close(p));
  unsetenv("CYCLONEDDS_URI");
}

void test_vendor_defaults(void) {
  setting s;
  ddsmark_participant_config c = participant_config();
  c.vendor_defaults = 1;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strstr(participant_setting(p, "configuration", &s), "name=\"lo\"") != NULL); /* requested */
  CHECK(strstr(s.value, "AllowMulticast") == NULL && strstr(s.value, "MaxAutoParticipantIndex") == NULL);
  OK(d->participant_close(p));
  c.interface = NULL;
  OK(d->participant_open(&c, &p));
  CHECK(strstr(participant_setting(p, "configuration", &s), "NetworkInterface") == NULL);
  OK(d->participant_close(p));
}

/* The kernel reports the policy that the configuration sets. It needs a privilege, without which the domain fails to
 * open. */
void test_thread_settings(void) {
  setting s;
  ddsmark_participant *p = participant();
  CHECK_HAS(participant_setting(p, "threads", &s), "as the thread");
  OK(d->participant_close(p));
  const struct sched_param now = {0}, higher = {.sched_priority = 2};
  if (sched_setscheduler(0, SCHED_FIFO, &higher) != 0)
    return;
  CHECK(sched_setscheduler(0, SCHED_OTHER, &now) == 0);
  setenv(
      "CYCLONEDDS_URI",
      "<Threads><Thread Name=\"recv\"><Scheduling><Class>realtime</Class><Priority>2</Priority></Scheduling></Thread>"
      "</Threads>",
      1);
  const ddsmark_participant_config c = participant_config();
  OK(d->participant_open(&c, &p));
  CHECK_HAS(participant_setting(p, "threads", &s), "recv fifo 2 cores ");
  OK(d->participant_close(p));
  unsetenv("CYCLONEDDS_URI");
}
