/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h: what a test says when it fails.
 */
#ifndef DDSMARK_CONNEXT_CHECK_H
#define DDSMARK_CONNEXT_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends the process as failed, with the place and what was found there; without handlers of a middleware's. */
#define FAILED(...)                                                                                                    \
  do {                                                                                                                 \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                                                    \
    fprintf(stderr, __VA_ARGS__);                                                                                      \
    fputc('\n', stderr);                                                                                               \
    _exit(1);                                                                                                          \
  } while (0)
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      FAILED("%s", #condition);                                                                                        \
  } while (0)
#define CHECK_U64(found, expected)                                                                                     \
  do {                                                                                                                 \
    const uint64_t found_ = (uint64_t)(found), expected_ = (uint64_t)(expected);                                       \
    if (found_ != expected_)                                                                                           \
      FAILED("%s is %llu, not %llu", #found, (unsigned long long)found_, (unsigned long long)expected_);               \
  } while (0)
#define CHECK_HAS(text, part)                                                                                          \
  do {                                                                                                                 \
    const char *text_ = (text), *part_ = (part);                                                                       \
    if (strstr(text_, part_) == NULL)                                                                                  \
      FAILED("`%s` is without `%s`", text_, part_);                                                                    \
  } while (0)

#endif
