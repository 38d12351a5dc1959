/* SPDX-License-Identifier: Apache-2.0
 *
 * data.c: samples in every receive mode, over every transport, and in batches.
 */
#include "harness.h"
#include "tests.h"

enum { READY = 1, GO, DONE };

void test_receive_waitset(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET});
}
void test_receive_polling(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_POLLING, .transport = "udp4"});
}
void test_receive_listener(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_LISTENER});
}
void test_receive_udp6(void) {
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "udp6"});
}
void test_receive_tcp4(void) {
  if (has_tcp())
    receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "tcp4"});
}

/* Returns the multicast bytes that this network namespace has sent, according to the kernel. */
static uint64_t multicast_bytes(void) {
  char names[4096], values[4096];
  FILE *file = fopen("/proc/self/net/netstat", "r");
  CHECK(file != NULL);
  do
    CHECK(fgets(names, sizeof names, file) && fgets(values, sizeof values, file));
  while (strncmp(names, "IpExt:", 6) != 0);
  fclose(file);
  char *name_rest = NULL, *value_rest = NULL;
  const char *name = strtok_r(names, " \n", &name_rest), *value = strtok_r(values, " \n", &value_rest);
  while (name && value && strcmp(name, "OutMcastOctets") != 0) {
    name = strtok_r(NULL, " \n", &name_rest);
    value = strtok_r(NULL, " \n", &value_rest);
  }
  CHECK(name && value);
  return strtoull(value, NULL, 10);
}

void test_receive_multicast(void) {
  uint64_t payload = 0;
  for (int i = 0; i < RECEIVE_SIZES; i++)
    payload += receive_sizes[i] * (uint64_t)receive_counts[i];
  const uint64_t before = multicast_bytes();
  receive(&(receive_case){.mode = DDSMARK_RECEIVE_WAITSET, .transport = "udp4", .multicast = 1});
  CHECK(multicast_bytes() - before >= payload);
}

/* -- batching ------------------------------------------------------------------------------------------------------ */

static void batching_child(int fd, const void *argument) {
  (void)argument;
  ddsmark_participant *p = participant();
  sequence_check c = {.size = 16};
  ddsmark_reader *r = mode_reader(p, DDSMARK_RECEIVE_WAITSET, 16, &c);
  WAIT_UNTIL(matched_writers(r) == 1);
  tell(fd, READY);
  hear_this(fd, GO); /* three samples are written and not flushed */
  uint32_t taken;
  const uint64_t limit = now_ns() + 300000000;
  while (now_ns() < limit)
    OK(d->reader_receive(r, 50000000, 64, sequence_sink, &c, &taken));
  CHECK(c.received < 3); /* the first sample after a pause may be sent at once, with a request to acknowledge */
  tell(fd, DONE);
  receive_all(r, DDSMARK_RECEIVE_WAITSET, &c, 3); /* flushed */
  tell(fd, DONE);
  receive_all(r, DDSMARK_RECEIVE_WAITSET, &c, 20003); /* far more than the size of a batch */
  check_sequence(&c, 20003);
  tell(fd, DONE);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

void test_batching(void) {
  peer child = fork_peer(batching_child, NULL);
  ddsmark_participant *p = participant();
  const ddsmark_qos q = reliable_keep_all(100);
  ddsmark_writer_config config = writer_config(&q);
  config.batch_bytes = 8192;
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &config, &w));
  WAIT_UNTIL(matched_readers(w) == 1);
  hear_this(child.fd, READY);
  uint8_t payload[16];
  uint32_t s = 0;
  for (; s < 3; s++) {
    payload_fill(payload, sizeof payload, s);
    OK(d->writer_write(w, 0, payload, sizeof payload));
  }
  tell(child.fd, GO);
  hear_this(child.fd, DONE);
  OK(d->writer_flush(w));
  hear_this(child.fd, DONE);
  for (; s < 20003; s++) {
    payload_fill(payload, sizeof payload, s);
    write_for_sure(w, 0, payload, sizeof payload);
  }
  OK(d->writer_wait_acked(w, PATIENCE_NS)); /* flushes */
  hear_this(child.fd, DONE);
  join_peer(&child);
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

/* Writers with and without batching in one process: 11 supports both at once, 0.10 rejects the second and says why. */
void test_batching_mixed(void) {
  ddsmark_participant *p = participant();
  ddsmark_writer_config config = writer_config(NULL);
  ddsmark_writer *plain = writer(p, NULL), *batching = NULL;
  config.batch_bytes = 1000;
  const ddsmark_status status = d->writer_open(p, &config, &batching);
  setting s;
  if (status == DDSMARK_UNSUPPORTED) {
    CHECK(strstr(d->last_error(), "for all writers of a process") != NULL);
    OK(d->writer_close(plain));
    OK(d->writer_open(p, &config, &batching)); /* allowed now */
    CHECK(strcmp(writer_setting(batching, "batching", &s), "native") == 0);
  } else {
    OK(status);
    CHECK(strcmp(writer_setting(batching, "batching", &s), "native") == 0);
    CHECK(strcmp(writer_setting(plain, "batching", &s), "none") == 0);
    OK(d->writer_close(plain));
  }
  OK(d->writer_close(batching));
  OK(d->writer_close(writer(p, NULL))); /* and back */
  OK(d->participant_close(p));
}
