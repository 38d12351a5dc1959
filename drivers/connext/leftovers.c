/* SPDX-License-Identifier: Apache-2.0
 *
 * leftovers.c: cleanup of Connext's shared memory after a kill.
 *
 * Connext uses System V segments and semaphores, which have no names: a key is a kind and an RTPS port. Those of a
 * killed process remain until a process opens the same port of the same domain. The host cannot identify their
 * owner, but the kernel can. A segment is removed if it is in the domain range of ddsmark, belongs to this user, is
 * attached to no process, and its creator has ended. The semaphores of its port are removed with it.
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
/* RTPS 2.5 section 9.6.2: domains 1 to 100 with 250 ports each. */
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
      continue; /* heading line */
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
