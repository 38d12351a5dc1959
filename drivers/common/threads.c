/* SPDX-License-Identifier: Apache-2.0
 *
 * threads.c: scheduling of the threads of a middleware, from the kernel.
 */
#include "common.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

bool thread_schedule_of(int tid, thread_schedule *out) {
  struct sched_param parameters = {0};
  const int policy = sched_getscheduler(tid);
  memset(out, 0, sizeof *out);
  if (policy < 0 || sched_getparam(tid, &parameters) != 0 ||
      sched_getaffinity(tid, sizeof out->cores, &out->cores) != 0)
    return false;
  out->policy = policy & ~SCHED_RESET_ON_FORK;
  out->priority = parameters.sched_priority;
  out->nice = getpriority(PRIO_PROCESS, (id_t)tid);
  return true;
}

static bool is_same(const thread_schedule *a, const thread_schedule *b) {
  return a->policy == b->policy && a->priority == b->priority && a->nice == b->nice && CPU_EQUAL(&a->cores, &b->cores);
}

static void add_cores(text *t, const cpu_set_t *cores) {
  const char *before = " cores ";
  for (int first = 0; first < CPU_SETSIZE; first++) {
    if (!CPU_ISSET(first, cores))
      continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cores))
      last++;
    text_add(t, last > first ? "%s%d-%d" : "%s%d", before, first, last);
    before = ",";
    first = last;
  }
}

static void add_schedule(text *t, const char *name, const thread_schedule *s) {
  static const char *const policies[] = {[SCHED_OTHER] = "other",
                                         [SCHED_FIFO] = "fifo",
                                         [SCHED_RR] = "rr",
                                         [SCHED_BATCH] = "batch",
                                         [SCHED_IDLE] = "idle"};
  const size_t known = sizeof policies / sizeof policies[0];
  const char *policy = s->policy >= 0 && (size_t)s->policy < known ? policies[s->policy] : NULL;
  text_add(t, "%s %s", name, policy ? policy : "unknown");
  if (s->policy == SCHED_FIFO || s->policy == SCHED_RR)
    text_add(t, " %d", s->priority);
  else if (s->nice)
    text_add(t, " nice %d", s->nice);
  add_cores(t, &s->cores);
}

/* Gets the name of a thread without the number at its end, which is a port or a counter. */
static bool name_of(const char *tid, char name[32]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", tid);
  FILE *file = fopen(path, "re");
  const bool found = file && fgets(name, 32, file) != NULL;
  if (file)
    fclose(file);
  if (!found)
    return false;
  size_t length = strcspn(name, "\n");
  const size_t whole = length;
  while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
    length--;
  if (length < whole && length > 0 && name[length - 1] == '.')
    length--;
  name[length] = '\0';
  return length > 0;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the threads that differ from `own`, each line once, in the order of their names. */
static void add_threads(text *all, const thread_schedule *own, const char *const *prefixes) {
  char *lines[64], name[32];
  size_t count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (const struct dirent *task; tasks && count < sizeof lines / sizeof lines[0] && (task = readdir(tasks)) != NULL;) {
    thread_schedule schedule;
    if (task->d_name[0] == '.' || !name_of(task->d_name, name) || !thread_schedule_of(atoi(task->d_name), &schedule) ||
        is_same(&schedule, own))
      continue;
    const char *const *prefix = prefixes;
    while (*prefix && strncmp(name, *prefix, strlen(*prefix)) != 0)
      prefix++;
    text line = {0};
    if (*prefix)
      add_schedule(&line, name, &schedule);
    if (line.data && !line.failed)
      lines[count++] = line.data;
    else
      text_free(&line);
  }
  if (tasks)
    closedir(tasks);
  qsort(lines, count, sizeof lines[0], compare);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
      text_add(all, "%s%s", all->length ? "; " : "", lines[i]);
  for (size_t i = 0; i < count; i++)
    free(lines[i]);
}

/* A thread sets its scheduling itself, some time after it was created. */
void threads_visit(const thread_schedule *own, const char *const *prefixes, bool configured, ddsmark_visitor visit,
                   void *context) {
  enum { MOST_LOOKS = 100, EQUAL_LOOKS = 10 };
  const struct timespec pause = {.tv_nsec = 10000000};
  text now = {0};
  add_threads(&now, own, prefixes);
  for (int looks = 0, equal = 0; configured && looks < MOST_LOOKS && equal < EQUAL_LOOKS; looks++) {
    nanosleep(&pause, NULL);
    text next = {0};
    add_threads(&next, own, prefixes);
    equal = next.length == now.length && (next.length == 0 || strcmp(next.data, now.data) == 0) ? equal + 1 : 0;
    text_free(&now);
    now = next;
  }
  visit(context, "threads", now.length && !now.failed ? now.data : "as the thread that opens the participant");
  text_free(&now);
}
