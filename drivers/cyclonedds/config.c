/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c: configuration and options of a participant -> XML that Cyclone DDS reads.
 *
 * The text has three parts, separated by commas. If two of them set the same element, the later one takes effect:
 *   1. ours: interface, transport, peers, buffers, options
 *   2. the option `configuration`: any other setting of the experiment
 *   3. CYCLONEDDS_URI of the environment: the user's setting has priority
 * Interfaces and peers are lists, to which later parts add. If parts 2 or 3 contain some, ours are omitted, so that
 * only theirs take effect. The watermarks of a send queue, which must be consistent with each other, are omitted
 * likewise.
 */
#include "internal.h"

#ifdef HAVE_FEATURES_H
#include "dds/features.h"
#endif

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A serialised sample may not exceed INT32_MAX bytes, the default of Cyclone's MaxSampleSize; subtract the 4-byte
 * header of XCDR, key, length and padding. */
#define MAX_PAYLOAD (2147483647u - 16u)

/* Highest index of a participant, and that of the oldest version as shipped. They are also the numbers of participants:
 * Cyclone DDS counts from 0, but opens no domain if only the highest index is free. */
#define MAX_INDEX 99u
#define MAX_INDEX_SHIPPED 9u

/* Default receive buffer. Cyclone's own default of 1 MB loses parts of every larger sample and then waits for
 * timers. The kernel limits the size to net.core.rmem_max. */
#define RECEIVE_BUFFER (8u << 20)

/* Maximum sizes, which its developers use on the loopback interface: the example of the configuration guide, and
 * `examples/perfscript`. On a network they would be fragments of IP, of which none may be lost. */
#define MESSAGE_LOOPBACK 65500u
#define FRAGMENT_LOOPBACK 65000u
#define MESSAGE_SHIPPED 14720u
#define FRAGMENT_SHIPPED 1344u

/* Cyclone's defaults: high watermark, and its initial value before adaptation. No size may be larger than MAX_SIZE. */
#define WHC_HIGH 512000u
#define WHC_HIGH_INIT 30720u
#define MAX_SIZE 2147483647u

static const char large_samples_note[] = "a large sample is a burst of UDP datagrams, which the receive buffer must "
                                         "hold; `net.core.rmem_max` limits its size";

const ddsmark_transport_info transport_infos[] = {
    [TRANSPORT_UDP4] = {"udp4", MAX_PAYLOAD, large_samples_note},
    [TRANSPORT_UDP6] = {"udp6", MAX_PAYLOAD, large_samples_note},
#ifdef DDS_HAS_TCP
    [TRANSPORT_TCP4] = {"tcp4", MAX_PAYLOAD,
                        "between two processes of one host; its developers call it a proof of concept"},
#endif
};
const uint32_t transport_count = sizeof transport_infos / sizeof transport_infos[0];

/* Names of the transports in the configuration. */
static const char *const transport_elements[] = {
    [TRANSPORT_UDP4] = "udp", [TRANSPORT_UDP6] = "udp6", [TRANSPORT_TCP4] = "tcp"};

enum { OPTION_CONFIGURATION, OPTION_MAX_MESSAGE, OPTION_FRAGMENT, OPTION_WHC_HIGH, OPTION_MAX_INDEX, OPTION_RECEIVERS };

const ddsmark_option_info option_infos[] = {
    [OPTION_CONFIGURATION] =
        {"configuration", NULL,
         "additional configuration of Cyclone DDS, as XML or file names, overridden by CYCLONEDDS_URI; default none"},
    [OPTION_MAX_MESSAGE] =
        {"max_message_size", NULL,
         "maximum size of a datagram, and so of a batch, in bytes (General/MaxMessageSize), 1024 to "
         "65500; default 65500 on the loopback interface, elsewhere, and with `fragment_size`, 14720"},
    [OPTION_FRAGMENT] = {"fragment_size", NULL,
                         "maximum size of a fragment of a sample in bytes (General/FragmentSize), 1024 to 65000; "
                         "default 65000 on the loopback interface, elsewhere, and with `max_message_size`, 1344"},
    [OPTION_WHC_HIGH] = {"whc_high", "512000",
                         "unacknowledged data in bytes at which a writer blocks (Internal/Watermarks/WhcHigh), 1024 to "
                         "2000000000; overrides `send_queue`; default 512000"},
    [OPTION_MAX_INDEX] = {"max_participant_index", "99",
                          "highest index of a participant on one host, which discovery by unicast contacts "
                          "(Discovery/MaxAutoParticipantIndex), 0 to 999; default 99, or more if the run has more than "
                          "83 participants"},
    [OPTION_RECEIVERS] = {"multiple_receive_threads", "default",
                          "whether each socket has a receive thread of its own (Internal/MultipleReceiveThreads): "
                          "true, false or default, the choice of Cyclone DDS; default default"},
};
const uint32_t option_count = sizeof option_infos / sizeof option_infos[0];

