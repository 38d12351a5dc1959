/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c: a participant's configuration and options -> a plan.
 *
 * The documented defaults of Connext are not what its users configure: heartbeats every 3 s, readers that respond to
 * them after up to half a second, a writer that gives a reader up after ten of them. The defaults of the options
 * below equal, or are close to, those of RTI's own performance test; README.md has a table of them. The effective
 * XML is in every result, and `vendor_defaults` keeps the defaults of the vendor.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A serialised sample may not exceed INT32_MAX bytes; subtract encapsulation, key, length and padding. */
#define MAX_PAYLOAD (2147483647u - 64u)

/* Default size of the receive buffers and of the segments. The kernel limits it to net.core.rmem_max. */
#define RECEIVE_BUFFER (8u << 20)

/* Maximum message size of each transport, Connext's defaults. */
static const uint64_t shipped_message_size[] = {
    [TRANSPORT_UDP4] = 65507, [TRANSPORT_SHM] = 65536, [TRANSPORT_BUILTIN] = 65507};
/* Size of the headers of RTPS, sample and fragment, rounded up. */
#define MESSAGE_OVERHEAD 512

const ddsmark_transport_info transport_infos[] = {
    [TRANSPORT_UDP4] = {"udp4", MAX_PAYLOAD,
                        "samples larger than a message of 65507 bytes are fragmented and sent asynchronously"},
    [TRANSPORT_SHM] =
        {"shm", MAX_PAYLOAD,
         "segments of System V; samples larger than a message of 65536 bytes are fragmented and sent asynchronously"},
    [TRANSPORT_BUILTIN] = {"builtin", MAX_PAYLOAD,
                           "those of Connext itself: udp4, and shm between endpoints of one host"},
};
const uint32_t transport_count = sizeof transport_infos / sizeof transport_infos[0];

enum {
  OPTION_BASE_PROFILE,
  OPTION_SEND_WINDOW,
  OPTION_HEARTBEAT,
  OPTION_FAST_HEARTBEAT,
  OPTION_MESSAGE_SIZE,
  OPTION_SHM_MESSAGES,
  OPTION_MAX_INDEX,
  OPTION_TURBO,
  OPTION_THROTTLE,
  OPTION_FLOW,
  OPTION_BATCH_SAMPLES,
  OPTION_BATCH_FLUSH
};

const ddsmark_option_info option_infos[] = {
    [OPTION_BASE_PROFILE] = {"base_profile", NULL,
                             "QoS profile as LIBRARY::PROFILE, from NDDS_QOS_PROFILES or BuiltinQosLib, on which the "
                             "requested QoS of all entities is set; default none"},
    [OPTION_SEND_WINDOW] = {"send_window", "256",
                            "number of unacknowledged samples, or batches, at which a reliable writer blocks, 1 to "
                            "100000000; default 256"},
    [OPTION_HEARTBEAT] = {"heartbeat_us", "10000",
                          "heartbeat period of a reliable writer in us, 100 to 3600000000; default 10000"},
    [OPTION_FAST_HEARTBEAT] =
        {"fast_heartbeat_us", "1000",
         "heartbeat period in us while samples are unacknowledged, 100 to the value of `heartbeat_us`; default 1000"},
    [OPTION_MESSAGE_SIZE] = {"message_size_max", NULL,
                             "maximum size of a message of the transport in bytes, 1024 to 2147483620; default 65507 "
                             "over udp4, 65536 over shm"},
    [OPTION_SHM_MESSAGES] = {"shm_messages", "2048",
                             "maximum number of messages in a shared-memory segment, 1 to 1000000; default 2048"},
    [OPTION_MAX_INDEX] =
        {"max_participant_index", "31",
         "highest index of a participant on one host, which discovery by unicast contacts, 0 to 999; default 31, or "
         "more if the run has more than 16 participants"},
    [OPTION_TURBO] =
        {"turbo_mode", "false",
         "whether writers batch automatically, depending on the rate of writes: true or false; default false"},
    [OPTION_THROTTLE] = {"auto_throttle", "false",
                         "whether writers reduce their rate when the send window fills: true or false; default false"},
    [OPTION_FLOW] = {"flow_controller", "default",
                     "flow controller of asynchronous writers: default, fixed_rate, or BYTES/US, a token bucket that "
                     "allows that many bytes in each period of that many us; default default"},
    [OPTION_BATCH_SAMPLES] = {"batch_max_samples", NULL,
                              "maximum number of samples in a batch, 1 to 1000000; default that of Connext"},
    [OPTION_BATCH_FLUSH] = {"batch_flush_us", NULL,
                            "maximum delay of a batch in us, 1 to 3600000000; default that of Connext"},
};
const uint32_t option_count = sizeof option_infos / sizeof option_infos[0];

/* -- options ------------------------------------------------------------------------------------------------------- */

