/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c: finds the library on this host.
 *
 * Search order:
 *   1. the installation given by NDDSHOME
 *   2. below the prefixes that the driver was built with: an installation; the Python package `rti.connext`, which
 *      needs the user's licence file; the Python package `rticonnextdds-connector`, which needs none
 *   3. the same packages in the active virtual environment
 * A driver that was built for one version searches only below its prefixes. Nothing else is searched, and nothing is
 * downloaded.
 */
#include "find.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define CONNECTOR_FOLDER "linux-arm64"
#else
#define CONNECTOR_FOLDER "linux-x64"
#endif

/* Paths of the library below a prefix, by package. */
static const struct {
  library_kind kind;
  const char *pattern;
} patterns[] = {
    {LIBRARY_INSTALLATION, "lib/*/libnddsc.so"},
    {LIBRARY_PACKAGE, "lib*/python3*/site-packages/rti/libnddsc.so"},
    {LIBRARY_CONNECTOR, "lib*/python3*/site-packages/rticonnextdds-connector/lib/" CONNECTOR_FOLDER "/libnddsc.so"},
};

static bool first_of(const char *pattern, char *out, size_t size) {
  glob_t found = {0};
  const bool fine = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0 && strlen(found.gl_pathv[0]) < size;
  if (fine)
    strcpy(out, found.gl_pathv[0]);
  globfree(&found);
  return fine;
}

static bool below(const char *prefix, size_t length, const char *pattern, char *out, size_t size) {
  char whole[PATH_SIZE];
  return length > 0 && snprintf(whole, sizeof whole, "%.*s/%s", (int)length, prefix, pattern) < (int)sizeof whole &&
         first_of(whole, out, size);
}

/* Searches below prefixes, which are separated by colons and may be glob patterns. */
static bool below_any(const char *prefixes, const char *pattern, char *out, size_t size) {
  for (const char *at = prefixes; at && *at;) {
    const size_t length = strcspn(at, ":");
    if (below(at, length, pattern, out, size))
      return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static bool package_below(const char *prefixes, library *out) {
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    if (below_any(prefixes, patterns[i].pattern, out->path, sizeof out->path)) {
      out->kind = patterns[i].kind;
      return true;
    }
  }
  return false;
}

bool library_find(const char *prefixes, bool prefixes_only, library *out) {
  if (prefixes_only)
    return package_below(prefixes, out);
  const char *home = getenv("NDDSHOME");
  if (home && below(home, strlen(home), patterns[0].pattern, out->path, sizeof out->path)) {
    out->kind = LIBRARY_INSTALLATION;
    return true;
  }
  return package_below(prefixes, out) || package_below(getenv("VIRTUAL_ENV"), out);
}

const char *library_name(library_kind kind) {
  static const char *const names[] = {[LIBRARY_INSTALLATION] = "an installation",
                                      [LIBRARY_PACKAGE] = "the package rti.connext",
                                      [LIBRARY_CONNECTOR] = "the package rticonnextdds-connector"};
  return names[kind];
}
