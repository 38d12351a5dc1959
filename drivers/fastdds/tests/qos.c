/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: policies of one entity together, defaults, and boundary values.
 */
#include "harness.h"

#define SET                                                                                                            \
  (POLICY(RELIABILITY) | POLICY(HISTORY) | POLICY(RESOURCE_LIMITS) | POLICY(DURABILITY) | POLICY(DEADLINE) |           \
   POLICY(LIVELINESS) | POLICY(OWNERSHIP) | POLICY(PARTITION) | POLICY(USER_DATA) | POLICY(TOPIC_DATA) |               \
   POLICY(GROUP_DATA))
#define IGNORED                                                                                                        \
  (POLICY(DURABILITY_SERVICE) | POLICY(LATENCY_BUDGET) | POLICY(PRESENTATION) | POLICY(TIME_BASED_FILTER) |            \
   POLICY(TRANSPORT_PRIORITY) | POLICY(READER_DATA_LIFECYCLE))

void test_writer_policies(void) {
  policies_together((SET | IGNORED | POLICY(LIFESPAN) | POLICY(OWNERSHIP_STRENGTH) | POLICY(WRITER_DATA_LIFECYCLE)) &
                        ~READER_ONLY,
                    true);
}

void test_reader_policies(void) {
  policies_together((SET | IGNORED) & ~WRITER_ONLY, false);
}

void test_unset_policies(void) {
  ddsmark_participant *p = participant();
  ddsmark_qos none = unusual();
  none.present = 0;
  ddsmark_writer *w = writer(p, &none);
  ddsmark_reader *r = reader(p, NULL);
  ddsmark_qos wq = {.struct_size = sizeof wq}, rq = {.struct_size = sizeof rq};
  OK(d->writer_qos(w, &wq));
  OK(d->reader_qos(r, &rq));
  CHECK_U64((wq.present | rq.present) & (IGNORED | POLICY(ENTITY_FACTORY)), 0);
  CHECK_U64(rq.present & WRITER_ONLY, 0);
  CHECK_U64(wq.reliability, DDSMARK_RELIABLE); /* DDS defaults */
  CHECK_U64(rq.reliability, DDSMARK_BEST_EFFORT);
  CHECK_U64(rq.max_blocking_ns, 0);
  CHECK_U64(wq.history, DDSMARK_KEEP_LAST);
  CHECK_U64(wq.history_depth, 1);
  CHECK_U64(wq.deadline_ns, DDSMARK_DURATION_INFINITE);
  CHECK_U64(wq.lifespan_ns, DDSMARK_DURATION_INFINITE);
  CHECK_U64(wq.partition_count, 0);
  CHECK_U64(wq.user_data_size, 0);
  OK(d->reader_close(r));
  OK(d->writer_close(w));
  OK(d->participant_close(p));
}
