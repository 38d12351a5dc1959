/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_participants.h: several participants in one process. Part of faulty_driver.c.
 */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int open_now, closed_beside_another;

static void count_participants(int change) {
  pthread_mutex_lock(&counting);
  open_now += change;
  closed_beside_another = change < 0 && open_now > 0;
  pthread_mutex_unlock(&counting);
}
static ddsmark_status open_counted(const ddsmark_participant_config *config, ddsmark_participant **out) {
  const ddsmark_status status = participant_open(config, out);
  if (status == DDSMARK_OK)
    count_participants(1);
  return status;
}
static ddsmark_status close_counted(ddsmark_participant *p) {
  count_participants(-1);
  return participant_close(p);
}
static void counts_participants(void) {
  lying.participant_open = open_counted;
  lying.participant_close = close_counted;
}

static ddsmark_status open_one(const ddsmark_participant_config *config, ddsmark_participant **out) {
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&opening);
  const ddsmark_status status =
      open_now > 0 ? fail(DDSMARK_ERROR, "a participant is already open in this process") : open_counted(config, out);
  pthread_mutex_unlock(&opening);
  return status;
}
VIOLATION(opens_only_one) {
  counts_participants();
  lying.participant_open = open_one;
}

/* The first close ends what all of them use. */
static ddsmark_status write_until_close(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return closed_beside_another ? DDSMARK_OK : writer_write(w, key, payload, size);
}
VIOLATION(closes_all) {
  counts_participants();
  lying.writer_write = write_until_close;
}

/* Each participant is alone in its domain. */
static ddsmark_status open_apart(const ddsmark_participant_config *config, ddsmark_participant **out) {
  static uint32_t domain = 1000;
  const ddsmark_status status = participant_open(config, out);
  if (status == DDSMARK_OK) {
    pthread_mutex_lock(&counting);
    (*out)->domain = domain++;
    pthread_mutex_unlock(&counting);
  }
  return status;
}
VIOLATION(separates_participants) {
  lying.participant_open = open_apart;
}