static bool digits(const char *from, char end, uint64_t *out, const char **after) {
  char *stop = NULL;
  if (*from < '0' || *from > '9')
    return false;
  errno = 0;
  *out = strtoull(from, &stop, 10);
  *after = stop;
  return errno == 0 && *stop == end;
}

static const char *value_of(const ddsmark_participant_config *config, uint32_t option) {
  return option_value(config, option_infos[option].name);
}

static ddsmark_status number(const ddsmark_participant_config *config, uint32_t option, uint64_t least, uint64_t most,
                             uint64_t *out) {
  return option_number(config, option_infos[option].name, least, most, out);
}

static ddsmark_status truth(const ddsmark_participant_config *config, uint32_t option, bool *out) {
  const char *value = value_of(config, option);
  if (value && strcmp(value, "true") && strcmp(value, "false"))
    return fail(DDSMARK_BAD_ARGUMENT, "invalid value `%s` of option `%s`; hint: use true or false", value,
                option_infos[option].name);
  *out = value && strcmp(value, "true") == 0;
  return DDSMARK_OK;
}

static ddsmark_status flow_of(const ddsmark_participant_config *config, plan *p) {
  const char *value = value_of(config, OPTION_FLOW), *after;
  p->flow = FLOW_DEFAULT;
  if (value == NULL || strcmp(value, "default") == 0)
    return DDSMARK_OK;
  p->flow = FLOW_FIXED_RATE;
  if (strcmp(value, "fixed_rate") == 0)
    return DDSMARK_OK;
  p->flow = FLOW_BUCKET;
  if (digits(value, '/', &p->flow_bytes, &after) && digits(after + 1, '\0', &p->flow_us, &after) &&
      p->flow_bytes >= 1024 && p->flow_bytes <= 2147483647 && p->flow_us >= 1 && p->flow_us <= 1000000000)
    return DDSMARK_OK;
  return fail(DDSMARK_BAD_ARGUMENT,
              "invalid value `%s` of option `flow_controller`; hint: use default, fixed_rate, or BYTES/US with at "
              "least 1024 bytes",
              value);
}

static ddsmark_status profile_name(const ddsmark_participant_config *config, plan *p) {
  const char *value = value_of(config, OPTION_BASE_PROFILE);
  if (value == NULL)
    return DDSMARK_OK;
  const char *colons = strstr(value, "::");
  if (colons == NULL || colons == value || colons[2] == '\0' || strlen(value) >= sizeof p->base_profile ||
      strpbrk(value, "<>&\"'") != NULL)
    return fail(DDSMARK_BAD_ARGUMENT, "invalid value `%s` of option `base_profile`; hint: use LIBRARY::PROFILE", value);
  strcpy(p->base_profile, value);
  return DDSMARK_OK;
}

/* Raises the highest index, which counts from 0, to the participants of the run. As shipped, 4. */
static ddsmark_status raise_index(const ddsmark_participant_config *config, plan *p) {
  const char *name = option_infos[OPTION_MAX_INDEX].name;
  if (config->vendor_defaults && config->participant_count <= 5 && option_value(config, name) == NULL)
    return DDSMARK_OK;
  uint64_t participants = p->max_participant_index + 1;
  const ddsmark_status status = participants_raise(config, name, 1, &participants);
  p->max_participant_index = participants - 1;
  return status;
}

static ddsmark_status options_read(const ddsmark_participant_config *config, plan *p) {
  if (!config->vendor_defaults) {
    p->send_window = 256;
    p->heartbeat_us = 10000;
    p->fast_heartbeat_us = 1000;
    p->shm_messages = 2048;
    p->max_participant_index = 31;
  }
  const uint64_t longest = UINT64_C(3600000000);
  ddsmark_status status;
  if ((status = profile_name(config, p)) || (status = flow_of(config, p)) ||
      (status = number(config, OPTION_SEND_WINDOW, 1, 100000000, &p->send_window)) ||
      (status = number(config, OPTION_HEARTBEAT, 100, longest, &p->heartbeat_us)) ||
      (status = number(config, OPTION_FAST_HEARTBEAT, 100, longest, &p->fast_heartbeat_us)) ||
      (status = number(config, OPTION_MESSAGE_SIZE, 1024, 2147483620, &p->message_size)) ||
      (status = number(config, OPTION_SHM_MESSAGES, 1, 1000000, &p->shm_messages)) ||
      (status = number(config, OPTION_MAX_INDEX, 0, 999, &p->max_participant_index)) ||
      (status = raise_index(config, p)) || (status = truth(config, OPTION_TURBO, &p->turbo_mode)) ||
      (status = truth(config, OPTION_THROTTLE, &p->auto_throttle)) ||
      (status = number(config, OPTION_BATCH_SAMPLES, 1, 1000000, &p->batch_samples)) ||
      (status = number(config, OPTION_BATCH_FLUSH, 1, longest, &p->batch_flush_us)))
    return status;
  if (p->heartbeat_us && p->fast_heartbeat_us > p->heartbeat_us)
    return fail(
        DDSMARK_BAD_ARGUMENT,
        "option `fast_heartbeat_us` is %llu, more than `heartbeat_us`, %llu; hint: set it to at most `heartbeat_us`",
        (unsigned long long)p->fast_heartbeat_us, (unsigned long long)p->heartbeat_us);
  return DDSMARK_OK;
}

