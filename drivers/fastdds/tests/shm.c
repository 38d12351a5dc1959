/* SPDX-License-Identifier: Apache-2.0
 *
 * shm.c: the files of shared memory, while a participant is open, after it has closed, and after its process was
 * killed.
 */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Visits the files in /dev/shm whose name begins so. */
static unsigned files(const char *begin, void (*visit)(const char *path)) {
  DIR *dir = opendir("/dev/shm");
  unsigned n = 0;
  CHECK(dir != NULL);
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (strncmp(e->d_name, begin, strlen(begin)) != 0)
      continue;
    char path[512];
    snprintf(path, sizeof path, "/dev/shm/%s", e->d_name);
    n++;
    if (visit)
      visit(path);
  }
  closedir(dir);
  return n;
}

static unsigned listed, missing;
static bool remove_them;

/* Each line of a list is a file; and is removed if it is asked for. */
static void read_list(const char *list) {
  char name[300], path[320];
  FILE *file = fopen(list, "r");
  CHECK(file != NULL && strstr(list, ".shared") != NULL);
  while (fgets(name, sizeof name, file)) {
    name[strcspn(name, "\n")] = '\0';
    CHECK(name[0] != '\0' && strchr(name, '/') == NULL);
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    listed++;
    missing += access(path, F_OK) != 0;
    if (remove_them)
      unlink(path);
  }
  fclose(file);
  if (remove_them)
    unlink(list);
}

static char run_name[64];

static ddsmark_participant *shared(const char *transport) {
  ddsmark_participant_config c = participant_config();
  c.run_name = run_name;
  c.transport = transport;
  ddsmark_participant *p = NULL;
  OK(d->participant_open(&c, &p));
  return p;
}

static ddsmark_writer *shared_writer(ddsmark_participant *p) {
  ddsmark_writer_config c = writer_config(NULL);
  c.max_payload_bytes = 1000;
  ddsmark_writer *w = NULL;
  OK(d->writer_open(p, &c, &w));
  return w;
}

void test_shared_files_are_listed(void) {
  static const char *const transports[] = {"shm", "data_sharing"};
  snprintf(run_name, sizeof run_name, "shm-test-%d", (int)getpid());
  for (int i = 0; i < 2; i++) {
    const unsigned before = files("", NULL);
    ddsmark_participant *p = shared(transports[i]);
    ddsmark_writer *w = shared_writer(p);
    listed = missing = 0;
    CHECK_U64(files(run_name, read_list), 1);
    CHECK(listed >= 1);
    OK(d->writer_close(w));
    OK(d->participant_close(p));
    CHECK_U64(files(run_name, NULL), 0);
    CHECK(files("", NULL) <= before); /* others on this host may come and go */
  }
}

static void to_be_killed(int fd, const void *transport) {
  ddsmark_participant *p = shared(transport);
  (void)shared_writer(p);
  tell(fd, 1);
  sleep_ms(60000);
}

/* What a killed process leaves is all in its list. */
void test_shared_files_after_a_kill(void) {
  static const char *const transports[] = {"shm", "data_sharing"};
  for (int i = 0; i < 2; i++) {
    snprintf(run_name, sizeof run_name, "shm-kill-%d-%d", (int)getpid(), i);
    const unsigned before = files("fast", NULL) + files("sem.fast", NULL);
    peer child = fork_peer(to_be_killed, transports[i]);
    hear_this(child.fd, 1);
    CHECK(kill(child.pid, SIGKILL) == 0);
    CHECK(waitpid(child.pid, NULL, 0) == child.pid);
    close(child.fd);
    CHECK(files("fast", NULL) + files("sem.fast", NULL) > before);
    listed = missing = 0;
    remove_them = true;
    CHECK_U64(files(run_name, read_list), 1);
    remove_them = false;
    CHECK(listed >= 1);
    CHECK(files("fast", NULL) + files("sem.fast", NULL) <= before);
  }
}