/* -- the user's own configuration ---------------------------------------------------------------------------------- */

/* Removes comments in place. */
static void drop_comments(char *xml) {
  for (char *begin; (begin = strstr(xml, "<!--")) != NULL;) {
    const char *end = strstr(begin, "-->");
    if (end == NULL)
      *begin = '\0';
    else
      memmove(begin, end + 3, strlen(end + 3) + 1);
  }
}

static void add_file(text *t, const char *name) {
  FILE *file = fopen(name, "re");
  char *line = NULL;
  size_t size = 0;
  while (file && getline(&line, &size, file) >= 0)
    text_add(t, "%s", line);
  free(line);
  if (file)
    fclose(file);
}

/* Returns the text of a configuration: XML, and names of XML files, separated by commas. Errors in it are reported by
 * Cyclone DDS. */
static text expand(const char *fragment) {
  text all = {0};
  text_add(&all, "%s", fragment);
  char *copy = strdup(fragment);
  char *rest = copy;
  for (char *token; copy && (token = strtok_r(rest, ",", &rest)) != NULL;) {
    while (isspace((unsigned char)*token))
      token++;
    if (strncasecmp(token, "file://", 7) == 0)
      token += 7;
    if (*token != '<' && *token != '\0')
      add_file(&all, token);
  }
  free(copy);
  if (all.data)
    drop_comments(all.data);
  return all;
}

static bool mentions(const text *configuration, const char *element) {
  return configuration->data && strcasestr(configuration->data, element) != NULL;
}

/* A configuration of one domain has no effect on another. */
static ddsmark_status check_domain(const text *configuration, uint32_t number) {
  char foreign[16] = "";
  for (const char *at = configuration->data; at && (at = strcasestr(at, "<Domain")) != NULL;) {
    at += strlen("<Domain");
    if (*at != '>' && !isspace((unsigned char)*at))
      continue;
    const char *end = strchr(at, '>'), *id = strcasestr(at, "id=");
    char value[16] = "any";
    if (end && id && id < end)
      sscanf(id + 3, "%*[\"']%15[^\"']", value);
    char *number_end = NULL;
    if (strcasecmp(value, "any") == 0 || (strtoul(value, &number_end, 10) == number && *number_end == '\0'))
      return DDSMARK_OK;
    memcpy(foreign, value, sizeof foreign);
  }
  if (foreign[0] == '\0')
    return DDSMARK_OK;
  return fail(DDSMARK_INCONSISTENT,
              "the configuration of Cyclone DDS is for domain %s, but this run uses domain %u, where it has no effect; "
              "hint: use <Domain Id=\"any\"> in CYCLONEDDS_URI and the option `configuration`",
              foreign, number);
}

/* The transport is a factor of the experiment. */
static ddsmark_status check_transport(const text *configuration, transport measured) {
  for (const char *at = configuration->data; at && (at = strcasestr(at, "<Transport>")) != NULL;) {
    at += strlen("<Transport>");
    char value[16] = "";
    if (sscanf(at, " %15[a-zA-Z0-9]", value) == 1 && strcasecmp(value, transport_elements[measured]) != 0 &&
        !(strcasecmp(value, "default") == 0 && measured == TRANSPORT_UDP4))
      return fail(DDSMARK_INCONSISTENT,
                  "the configuration of Cyclone DDS selects the transport `%s`, but the experiment measures `%s`; "
                  "hint: remove <Transport> from CYCLONEDDS_URI and the option `configuration`, or change `transport`",
                  value, transport_infos[measured].name);
  }
  return DDSMARK_OK;
}

