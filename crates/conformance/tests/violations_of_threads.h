/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_threads.h: threads that are left after the close, declared as kept or not. Part of faulty_driver.c.
 */
static void *sleeper(void *unused) {
  (void)unused;
  while (pause() != 0) {
  }
  return NULL;
}
static void start(const char *name) {
  pthread_t thread;
  pthread_create(&thread, NULL, sleeper, NULL);
  pthread_setname_np(thread, name);
}

static ddsmark_status close_leaving_thread(ddsmark_participant *p) {
  start("leftover");
  return participant_close(p);
}
VIOLATION(leaves_thread) {
  lying.participant_close = close_leaving_thread;
}

static const char *const keepers[] = {"teach.keeper", "teach.later"};
static void declare(const char *const *names, uint32_t count) {
  described.kept_threads = names;
  described.kept_thread_count = count;
  lying.describe = describe_changed;
}
static uint32_t closes;

/* Correct: the first close leaves one thread, and later ones leave none. */
static ddsmark_status close_keeping(ddsmark_participant *p) {
  if (closes++ == 0)
    start(keepers[0]);
  return participant_close(p);
}
VIOLATION(keeps_thread) {
  declare(keepers, 1);
  lying.participant_close = close_keeping;
}

static ddsmark_status close_keeping_two(ddsmark_participant *p) {
  start(keepers[0]);
  return close_keeping(p);
}
VIOLATION(keeps_two_of_a_name) {
  declare(keepers, 1);
  lying.participant_close = close_keeping_two;
}

static ddsmark_status close_keeping_one_more(ddsmark_participant *p) {
  start(keepers[0]);
  return participant_close(p);
}
VIOLATION(keeps_one_more_each_time) {
  declare(keepers, 1);
  lying.participant_close = close_keeping_one_more;
}

static ddsmark_status close_keeping_another(ddsmark_participant *p) {
  start(keepers[closes++ % 2]);
  return participant_close(p);
}
VIOLATION(keeps_another_later) {
  declare(keepers, 2);
  lying.participant_close = close_keeping_another;
}

VIOLATION(keeps_what_it_names_not) {
  declare(keepers, 2);
  lying.participant_close = close_leaving_thread;
}

/* Invalid names: empty, too long, or repeated. */
VIOLATION(keeps_a_nameless_thread) {
  static const char *const names[] = {""};
  declare(names, 1);
}
VIOLATION(keeps_a_thread_of_no_such_name) {
  static const char *const names[] = {"of-15-bytes-yes", "of-16-bytes-none"};
  declare(names, 2);
}
VIOLATION(keeps_a_thread_by_two_names) {
  static const char *const names[] = {"one", "two", "one"};
  declare(names, 3);
}
