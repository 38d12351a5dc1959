/* SPDX-License-Identifier: Apache-2.0
 *
 * leftovers.c: what a killed process left of Connext's shared memory.
 *
 * Connext keeps segments and semaphores of System V, which have no names: a key is a kind and a port of RTPS. Those of
 * a process that was killed stay until somebody opens the same port of the same domain. A host could not tell whose
 * they are; the kernel can: a segment in the range of the domains that ddsmark uses, of this user, that no process has
 * attached, and whose maker is gone, is removed, and with it the semaphores of its port.
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#define SEGMENT 0x400000
#define MUTEX 0x800000
#define SIGNAL 0xb00000
/* RTPS 2.5 section 9.6.2: domain 1 to 100, of 250 ports each. */
#define FIRST_PORT (7400 + 250)
#define LAST_PORT (7400 + 250 * 101 - 1)

static void remove_semaphore(key_t key) {
  const int id = semget(key, 0, 0);
  if (id >= 0)
    semctl(id, 0, IPC_RMID);
}

void leftovers_remove(void) {
  char line[512];
  FILE *file = fopen("/proc/sysvipc/shm", "re");
  while (file && fgets(line, sizeof line, file)) {
    long key, maker, attached, user;
    int id;
    if (sscanf(line, "%ld %d %*o %*u %ld %*d %ld %ld", &key, &id, &maker, &attached, &user) != 5)
      continue; /* the heading */
    const long port = key - SEGMENT;
    if (port < FIRST_PORT || port > LAST_PORT || attached != 0 || user != (long)geteuid() || maker <= 0 ||
        kill((pid_t)maker, 0) == 0 || errno != ESRCH)
      continue;
    shmctl(id, IPC_RMID, NULL);
    remove_semaphore((key_t)(MUTEX + port));
    remove_semaphore((key_t)(SIGNAL + port));
  }
  if (file)
    fclose(file);
}