/* Names the settings of this driver that the user's configuration decides. */
static void describe_user(const text *configuration, char *out, size_t size) {
  static const struct {
    const char *element, *name;
  } ours[] = {{"NetworkInterface", "interface"},
              {"<AllowMulticast", "multicast"},
              {"<Peer", "peers"},
              {"ParticipantIndex", "participant index"},
              {"MessageSize", "max_message_size"},
              {"FragmentSize", "fragment_size"},
              {"SocketReceiveBufferSize", "receive buffer"},
              {"SocketSendBufferSize", "send buffer"},
              {"<Whc", "watermarks"},
              {"MultipleReceiveThreads", "multiple_receive_threads"}};
  size_t length = 0;
  for (size_t i = 0; i < sizeof ours / sizeof ours[0] && length < size; i++)
    if (mentions(configuration, ours[i].element))
      length += (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "", ours[i].name);
  if (length == 0)
    snprintf(out, size, "none");
}

/* -- the plan ------------------------------------------------------------------------------------------------------ */

static ddsmark_status choose_transport(const ddsmark_participant_config *config, plan *p) {
  uint32_t chosen = TRANSPORT_UDP4;
  const ddsmark_status status = transport_find(config, transport_infos, transport_count, &chosen);
  if (status != DDSMARK_OK && strcmp(config->transport, "tcp4") == 0)
    return fail(DDSMARK_UNSUPPORTED, "transport `tcp4` is not supported: this Cyclone DDS was built without TCP; hint: "
                                     "build it with ENABLE_TCP=ON, as `ddsmark drivers install cyclonedds` does");
  p->transport = (transport)chosen;
  return status;
}

static void add_general(const plan *p, uint64_t max_message, uint64_t fragment, text *t) {
  text_add(t, "<General>");
  if (p->interface.name[0] && !p->user_names_interface) {
    text_add(t, "<Interfaces><NetworkInterface name=\"");
    text_add_escaped(t, p->interface.name);
    /* By default Cyclone DDS sends to a single reader by unicast, even if multicast is allowed. And loopback lacks
     * the multicast flag, although it supports multicast. */
    if (p->multicast)
      text_add(t, "\" prefer_multicast=\"true\"%s", p->interface.loopback ? " multicast=\"true" : "");
    text_add(t, p->multicast && !p->interface.loopback ? "/></Interfaces>" : "\"/></Interfaces>");
  }
  /* For data only: discovery is the same with and without multicast, so that the two differ in nothing else. */
  if (!p->multicast_unset)
    text_add(t, "<AllowMulticast>%s</AllowMulticast>", p->multicast ? "asm" : "false");
  text_add(t, "<Transport>%s</Transport>", transport_elements[p->transport]);
  if (max_message)
    text_add(t, "<MaxMessageSize>%llu B</MaxMessageSize>", (unsigned long long)max_message);
  if (fragment)
    text_add(t, "<FragmentSize>%llu B</FragmentSize>", (unsigned long long)fragment);
  text_add(t, "</General>");
}

/* A participant is discovered by sending to every port that it may have on every given host. Of two participants
 * that start together, the first one answers the second at once. */
static void add_discovery(const ddsmark_participant_config *config, const plan *p, uint64_t max_index, text *t) {
  text_add(t, "<Discovery>");
  if (!config->vendor_defaults || p->interface.loopback)
    text_add(t, "<ParticipantIndex>auto</ParticipantIndex>");
  if (max_index != UINT64_MAX)
    text_add(t, "<MaxAutoParticipantIndex>%llu</MaxAutoParticipantIndex>", (unsigned long long)max_index);
  if (!p->user_names_peers) {
    text peers = {0};
    for (uint32_t i = 0; i < config->peer_count && p->transport != TRANSPORT_TCP4; i++) {
      text_add(&peers, "<Peer Address=\"");
      text_add_escaped(&peers, config->peers[i]);
      text_add(&peers, "\"/>");
    }
    /* Over TCP the peer is the listening process; it is added when it is known. */
    if (config->peer_count == 0 && p->interface.address[0] && (!p->multicast_unset || p->interface.loopback) &&
        p->transport != TRANSPORT_TCP4)
      text_add(&peers, "<Peer Address=\"%s\"/>", p->interface.address);
    if (peers.data)
      text_add(t, "<Peers>%s</Peers>", peers.data);
    t->failed |= peers.failed;
    text_free(&peers);
  }
  text_add(t, "</Discovery>");
}

