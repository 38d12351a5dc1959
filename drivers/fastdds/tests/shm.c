/* SPDX-License-Identifier: Apache-2.0
 *
 * shm.c: shared-memory files while a participant is open, after it was closed, and after its process was killed.
 */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

static const char directory[] = "/dev/shm/";
static const char *const transports[] = {"shm", "data_sharing"};

/* Visits the files in /dev/shm with this prefix and returns their number. */
static unsigned files(const char *begin, void (*visit)(const char *path)) {
  DIR *dir = opendir(directory);
  unsigned n = 0;
  CHECK(dir != NULL);
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (strncmp(e->d_name, begin, strlen(begin)) != 0)
      continue;
    char path[512];
    snprintf(path, sizeof path, "%s%s", directory, e->d_name);
    n++;
    if (visit)
      visit(path);
  }
  closedir(dir);
  return n;
}

/* -- what a process has made --------------------------------------------------------------------------------------- */

typedef struct names {
  char name[64][128];
  unsigned count;
} names;

static int place_of(const names *n, const char *name) {
  for (unsigned i = 0; i < n->count; i++)
    if (strcmp(n->name[i], name) == 0)
      return (int)i;
  return -1;
}

static void note(names *n, const char *name) {
  if (place_of(n, name) >= 0)
    return;
  CHECK(n->count < 64 && strlen(name) < sizeof n->name[0]);
  strcpy(n->name[n->count++], name);
}

/* Records a file of the library in /dev/shm, and the mutex of a port. */
static void note_path(names *n, const char *path) {
  char name[128], mutex[256];
  if (strncmp(path, directory, strlen(directory)) != 0 || strstr(path, " (deleted)"))
    return;
  CHECK(snprintf(name, sizeof name, "%s", path + strlen(directory)) < (int)sizeof name);
  name[strcspn(name, "\n")] = '\0';
  if (strncmp(name, "fast", 4) != 0)
    return;
  note(n, name);
  snprintf(mutex, sizeof mutex, "%ssem.%s_mutex", directory, name);
  if (access(mutex, F_OK) == 0)
    note(n, mutex + strlen(directory));
}

/* Records the files that a process has open or mapped. */
static void made_by(pid_t pid, names *n) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(path, "r");
  CHECK(maps != NULL);
  while (fgets(text, sizeof text, maps))
    if (strchr(text, '/'))
      note_path(n, strchr(text, '/'));
  fclose(maps);
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *dir = opendir(path);
  CHECK(dir != NULL);
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    const ssize_t length = readlinkat(dirfd(dir), e->d_name, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    note_path(n, text);
  }
  closedir(dir);
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

static char list_path[512], list_text[1 << 16];

static void read_list(const char *path) {
  snprintf(list_path, sizeof list_path, "%s", path);
  CHECK(strlen(path) > 7 && strcmp(path + strlen(path) - 7, ".shared") == 0);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  list_text[fread(list_text, 1, sizeof list_text - 1, file)] = '\0';
  CHECK(feof(file));
  fclose(file);
}

/* Returns whether a pattern of the list matches this file. */
static bool is_listed(const char *name) {
  bool listed = false;
  char *words = strdup(list_text), *rest = words;
  for (const char *word; (word = strsep(&rest, " \n")) != NULL;) {
    CHECK(strchr(word, '/') == NULL);
    listed = listed || fnmatch(word, name, 0) == 0;
  }
  free(words);
  return listed;
}

static bool is_locked(const char *path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return locked;
}

/* Checks that the only list of the run contains all of these. */
static void check_list(const char *begin, const names *n) {
  CHECK_U64(files(begin, read_list), 1);
  CHECK(n->count >= 1);
  for (unsigned i = 0; i < n->count; i++)
    if (!is_listed(n->name[i]))
      FAILED("%s is in no list", n->name[i]);
}

/* Checks that segments match with any name, because the first one no longer exists; but no port of another domain,
 * which may have no lock. */
