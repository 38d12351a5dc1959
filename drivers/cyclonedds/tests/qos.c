/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: policies of one entity together, defaults, and boundary values.
 */
#include "harness.h"

#define ALL ((UINT64_C(1) << DDSMARK_POLICY_COUNT) - 1 - POLICY(ENTITY_FACTORY))

void test_unset_policies(void) {
  /* Absent bits: all policies that DDS defines for the side are readable, with the defaults of the middleware. */
  ddsmark_participant *p = participant();
  ddsmark_qos none = unusual();
  none.present = 0;
  ddsmark_writer *w = writer(p, &none);
  ddsmark_reader *r = reader(p, NULL);
  ddsmark_qos wq = {.struct_size = sizeof wq}, rq = {.struct_size = sizeof rq};
  OK(d->writer_qos(w, &wq));
  OK(d->reader_qos(r, &rq));
  CHECK_U64(wq.present & READER_ONLY, 0);
  CHECK_U64(rq.present & WRITER_ONLY, 0);
  CHECK_U64(wq.present & POLICY(ENTITY_FACTORY), 0);
  CHECK_U64(wq.reliability, DDSMARK_RELIABLE); /* DDS defaults */
  CHECK_U64(rq.reliability, DDSMARK_BEST_EFFORT);
  CHECK_U64(wq.history, DDSMARK_KEEP_LAST);
  CHECK_U64(wq.history_depth, 1);
  CHECK_U64(wq.durability, DDSMARK_VOLATILE);
  CHECK_U64(wq.deadline_ns, DDSMARK_DURATION_INFINITE);
  CHECK_U64(wq.lifespan_ns, DDSMARK_DURATION_INFINITE);
  CHECK(rq.max_samples == DDSMARK_UNLIMITED);
  CHECK_U64(wq.present & POLICY(RESOURCE_LIMITS), 0); /* limits readers only */
  CHECK_U64(wq.partition_count, 0);
  CHECK_U64(wq.user_data_size, 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}

#define GROUP (POLICY(PARTITION) | POLICY(PRESENTATION) | POLICY(GROUP_DATA) | POLICY(TOPIC_DATA))

void test_writer_policies(void) {
  policies_together(ALL & ~READER_ONLY & ~GROUP, true);
}
void test_reader_policies(void) {
  policies_together(ALL & ~WRITER_ONLY & ~GROUP, false);
}

/* Policies of publisher, subscriber and topic; and boundary values. */
void test_group_policies(void) {
  policies_together(GROUP, true);
  policies_together(GROUP, false);

  ddsmark_participant *p = participant();
  ddsmark_qos q = unusual();
  q.present = POLICY(RELIABILITY) | POLICY(HISTORY) | POLICY(RESOURCE_LIMITS) | POLICY(DEADLINE) | POLICY(LIVELINESS);
  q.history = DDSMARK_KEEP_ALL;
  q.history_depth = 0;
  q.max_samples = q.max_instances = q.max_samples_per_instance = DDSMARK_UNLIMITED;
  q.max_blocking_ns = q.deadline_ns = q.liveliness_lease_ns = DDSMARK_DURATION_INFINITE;
  ddsmark_writer *w = writer(p, &q);
  check_back(w, NULL, &q, NULL);
  OK(d->writer_close(w));
  /* A reader ignores policies that only writers have, and does not report them. */
  q = unusual();
  q.present = POLICY(LIFESPAN);
  ddsmark_reader *r = reader(p, &q);
  ddsmark_qos back = {.struct_size = sizeof back};
  OK(d->reader_qos(r, &back));
  CHECK_U64(back.present & POLICY(LIFESPAN), 0);
  OK(d->reader_close(r));
  OK(d->participant_close(p));
}

/* Shows that the durability service is enforced: its depth is what a late joiner gets. */
void test_late_joiner(void) {
  for (int32_t depth = 1; depth <= 3; depth += 2) {
    ddsmark_participant *p = participant();
    ddsmark_qos q = reliable_keep_all(100);
    q.present |= POLICY(DURABILITY) | POLICY(DURABILITY_SERVICE);
    q.durability = DDSMARK_TRANSIENT_LOCAL;
    q.service_history = DDSMARK_KEEP_LAST;
    q.service_history_depth = depth;
    q.service_max_samples = q.service_max_instances = q.service_max_samples_per_instance = DDSMARK_UNLIMITED;
    ddsmark_writer *w = writer(p, &q);
    uint8_t payload[16];
    for (uint32_t i = 0; i < 5; i++) {
      payload_fill(payload, sizeof payload, i);
      OK(d->writer_write(w, 0, payload, sizeof payload));
    }
    ddsmark_reader *r = reader(p, &q);
    WAIT_UNTIL(matched_writers(r) == 1);
    /* The last `depth` samples in order, and none after those. */
    sequence_check c = {.size = sizeof payload, .received = 5 - (uint32_t)depth};
    uint32_t taken;
    const uint64_t limit = now_ns() + PATIENCE_NS;
    while (c.received < 5 && now_ns() < limit)
      OK(d->reader_receive(r, 100000000, 100, sequence_sink, &c, &taken));
    OK(d->reader_receive(r, 200000000, 100, sequence_sink, &c, &taken));
    check_sequence(&c, 5);
    OK(d->reader_close(r));
    OK(d->writer_close(w));
    OK(d->participant_close(p));
  }
}