/* Cyclone DDS blocks a writer while the unacknowledged data exceeds the high watermark; a blocked writer resumes
 * when it is at most the low one. By default Cyclone DDS lowers the high watermark on retransmissions and raises it
 * slowly. A requested send queue stays constant; a blocked writer resumes when half of it is free. */
static void add_watermarks(const plan *p, uint64_t whc_high, uint64_t send_queue, text *t) {
  if (whc_high) {
    text_add(t, "<Watermarks><WhcHigh>%llu B</WhcHigh>", (unsigned long long)whc_high);
    if (whc_high < WHC_HIGH_INIT)
      text_add(t, "<WhcHighInit>%llu B</WhcHighInit>", (unsigned long long)whc_high);
    text_add(t, "</Watermarks>");
  } else if (send_queue && !p->user_names_watermarks) {
    const unsigned long long low = send_queue / 2, high = send_queue - 1;
    text_add(t,
             "<Watermarks><WhcLow>%llu B</WhcLow><WhcHigh>%llu B</WhcHigh><WhcHighInit>%llu B</WhcHighInit>"
             "<WhcAdaptive>false</WhcAdaptive></Watermarks>",
             low, high, high);
  }
}

static void add_internal(const ddsmark_participant_config *config, const plan *p, uint64_t whc_high,
                         const char *receivers, text *t) {
  text_add(t, "<Internal>");
  /* `max` is the size requested from the kernel; `min` would make a smaller one an error, which is the host's
   * decision. */
  uint64_t receive_buffer = config->receive_buffer_bytes;
  if (receive_buffer == 0 && !config->vendor_defaults && p->transport != TRANSPORT_TCP4)
    receive_buffer = RECEIVE_BUFFER;
  if (receive_buffer)
    text_add(t, "<SocketReceiveBufferSize min=\"default\" max=\"%llu B\"/>", (unsigned long long)receive_buffer);
  if (config->send_buffer_bytes)
    text_add(t, "<SocketSendBufferSize min=\"default\" max=\"%llu B\"/>",
             (unsigned long long)config->send_buffer_bytes);
  add_watermarks(p, whc_high, config->send_queue_bytes, t);
  if (receivers)
    text_add(t, "<MultipleReceiveThreads>%s</MultipleReceiveThreads>", receivers);
  text_add(t, "</Internal>");
}

/* Cyclone DDS does not report these values, so a user's configuration makes them unknown. */
static void describe_size(char *out, size_t size, bool others, uint64_t ours, uint64_t vendor) {
  if (others)
    snprintf(out, size, "set by the configuration");
  else
    snprintf(out, size, "%llu", (unsigned long long)(ours ? ours : vendor));
}