static void check_words(const names *n) {
  for (unsigned i = 0; i < n->count; i++) {
    const char *port = strstr(n->name[i], "_port");
    char name[160];
    if (port == NULL || strncmp(n->name[i], "sem.", 4) == 0)
      continue;
    CHECK(snprintf(name, sizeof name, "%.*s_0123456789abcdef", (int)(port - n->name[i]), n->name[i]) > 0);
    CHECK(is_listed(name));
    CHECK(snprintf(name, sizeof name, "%.*s_port65000", (int)(port - n->name[i]), n->name[i]) > 0);
    CHECK(!is_listed(name));
  }
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

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
  snprintf(run_name, sizeof run_name, "shm-test-%d", (int)getpid());
  for (int i = 0; i < 2; i++) {
    names made = {0};
    ddsmark_participant *p = shared(transports[i]);
    ddsmark_writer *w = shared_writer(p);
    made_by(getpid(), &made);
    check_list(run_name, &made);
    CHECK(is_locked(list_path));
    check_words(&made);
    /* a second participant has its own list */
    ddsmark_participant *other = shared(transports[i]);
    CHECK_U64(files(run_name, NULL), 2);
    OK(d->participant_close(other));
    check_list(run_name, &made);
    OK(d->writer_close(w));
    OK(d->participant_close(p));
    CHECK_U64(files(run_name, NULL), 0);
    for (unsigned n = 0; n < made.count; n++)
      CHECK_U64(files(made.name[n], NULL), 0);
  }
}

/* Leaves a port that others still write to: the library does not remove it. */
static void leave_port(const char *transport, names *made) {
  if (strcmp(transport, "shm") != 0)
    return;
  char path[256];
  for (unsigned i = 0; i < made->count; i++) {
    const char *port = strstr(made->name[i], "_port");
    if (port == NULL || strchr(port + 1, '_'))
      continue;
    /* the last port of the domain, which no participant has reached */
    CHECK(snprintf(path, sizeof path, "%s%.*s_port%u", directory, (int)(port - made->name[i]), made->name[i],
                   7400 + 250 * test_domain + 249) < (int)sizeof path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    close(fd);
    note(made, path + strlen(directory));
    return;
  }
  FAILED("there is no port");
}

/* The list exists before any of its files and is removed after all of them, whenever the process is killed. */
void test_list_of_shared_files_is_first_and_last(void) {
  snprintf(run_name, sizeof run_name, "shm-order-%d", (int)getpid());
  for (int i = 0; i < 2; i++) {
    const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    CHECK(watch >= 0 && inotify_add_watch(watch, directory, IN_CREATE | IN_DELETE) >= 0);
    names made = {0};
    ddsmark_participant *p = shared(transports[i]);
    ddsmark_writer *w = shared_writer(p);
    made_by(getpid(), &made);
    CHECK(made.count >= 1);
    leave_port(transports[i], &made);
    OK(d->writer_close(w));
    OK(d->participant_close(p));
    unsigned created = 0, deleted = 0;
    bool listed = false, over = false;
    _Alignas(struct inotify_event) char events[4096];
    for (ssize_t size; (size = read(watch, events, sizeof events)) > 0;) {
      for (const char *at = events; at < events + size;) {
        const struct inotify_event *event = (const struct inotify_event *)at;
        at += sizeof *event + event->len;
        CHECK((event->mask & IN_Q_OVERFLOW) == 0);
        if (strncmp(event->name, run_name, strlen(run_name)) == 0) {
          listed = listed || (event->mask & IN_CREATE) != 0;
          over = over || (event->mask & IN_DELETE) != 0;
        } else if (place_of(&made, event->name) >= 0) {
          CHECK(listed && !over);
          created += (event->mask & IN_CREATE) != 0;
          deleted += (event->mask & IN_DELETE) != 0;
        }
      }
    }
    close(watch);
    CHECK(over && created >= 1 && deleted >= created);
  }
}

static void to_be_killed(int fd, const void *transport) {
  ddsmark_participant *p = shared(transport);
  (void)shared_writer(p);
  tell(fd, 1);
  sleep_ms(60000);
}

/* All files that a killed process leaves are in its list, which no process locks any longer. */
void test_shared_files_after_a_kill(void) {
  for (int i = 0; i < 2; i++) {
    snprintf(run_name, sizeof run_name, "shm-kill-%d-%d", (int)getpid(), i);
    names made = {0};
    peer child = fork_peer(to_be_killed, transports[i]);
    hear_this(child.fd, 1);
    made_by(child.pid, &made);
    CHECK(kill(child.pid, SIGKILL) == 0);
    CHECK(waitpid(child.pid, NULL, 0) == child.pid);
    close(child.fd);
    check_list(run_name, &made);
    CHECK(!is_locked(list_path));
    for (unsigned n = 0; n < made.count; n++) {
      char path[256];
      snprintf(path, sizeof path, "%s%s", directory, made.name[n]);
      CHECK(access(path, F_OK) == 0);
      CHECK(unlink(path) == 0);
    }
    CHECK(unlink(list_path) == 0);
  }
}