/* -- transport, interface, peers ----------------------------------------------------------------------------------- */

static ddsmark_status choose_transport(const ddsmark_participant_config *config, plan *p) {
  uint32_t chosen = TRANSPORT_UDP4;
  const ddsmark_status status = transport_find(config, transport_infos, transport_count, &chosen);
  p->transport = (transport)chosen;
  if (status == DDSMARK_OK && p->transport == TRANSPORT_SHM && config->send_buffer_bytes)
    return fail(DDSMARK_UNSUPPORTED, "`send_buffer` is not supported over `shm`, which has no send buffer; hint: set "
                                     "`receive_buffer`, the size of the segment of the reader");
  return status;
}

/* Over an interface without the multicast flag Connext silently sends by unicast. */
static ddsmark_status choose_multicast(const ddsmark_participant_config *config, plan *p) {
  p->multicast = config->multicast != 0;
  if (!p->multicast)
    return DDSMARK_OK;
  if (p->transport == TRANSPORT_SHM)
    return fail(DDSMARK_UNSUPPORTED, "multicast is not supported over `shm`; hint: use transport `udp4`");
  /* Connext itself does not use the loopback interface if the flag is missing. */
  if (p->interface.loopback && !p->interface.multicast)
    return fail(DDSMARK_UNSUPPORTED,
                "multicast over `udp4` is not possible on interface `%s`: multicast is disabled there; hint: enable "
                "multicast with `ip link set dev %s multicast on`",
                p->interface.name, p->interface.name);
  return multicast_check(&p->interface, false);
}

static ddsmark_status choose_peers(const ddsmark_participant_config *config, plan *p) {
  const bool own = config->peer_count == 0 && p->interface.address[0] != '\0';
  for (uint32_t i = 0; i < config->peer_count; i++)
    text_add(&p->peers, "%s\n", config->peers[i]);
  if (own)
    text_add(&p->peers, "%s\n", p->interface.address);
  return p->peers.failed ? fail_memory("the peers") : DDSMARK_OK;
}

static ddsmark_status check(const ddsmark_participant_config *config) {
  static const foreign_variable variables[] = {
      {"NDDS_DISCOVERY_PEERS", "name the hosts of the run with `--host`, and the network with `interface`"},
      {NULL, NULL}};
  const ddsmark_status status = variables_refuse("Connext", variables);
  if (status != DDSMARK_OK)
    return status;
  if (access("USER_QOS_PROFILES.xml", F_OK) == 0)
    return fail(DDSMARK_INCONSISTENT, "Connext would load `USER_QOS_PROFILES.xml` of this directory; hint: change to "
                                      "another directory, or to use it, rename "
                                      "it and set `NDDS_QOS_PROFILES` and the option `base_profile`");
  for (uint32_t i = 0; i < config->peer_count; i++)
    if (strpbrk(config->peers[i], "\n<>&"))
      return fail(DDSMARK_BAD_ARGUMENT, "peer %u is not a valid address: `%s`; hint: use an IP address", i,
                  config->peers[i]);
  if (config->run_name && strlen(config->run_name) >= sizeof((plan *)0)->run_name)
    return fail(DDSMARK_BAD_ARGUMENT,
                "the name of the run has %zu bytes, more than the maximum of %zu; hint: use a shorter name",
                strlen(config->run_name), sizeof((plan *)0)->run_name - 1);
  return DDSMARK_OK;
}

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out) {
  plan p = {.domain = config->domain,
            .vendor_defaults = config->vendor_defaults != 0,
            .receive_buffer = config->receive_buffer_bytes,
            .send_buffer = config->send_buffer_bytes};
  ddsmark_status status;
  if ((status = config_check(config, option_infos, option_count)) || (status = check(config)) ||
      (status = choose_transport(config, &p)) || (status = options_read(config, &p)) ||
      (status = interface_choose(config, false, &p.interface)) || (status = choose_multicast(config, &p)))
    return status;
  if (p.receive_buffer == 0 && !p.vendor_defaults)
    p.receive_buffer = RECEIVE_BUFFER;
  if (config->run_name)
    strcpy(p.run_name, config->run_name);
  if ((status = choose_peers(config, &p))) {
    plan_free(&p);
    return status;
  }
  *out = p;
  return DDSMARK_OK;
}

void plan_free(plan *p) {
  text_free(&p->peers);
}

uint64_t plan_message_payload(const plan *p) {
  /* As `builtin`, the option is for shared memory only. */
  return (p->message_size && p->transport != TRANSPORT_BUILTIN ? p->message_size : shipped_message_size[p->transport]) -
         MESSAGE_OVERHEAD;
}