ddsmark_status plan_make(const ddsmark_participant_config *config, plan *out) {
  plan p = {.domain = config->domain, .multicast = config->multicast != 0, .user = ""};
  p.multicast_unset = config->vendor_defaults && !config->multicast;
  uint64_t max_message = 0, fragment = 0, whc_high = 0;
  uint64_t max_index = MAX_INDEX;
  ddsmark_status status;
  if ((status = config_check(config, option_infos, option_count)) ||
      (status = option_number(config, option_infos[OPTION_MAX_MESSAGE].name, 1024, 65500, &max_message)) ||
      (status = option_number(config, option_infos[OPTION_FRAGMENT].name, 1024, 65000, &fragment)) ||
      (status = option_number(config, option_infos[OPTION_WHC_HIGH].name, 1024, 2000000000, &whc_high)) ||
      (status = option_number(config, option_infos[OPTION_MAX_INDEX].name, 0, 999, &max_index)) ||
      (status = participants_raise(config, option_infos[OPTION_MAX_INDEX].name, 0, &max_index)))
    return status;
  /* All ports of the highest domain are below 65536. */
  const uint64_t room = (65535u - 11u - 7400u - 250u * config->domain) / 2;
  if (max_index > room && option_value(config, option_infos[OPTION_MAX_INDEX].name) == NULL &&
      config->participant_count <= room)
    max_index = room;
  if (config->vendor_defaults && config->participant_count <= MAX_INDEX_SHIPPED &&
      option_value(config, option_infos[OPTION_MAX_INDEX].name) == NULL)
    max_index = UINT64_MAX;
  const char *receivers = option_value(config, option_infos[OPTION_RECEIVERS].name);
  if (receivers && strcmp(receivers, "default") && strcmp(receivers, "true") && strcmp(receivers, "false"))
    return fail(DDSMARK_BAD_ARGUMENT,
                "invalid value `%s` of option `multiple_receive_threads`; hint: use default, true or false", receivers);
  if ((status = choose_transport(config, &p)) ||
      (status = interface_choose(config, p.transport == TRANSPORT_UDP6, &p.interface)) ||
      (p.transport == TRANSPORT_TCP4 && (status = tcp_check(config))))
    return status;

  if (p.multicast && (status = multicast_check(&p.interface, p.transport == TRANSPORT_UDP6)))
    return status;

  const char *user = getenv("CYCLONEDDS_URI");
  const char *extra = option_value(config, option_infos[OPTION_CONFIGURATION].name);
  user = user ? user : "";
  extra = extra ? extra : "";
  text both = expand(user), other = expand(extra);
  if (other.data)
    text_add(&both, "%s", other.data);
  both.failed |= other.failed;
  text_free(&other);
  p.user_names_interface = mentions(&both, "NetworkInterface");
  p.user_names_peers = mentions(&both, "<Peer");
  p.user_names_watermarks = mentions(&both, "<Whc");
  p.user_names_threads = mentions(&both, "<Thread ");
  const bool message_named = mentions(&both, "MessageSize"), fragment_named = mentions(&both, "FragmentSize");
  /* They belong together: a message holds at least a fragment. */
  if (p.interface.loopback && !config->vendor_defaults && !max_message && !fragment && !message_named &&
      !fragment_named) {
    max_message = MESSAGE_LOOPBACK;
    fragment = FRAGMENT_LOOPBACK;
  }
  describe_size(p.max_message, sizeof p.max_message, message_named, max_message, MESSAGE_SHIPPED);
  describe_size(p.fragment, sizeof p.fragment, fragment_named, fragment, FRAGMENT_SHIPPED);
  describe_user(&both, p.user_decides, sizeof p.user_decides);
  if (both.failed)
    status = fail_memory("the configuration of Cyclone DDS");
  else if ((status = check_domain(&both, p.domain)) == DDSMARK_OK)
    status = check_transport(&both, p.transport);
  text_free(&both);
  if (status != DDSMARK_OK)
    return status;
  if (config->send_queue_bytes > MAX_SIZE && whc_high == 0 && !p.user_names_watermarks)
    return fail(DDSMARK_BAD_ARGUMENT,
                "`send_queue` is %llu bytes, more than the maximum of Cyclone DDS, %u bytes; hint: reduce `send_queue` "
                "or `size`",
                (unsigned long long)config->send_queue_bytes, MAX_SIZE);
  describe_size(p.whc_high, sizeof p.whc_high, p.user_names_watermarks,
                whc_high || config->send_queue_bytes == 0 ? whc_high : config->send_queue_bytes - 1, WHC_HIGH);

  text *t = &p.configuration;
  text_add(t, "<CycloneDDS><Domain Id=\"any\">");
  add_general(&p, max_message, fragment, t);
  add_discovery(config, &p, max_index, t);
  add_internal(config, &p, whc_high, receivers, t);
  text_add(t, "</Domain></CycloneDDS>");
  p.own_length = t->length;
  if (extra[0])
    text_add(t, ",%s", extra);
  const size_t user_at = t->length + 1;
  if (user[0])
    text_add(t, ",%s", user);
  if (t->failed) {
    text_free(t);
    return fail_memory("the configuration of Cyclone DDS");
  }
  if (user[0])
    p.user = t->data + user_at;
  *out = p;
  return DDSMARK_OK;
}

void plan_free(plan *p) {
  text_free(&p->configuration);
  p->user = "";
}
