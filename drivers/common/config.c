/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c: checks of configurations that are common to all drivers.
 */
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -- options ------------------------------------------------------------------------------------------------------- */

const char *option_value(const ddsmark_participant_config *config, const char *name) {
  const char *value = NULL;
  for (uint32_t i = 0; i < config->option_count; i++)
    if (strcmp(config->options[i].name, name) == 0)
      value = config->options[i].value;
  return value;
}

static ddsmark_status option_names_check(const ddsmark_participant_config *config, const ddsmark_option_info *infos,
                                         uint32_t count) {
  for (uint32_t i = 0; i < config->option_count; i++) {
    const char *name = config->options[i].name;
    if (name == NULL || config->options[i].value == NULL)
      return fail(DDSMARK_BAD_ARGUMENT, "option %u has no name or no value", i);
    uint32_t known = 0;
    while (known < count && strcmp(infos[known].name, name) != 0)
      known++;
    if (known < count)
      continue;
    text names = {0};
    for (uint32_t k = 0; k < count; k++)
      text_add(&names, "%s%s", k ? ", " : "", infos[k].name);
    fail(DDSMARK_BAD_ARGUMENT, "unknown option `%s`; hint: available: %s", name, names.failed ? "others" : names.data);
    text_free(&names);
    return DDSMARK_BAD_ARGUMENT;
  }
  return DDSMARK_OK;
}

ddsmark_status option_number(const ddsmark_participant_config *config, const char *name, uint64_t min, uint64_t max,
                             uint64_t *out) {
  const char *value = option_value(config, name);
  if (value == NULL)
    return DDSMARK_OK;
  char *end = NULL;
  errno = 0;
  const unsigned long long n = strtoull(value, &end, 10);
  if (errno || !isdigit((unsigned char)value[0]) || *end != '\0' || n < min || n > max)
    return fail(DDSMARK_BAD_ARGUMENT, "option `%s` is `%s`; hint: a whole number, %llu..%llu", name, value,
                (unsigned long long)min, (unsigned long long)max);
  *out = n;
  return DDSMARK_OK;
}

/* -- participants -------------------------------------------------------------------------------------------------- */

ddsmark_status config_in(const ddsmark_participant_config *config, ddsmark_participant_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_participant_config, run_name))
    return fail(DDSMARK_BAD_ARGUMENT, "participant_open was called without a configuration");
  copy_in(out, sizeof *out, config, config->struct_size);
  /* Ignore a count whose array is missing in a shorter struct of the caller. */
  out->option_count = out->options ? out->option_count : 0;
  out->peer_count = out->peers ? out->peer_count : 0;
  return DDSMARK_OK;
}

ddsmark_status config_check(const ddsmark_participant_config *config, const ddsmark_option_info *options,
                            uint32_t option_count) {
  if (config->domain > 230)
    return fail(DDSMARK_BAD_ARGUMENT, "domain %u has no ports; hint: use 1..100", config->domain);
  if (config->receive_buffer_bytes > 0x7fffffff || config->send_buffer_bytes > 0x7fffffff)
    return fail(DDSMARK_BAD_ARGUMENT, "a socket buffer of more than 2147483647 bytes is out of range");
  for (uint32_t i = 0; i < config->peer_count; i++)
    if (config->peers[i] == NULL || config->peers[i][0] == '\0')
      return fail(DDSMARK_BAD_ARGUMENT, "peer %u is empty", i);
  return option_names_check(config, options, option_count);
}

ddsmark_status transport_find(const ddsmark_participant_config *config, const ddsmark_transport_info *infos,
                              uint32_t count, uint32_t *out) {
  if (config->transport == NULL)
    return DDSMARK_OK;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(config->transport, infos[i].name) == 0) {
      *out = i;
      return DDSMARK_OK;
    }
  }
  text names = {0};
  for (uint32_t i = 0; i < count; i++)
    text_add(&names, "%s%s", i ? ", " : "", infos[i].name);
  fail(DDSMARK_BAD_ARGUMENT, "unknown transport `%s`; hint: available: %s", config->transport,
       names.failed ? "others" : names.data);
  text_free(&names);
  return DDSMARK_BAD_ARGUMENT;
}

/* -- writers and readers --------------------------------------------------------------------------------------------
 */

ddsmark_status writer_config_in(const ddsmark_writer_config *config, ddsmark_writer_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_writer_config, qos))
    return fail(DDSMARK_BAD_ARGUMENT, "writer_open was called without a configuration");
  copy_in(out, sizeof *out, config, config->struct_size);
  return DDSMARK_OK;
}

ddsmark_status reader_config_in(const ddsmark_reader_config *config, ddsmark_reader_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_reader_config, qos))
    return fail(DDSMARK_BAD_ARGUMENT, "reader_open was called without a configuration");
  copy_in(out, sizeof *out, config, config->struct_size);
  if (out->receive_mode > DDSMARK_RECEIVE_LISTENER)
    return fail(DDSMARK_BAD_ARGUMENT, "receive mode %u does not exist", out->receive_mode);
  if ((out->receive_mode == DDSMARK_RECEIVE_LISTENER) != (out->sink != NULL))
    return fail(DDSMARK_BAD_ARGUMENT,
                out->sink ? "a sink requires DDSMARK_RECEIVE_LISTENER" : "DDSMARK_RECEIVE_LISTENER requires a sink");
  return DDSMARK_OK;
}

ddsmark_status endpoint_config_check(const ddsmark_transport_info *transport, uint32_t type_kind, const char *topic,
                                     uint64_t max_payload) {
  if (type_kind > DDSMARK_TYPE_PLAIN)
    return fail(DDSMARK_BAD_ARGUMENT, "type %u does not exist", type_kind);
  if (topic == NULL || topic[0] == '\0')
    return fail(DDSMARK_BAD_ARGUMENT, "the topic has no name");
  if (max_payload > transport->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE, "samples of %llu bytes are too large for %s; hint: at most %llu",
                (unsigned long long)max_payload, transport->name, (unsigned long long)transport->max_payload_bytes);
  return DDSMARK_OK;
}
