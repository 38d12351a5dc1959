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
      return fail(DDSMARK_BAD_ARGUMENT, "option %u lacks a name or a value; hint: set both", i);
    uint32_t known = 0;
    while (known < count && strcmp(infos[known].name, name) != 0)
      known++;
    if (known < count)
      continue;
    text names = {0};
    for (uint32_t k = 0; k < count; k++)
      text_add(&names, "%s%s", k ? ", " : "", infos[k].name);
    fail(DDSMARK_BAD_ARGUMENT, "unknown option `%s`; hint: available: %s", name,
         names.failed ? "see `ddsmark drivers info`" : names.data);
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
    return fail(DDSMARK_BAD_ARGUMENT, "invalid value `%s` of option `%s`; hint: use a whole number from %llu to %llu",
                value, name, (unsigned long long)min, (unsigned long long)max);
  *out = n;
  return DDSMARK_OK;
}

/* -- participants -------------------------------------------------------------------------------------------------- */

ddsmark_status config_in(const ddsmark_participant_config *config, ddsmark_participant_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_participant_config, run_name))
    return fail(DDSMARK_BAD_ARGUMENT,
                "participant_open() was called without a valid `config`: it is NULL or its `struct_size` is too small");
  copy_in(out, sizeof *out, config, config->struct_size);
  /* Ignore a count whose array is missing in a shorter struct of the caller. */
  out->option_count = out->options ? out->option_count : 0;
  out->peer_count = out->peers ? out->peer_count : 0;
  return DDSMARK_OK;
}

static ddsmark_status buffer_check(const char *key, uint64_t bytes) {
  if (bytes <= 0x7fffffff)
    return DDSMARK_OK;
  return fail(DDSMARK_BAD_ARGUMENT, "`%s` is out of range: %llu bytes; hint: use at most 2147483647 bytes", key,
              (unsigned long long)bytes);
}

ddsmark_status config_check(const ddsmark_participant_config *config, const ddsmark_option_info *options,
                            uint32_t option_count) {
  ddsmark_status status;
  if (config->domain > 232)
    return fail(DDSMARK_BAD_ARGUMENT, "domain %u is out of range; hint: use a domain from 0 to 232", config->domain);
  if ((status = buffer_check("receive_buffer", config->receive_buffer_bytes)) ||
      (status = buffer_check("send_buffer", config->send_buffer_bytes)))
    return status;
  for (uint32_t i = 0; i < config->peer_count; i++)
    if (config->peers[i] == NULL || config->peers[i][0] == '\0')
      return fail(DDSMARK_BAD_ARGUMENT, "the address of peer %u is empty; hint: give each peer an IP address", i);
  return option_names_check(config, options, option_count);
}

ddsmark_status variables_refuse(const char *middleware, const foreign_variable *variables) {
  for (; variables->name; variables++) {
    const char *value = getenv(variables->name);
    if (value && value[0])
      return fail(
          DDSMARK_INCONSISTENT,
          "the environment variable `%s` is `%s`: it changes transports or discovery of %s, which belong to the "
          "experiment; hint: %s, and remove the variable from `--env`, or start ddsmark with `env -u %s`",
          variables->name, value, middleware, variables->instead, variables->name);
  }
  return DDSMARK_OK;
}

ddsmark_status participants_raise(const ddsmark_participant_config *config, const char *option, uint64_t above,
                                  uint64_t *limit) {
  const uint64_t count = config->participant_count;
  if (option_value(config, option) == NULL) {
    if (count + SPARE_PARTICIPANTS > *limit)
      *limit = count + SPARE_PARTICIPANTS;
    return DDSMARK_OK;
  }
  if (count <= *limit)
    return DDSMARK_OK;
  return fail(DDSMARK_INCONSISTENT,
              "option `%s` is %llu, too low for the %llu participants of this run; hint: set it to at least %llu, or "
              "remove it",
              option, (unsigned long long)(*limit - above), (unsigned long long)count,
              (unsigned long long)(count - above));
}

ddsmark_status participants_check(const ddsmark_participant_config *config, uint64_t limit, const char *why,
                                  const char *hint) {
  if (config->participant_count <= limit)
    return DDSMARK_OK;
  return fail(DDSMARK_UNSUPPORTED, "%u participants are not supported: %s; hint: %s", config->participant_count, why,
              hint);
}

ddsmark_status transport_find(const ddsmark_participant_config *config, const ddsmark_transport_info *infos,
                              uint32_t count, uint32_t *out) {
  const char *wanted = config->transport ? config->transport : config->vendor_defaults ? "builtin" : "";
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(wanted, infos[i].name) == 0) {
      *out = i;
      return DDSMARK_OK;
    }
  }
  if (config->transport == NULL)
    return DDSMARK_OK;
  text names = {0};
  for (uint32_t i = 0; i < count; i++)
    text_add(&names, "%s%s", i ? ", " : "", infos[i].name);
  fail(DDSMARK_BAD_ARGUMENT, "unknown transport `%s`; hint: available: %s", config->transport,
       names.failed ? "see `ddsmark drivers info`" : names.data);
  text_free(&names);
  return DDSMARK_BAD_ARGUMENT;
}

/* -- writers and readers --------------------------------------------------------------------------------------------
 */

ddsmark_status writer_config_in(const ddsmark_writer_config *config, ddsmark_writer_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_writer_config, qos))
    return fail(DDSMARK_BAD_ARGUMENT,
                "writer_open() was called without a valid `config`: it is NULL or its `struct_size` is too small");
  copy_in(out, sizeof *out, config, config->struct_size);
  return DDSMARK_OK;
}

ddsmark_status reader_config_in(const ddsmark_reader_config *config, ddsmark_reader_config *out) {
  if (config == NULL || config->struct_size < offsetof(ddsmark_reader_config, qos))
    return fail(DDSMARK_BAD_ARGUMENT,
                "reader_open() was called without a valid `config`: it is NULL or its `struct_size` is too small");
  copy_in(out, sizeof *out, config, config->struct_size);
  if (out->receive_mode > DDSMARK_RECEIVE_LISTENER)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown receive mode %u; hint: use a DDSMARK_RECEIVE_ constant",
                out->receive_mode);
  if ((out->receive_mode == DDSMARK_RECEIVE_LISTENER) != (out->sink != NULL))
    return fail(DDSMARK_BAD_ARGUMENT,
                out->sink
                    ? "a `sink` requires DDSMARK_RECEIVE_LISTENER; hint: pass the sink to reader_receive() instead"
                    : "DDSMARK_RECEIVE_LISTENER requires a `sink`; hint: set it in the configuration of the reader");
  return DDSMARK_OK;
}

ddsmark_status endpoint_config_check(const ddsmark_transport_info *transport, uint32_t type_kind, const char *topic,
                                     uint64_t max_payload) {
  if (type_kind > DDSMARK_TYPE_PLAIN)
    return fail(DDSMARK_BAD_ARGUMENT, "unknown type kind %u; hint: use a DDSMARK_TYPE_ constant", type_kind);
  if (topic == NULL || topic[0] == '\0')
    return fail(DDSMARK_BAD_ARGUMENT, "the name of the topic is empty; hint: use letters, digits and `_`");
  if (max_payload > transport->max_payload_bytes)
    return fail(DDSMARK_TOO_LARGE,
                "samples of %llu bytes exceed the maximum of transport `%s`; hint: use samples of at most %llu bytes",
                (unsigned long long)max_payload, transport->name, (unsigned long long)transport->max_payload_bytes);
  return DDSMARK_OK;
}
