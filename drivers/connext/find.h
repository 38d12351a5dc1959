/* SPDX-License-Identifier: Apache-2.0
 *
 * find.h: finds the library on this host.
 */
#ifndef DDSMARK_CONNEXT_FIND_H
#define DDSMARK_CONNEXT_FIND_H

#include <stdbool.h>

#define PATH_SIZE 4096

typedef enum library_kind { LIBRARY_INSTALLATION, LIBRARY_PACKAGE, LIBRARY_CONNECTOR } library_kind;

typedef struct library {
  library_kind kind;
  char path[PATH_SIZE];
} library;

/* Finds the first library. `prefixes`: directories or glob patterns of directories, separated by colons. */
bool library_find(const char *prefixes, bool prefixes_only, library *out);
/* Returns the name of the library kind for messages. */
const char *library_name(library_kind kind);

#endif
