/* SPDX-License-Identifier: Apache-2.0
 *
 * library.c: the version of a loaded library.
 */
#include "common.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool library_version(const void *of, const char *library, char *out, size_t size) {
  Dl_info info;
  char path[PATH_MAX];
  if (dladdr(of, &info) == 0 || realpath(info.dli_fname, path) == NULL)
    return false;
  const char *name = strrchr(path, '/');
  const size_t length = strlen(library);
  unsigned major, minor, patch;
  int end = 0;
  if (name == NULL || strncmp(name + 1, library, length) != 0 ||
      sscanf(name + 1 + length, ".so.%u.%u.%u%n", &major, &minor, &patch, &end) != 3 ||
      name[1 + length + (size_t)end] != '\0')
    return false;
  snprintf(out, size, "%u.%u.%u", major, minor, patch);
  return true;
}
