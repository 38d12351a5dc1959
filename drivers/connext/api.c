/* SPDX-License-Identifier: Apache-2.0
 *
 * api.c: loads the Connext library, and error texts of its functions.
 */
#include "internal.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CONNEXT_PREFIXES
#define CONNEXT_PREFIXES ""
#endif
#ifdef CONNEXT_VERSION
#define PREFIXES_ONLY true
#else
#define PREFIXES_ONLY false
#endif

static api the_api;
static bool usable;
static char failure[3 * PATH_SIZE];

const char *api_failure(void) {
  return failure;
}

/* Loads a library in the directory of libnddsc.so. */
static void *load_beside(const char *name) {
  char path[PATH_SIZE];
  const char *of = the_api.library.path, *slash = strrchr(of, '/');
  if (slash == NULL || snprintf(path, sizeof path, "%.*s/%s", (int)(slash - of), of, name) >= (int)sizeof path)
    return NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool symbol(void *handle, const char *name, const void **out) {
  *out = dlsym(handle, name);
  if (*out)
    return true;
  snprintf(failure, sizeof failure,
           "RTI Connext cannot be used: %s has no `%s`; hint: install Connext Professional 6.1 or later",
           the_api.library.path, name);
  return false;
}

static bool find_calls(void *handle) {
  const void *found;
#define FIND(type, member, parameters, name)                                                                           \
  if (!symbol(handle, name, &found))                                                                                   \
    return false;                                                                                                      \
  memcpy(&the_api.member, &found, sizeof found);
  API_CALLS(FIND)
#undef FIND
  return true;
}

static bool find_qos(void *handle) {
  static const struct {
    const char *type, *get, *prefix;
  } names[] = {
#define NAMES(kind, type, get, prefix) [kind] = {type, get, prefix},
      API_QOS(NAMES)
#undef NAMES
  };
  char name[128];
  for (int k = 0; k < QOS_KINDS; k++) {
    qos_calls *q = &the_api.qos[k];
    const void *found[4];
    snprintf(name, sizeof name, "%s_initialize", names[k].type);
    bool fine = symbol(handle, name, &found[0]);
    snprintf(name, sizeof name, "%s_finalize", names[k].type);
    fine = fine && symbol(handle, name, &found[1]);
    snprintf(name, sizeof name, "%s_to_string_w_params", names[k].type);
    fine = fine && symbol(handle, name, &found[2]) && symbol(handle, names[k].get, &found[3]);
    snprintf(name, sizeof name, "%s_QOS_PRINT_ALL", names[k].prefix);
    const void *print_all;
    if (!fine || !symbol(handle, name, &print_all))
      return false;
    q->print_all = *(const void *const *)print_all;
    memcpy(&q->initialize, &found[0], sizeof found[0]);
    memcpy(&q->finalize, &found[1], sizeof found[1]);
    memcpy(&q->to_string, &found[2], sizeof found[2]);
    memcpy(&q->get, &found[3], sizeof found[3]);
  }
  return true;
}

static bool find_data(void *handle) {
  static const char *const types[][2] = {
#define NAMES(kind, seq, reader) [kind] = {seq, reader},
      API_DATA(NAMES)
#undef NAMES
  };
  static const char *const calls[] = {"initialize", "finalize", "get_length", "get_reference",
                                      "narrow",     "take",     "return_loan"};
  char name[128];
  for (int k = 0; k < DATA_KINDS; k++) {
    const void *found[7];
    for (int i = 0; i < 7; i++) {
      snprintf(name, sizeof name, "%s_%s", types[k][i > 3], calls[i]);
      if (!symbol(handle, name, &found[i]))
        return false;
    }
    data_calls *d = &the_api.data[k];
    memcpy(&d->initialize, &found[0], sizeof found[0]);
    memcpy(&d->finalize, &found[1], sizeof found[0]);
    memcpy(&d->length, &found[2], sizeof found[0]);
    memcpy(&d->at, &found[3], sizeof found[0]);
    memcpy(&d->narrow, &found[4], sizeof found[0]);
    memcpy(&d->take, &found[5], sizeof found[0]);
    memcpy(&d->return_loan, &found[6], sizeof found[0]);
  }
  return true;
}

static bool find_connector(void) {
  void *handle = load_beside("librtiddsconnector.so");
  const void *found[2];
  if (handle == NULL) {
    snprintf(failure, sizeof failure,
             "library librtiddsconnector.so cannot be loaded: %s; hint: reinstall the package rticonnextdds-connector",
             dlerror());
    return false;
  }
  if (!symbol(handle, "RTI_Connector_new", &found[0]) || !symbol(handle, "RTI_Connector_delete", &found[1]))
    return false;
  memcpy(&the_api.connector_new, &found[0], sizeof found[0]);
  memcpy(&the_api.connector_delete, &found[1], sizeof found[1]);
  return true;
}

/* Gets the first number of three parts in the library's version text. */
static void read_release(void) {
  snprintf(the_api.release, sizeof the_api.release, "unknown");
  for (const char *at = the_api.version(); at && *at; at++) {
    int major, minor, patch, end = 0;
    if (isdigit((unsigned char)*at) && sscanf(at, "%d.%d.%d%n", &major, &minor, &patch, &end) == 3) {
      snprintf(the_api.release, sizeof the_api.release, "%d.%d.%d", major, minor, patch);
      return;
    }
  }
}

static void load(void) {
  if (!library_find(CONNEXT_PREFIXES, PREFIXES_ONLY, &the_api.library)) {
    snprintf(failure, sizeof failure,
             "RTI Connext is not installed; hint: set NDDSHOME to your installation, or run `ddsmark drivers install "
             "connext --accept-licence`");
    return;
  }
  load_beside("libnddscore.so"); /* a dependency that the loader would search elsewhere */
  void *handle = dlopen(the_api.library.path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(failure, sizeof failure,
             "RTI Connext cannot be loaded: %s; hint: install Connext for the processor architecture of this host",
             dlerror());
    return;
  }
  if (!find_calls(handle) || !symbol(handle, "DDS_HANDLE_NIL", &the_api.handle_nil) ||
      !symbol(handle, "DDS_DYNAMIC_DATA_TYPE_PROPERTY_DEFAULT", &the_api.type_property) || !find_qos(handle) ||
      !find_data(handle) || (the_api.library.kind == LIBRARY_CONNECTOR && !find_connector()))
    return;
  read_release();
  usable = true;
}

const api *api_get(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return usable ? &the_api : NULL;
}

char *api_qos_text(const api *a, qos_kind kind, void *entity) {
  static const space as_it_is; /* DDS_QosPrintFormat: all 0 disables standalone, private and indented output */
  const qos_calls *q = &a->qos[kind];
  void *qos = calloc(1, QOS_ROOM);
  char *string = NULL;
  uint32_t size = 0;
  if (qos == NULL)
    return NULL;
  if (q->initialize(qos) == CODE_OK) {
    /* First call for the size, second for the text. */
    if (q->get(entity, qos) == CODE_OK && q->to_string(qos, NULL, &size, q->print_all, &as_it_is) == CODE_OK &&
        (string = calloc(1, (size_t)size + 1)) != NULL &&
        q->to_string(qos, string, &size, q->print_all, &as_it_is) != CODE_OK) {
      free(string);
      string = NULL;
    }
    q->finalize(qos);
  }
  free(qos);
  return string;
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

ddsmark_status fail_code(int32_t code, const char *function, const char *what) {
  return fail(code_status((uint32_t)code),
              "%s: %s() failed: %s (return code %d); hint: see the messages of Connext in the log of the agent", what,
              function, code_name((uint32_t)code), (int)code);
}

ddsmark_status fail_null(const char *function, const char *what) {
  return fail(DDSMARK_ERROR,
              "%s: %s() returned NULL; hint: see the messages of Connext in the log of the agent, for example about a "
              "missing licence",
              what, function);
}
