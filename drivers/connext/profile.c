/* SPDX-License-Identifier: Apache-2.0
 *
 * profile.c: plan -> XML that Connext reads.
 *
 * Every policy and setting of Connext has an element of its name. A document contains the types and one profile:
 * that of the participant, or of one writer or reader with its publisher or subscriber and its topic.
 */
#include "profile.h"
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of pooled samples of a writer or reader in bytes; memory for a larger sample is allocated per write. */
#define POOL_LIMIT 65536u

/* Lease duration: time without contact after which a participant is removed. */
#define LEASE_NS 10000000000u

/* The same type as in all drivers: final, so that its layout is the same in XCDR1 and XCDR2. */
static const char types[] = "<types>"
                            "<struct name=\"KeyedSample\" extensibility=\"final\">"
                            "<member name=\"key\" type=\"unsignedLong\" key=\"true\"/>"
                            "<member name=\"payload\" type=\"octet\" sequenceMaxLength=\"-1\"/>"
                            "</struct>"
                            "</types>";

static void begin(const plan *p, const char *profile, text *t) {
  text_add(t, "<dds>%s<qos_library name=\"%s\"><qos_profile name=\"%s\"", types, LIBRARY_NAME, profile);
  if (p->base_profile[0])
    text_add(t, " base_name=\"%s\"", p->base_profile);
  text_add(t, ">");
}

static void end(text *t) {
  text_add(t, "</qos_profile></qos_library></dds>");
}

/* -- pieces ------------------------------------------------------------------------------------------------------- */

static void add_property(text *t, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add_property(text *t, const char *name, const char *format, ...) {
  char value[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  text_add(t, "<element><name>%s</name><value>", name);
  text_add_escaped(t, value);
  text_add(t, "</value></element>");
}

static void add_size(text *t, const char *name, uint64_t value) {
  if (value)
    add_property(t, name, "%llu", (unsigned long long)value);
}

/* -- the participant ----------------------------------------------------------------------------------------------- */

#define UDP4 "dds.transport.UDPv4.builtin."
#define SHM "dds.transport.shmem.builtin."

static void add_transport(const plan *p, text *t) {
  if (p->transport != TRANSPORT_UDP4) {
    add_size(t, SHM "parent.message_size_max", p->message_size);
    add_size(t, SHM "receive_buffer_size", p->receive_buffer);
    add_size(t, SHM "received_message_count_max", p->shm_messages);
  }
  if (p->transport == TRANSPORT_SHM)
    return;
  if (p->transport == TRANSPORT_UDP4)
    add_size(t, UDP4 "parent.message_size_max", p->message_size);
  add_size(t, UDP4 "recv_socket_buffer_size", p->receive_buffer);
  add_size(t, UDP4 "send_socket_buffer_size", p->send_buffer);
  if (p->interface.name[0]) {
    /* Connext ignores loopback if there is another interface. */
    add_property(t, UDP4 "ignore_loopback_interface", "0");
    add_property(t, UDP4 "parent.allow_interfaces_list", "%s", p->interface.address);
    add_property(t, UDP4 "parent.allow_multicast_interfaces_list", "%s", p->interface.address);
  }
  if (!p->vendor_defaults || p->multicast)
    add_property(t, UDP4 "multicast_enabled", "%d", p->multicast);
}

/* A token bucket of DDS_FlowControllerProperty_t, by properties. */
#define BUCKET_NAME "dds.flow_controller.token_bucket.ddsmark"

static void add_properties(const plan *p, text *t) {
  text_add(t, "<property><value>");
  /* Octets, used for samples without a key, are unbounded here; the default bound is 2048. */
  add_property(t, "dds.builtin_type.octets.max_size", "2147483647");
  add_transport(p, t);
  if (p->auto_throttle)
    add_property(t, "dds.domain_participant.auto_throttle.enable", "true");
  if (p->flow == FLOW_BUCKET) {
    add_property(t, BUCKET_NAME ".token_bucket.max_tokens", "1");
    add_property(t, BUCKET_NAME ".token_bucket.tokens_added_per_period", "1");
    add_property(t, BUCKET_NAME ".token_bucket.bytes_per_token", "%llu", (unsigned long long)p->flow_bytes);
    add_property(t, BUCKET_NAME ".token_bucket.period.sec", "%llu", (unsigned long long)(p->flow_us / 1000000));
    add_property(t, BUCKET_NAME ".token_bucket.period.nanosec", "%llu",
                 (unsigned long long)(p->flow_us % 1000000 * 1000));
  }
  text_add(t, "</value></property>");
}

/* Discovery uses unicast to the peers, or to the own address, so that runs with and without multicast differ in
 * nothing else. */
static void add_discovery(const plan *p, text *t) {
  if (p->vendor_defaults && p->peers.length == 0)
    return;
  text_add(t, "<discovery><initial_peers>");
  for (const char *peer = p->peers.data; peer && *peer;) {
    const int length = (int)strcspn(peer, "\n");
    const char *kind = p->transport == TRANSPORT_SHM ? "shmem" : "udpv4";
    text_add(t, "<element>");
    if (p->max_participant_index)
      text_add(t, "%llu@", (unsigned long long)p->max_participant_index);
    text_add(t, "%s://", kind);
    if (p->transport != TRANSPORT_SHM)
      text_add(t, "%.*s", length, peer);
    text_add(t, "</element>");
    peer += length + 1;
    if (p->transport == TRANSPORT_SHM)
      break; /* one entry for this host, for any number of peers */
  }
  text_add(t, "</initial_peers>");
  if (!p->vendor_defaults)
    text_add(t, "<multicast_receive_addresses></multicast_receive_addresses>");
  text_add(t, "</discovery>");
}

void profile_of_participant(const plan *p, const char *name, text *t) {
  begin(p, PARTICIPANT_PROFILE, t);
  text_add(t, "<%s>", "participant_qos");
  if (p->transport != TRANSPORT_BUILTIN)
    text_add(t, "<transport_builtin><mask>%s</mask></transport_builtin>",
             p->transport == TRANSPORT_SHM ? "SHMEM" : "UDPv4");
  add_discovery(p, t);
  /* A peer whose process has ended remains until its lease expires, by default for 100 s; and closed participants
   * are checked once per second. */
  if (!p->vendor_defaults) {
    text_add(t, "<discovery_config>");
    add_duration(t, "participant_liveliness_lease_duration", LEASE_NS);
    add_duration(t, "participant_liveliness_assert_period", LEASE_NS / 4);
    add_duration(t, "max_liveliness_loss_detection_period", LEASE_NS / 10);
    text_add(t, "</discovery_config><database>");
    add_duration(t, "shutdown_cleanup_period", 10000000);
    text_add(t, "</database>");
  }
  add_properties(p, t);
  if (name[0]) {
    text_add(t, "<participant_name><name>");
    text_add_escaped(t, name);
    text_add(t, "</name></participant_name>");
  }
  text_add(t, "</participant_qos></qos_profile></qos_library>");
  text_add(t,
           "<domain_library name=\"domains\"><domain name=\"domain\" domain_id=\"%u\"/></domain_library>"
           "<domain_participant_library name=\"participants\">"
           "<domain_participant name=\"participant\" domain_ref=\"domains::domain\">"
           "<participant_qos base_name=\"%s::%s\"/></domain_participant></domain_participant_library></dds>",
           p->domain, LIBRARY_NAME, PARTICIPANT_PROFILE);
}

/* -- a writer or reader -------------------------------------------------------------------------------------------- */

uint64_t batch_limit(const plan *p, uint64_t batch_bytes) {
  /* A sample in a batch has a length and padding. This limit has room for those of the smallest samples, so that the
   * host's flush ends a batch, not this limit. A batch is one message. */
  const uint64_t wanted = batch_bytes + batch_bytes / 2 + 64, most = plan_message_payload(p);
  return wanted < most ? wanted : most;
}

static void add_writer_protocol(const plan *p, text *t) {
  if (!p->vendor_defaults || p->send_window || p->heartbeat_us || p->fast_heartbeat_us) {
    text_add(t, "<protocol><rtps_reliable_writer>");
    if (p->send_window)
      text_add(t, "<min_send_window_size>%llu</min_send_window_size><max_send_window_size>%llu</max_send_window_size>",
               (unsigned long long)p->send_window, (unsigned long long)p->send_window);
    if (p->heartbeat_us) {
      add_duration(t, "heartbeat_period", p->heartbeat_us * 1000);
      add_duration(t, "late_joiner_heartbeat_period", p->heartbeat_us * 1000);
    }
    if (p->fast_heartbeat_us)
      add_duration(t, "fast_heartbeat_period", p->fast_heartbeat_us * 1000);
    if (!p->vendor_defaults) {
      add_count(t, "max_heartbeat_retries", DDSMARK_UNLIMITED);
      add_duration(t, "min_nack_response_delay", 0);
      add_duration(t, "max_nack_response_delay", 0);
    }
    text_add(t, "</rtps_reliable_writer></protocol>");
  }
}

static void add_batching(const plan *p, uint64_t batch_bytes, text *t) {
  if (batch_bytes == 0)
    return;
  text_add(t, "<batch><enable>true</enable><max_data_bytes>%llu</max_data_bytes>",
           (unsigned long long)batch_limit(p, batch_bytes));
  if (p->batch_samples)
    text_add(t, "<max_samples>%llu</max_samples>", (unsigned long long)p->batch_samples);
  if (p->batch_flush_us)
    add_duration(t, "max_flush_delay", p->batch_flush_us * 1000);
  /* The host uses no source timestamps and writes from one thread; but a flush delay needs a thread of Connext. */
  if (!p->vendor_defaults) {
    add_duration(t, "source_timestamp_resolution", DDSMARK_DURATION_INFINITE);
    text_add(t, "<thread_safe_write>%s</thread_safe_write>", p->batch_flush_us ? "true" : "false");
  }
  text_add(t, "</batch>");
}

static void add_publish_mode(const plan *p, bool asynchronous, text *t) {
  static const char *const flows[] = {[FLOW_DEFAULT] = "DEFAULT_FLOW_CONTROLLER_NAME",
                                      [FLOW_FIXED_RATE] = "FIXED_RATE_FLOW_CONTROLLER_NAME",
                                      [FLOW_BUCKET] = BUCKET_NAME};
  if (asynchronous)
    text_add(t,
             "<publish_mode><kind>ASYNCHRONOUS_PUBLISH_MODE_QOS</kind><flow_controller_name>%s</flow_controller_name>"
             "</publish_mode>",
             flows[p->flow]);
}

static uint64_t pool_size(uint64_t max_payload) {
  return max_payload == 0 || max_payload > POOL_LIMIT ? POOL_LIMIT : max_payload + 64;
}

void profile_of_endpoint(const plan *p, const endpoint_wish *wish, text *t) {
  const bool writes = wish->side == SIDE_WRITER;
  const char *element = writes ? "datawriter_qos" : "datareader_qos";
  const ddsmark_qos *q = wish->qos;
  begin(p, ENDPOINT_PROFILE, t);
  add_topic(q, t);
  add_group(q, wish->side, t);

  text_add(t, "<%s>", element);
  add_policies(q, wish->side, t);
  /* The representation that all DDS implementations can read. */
  text_add(t, "<representation><value><element>XCDR_DATA_REPRESENTATION</element></value></representation>");
  if (writes) {
    add_writer_protocol(p, t);
    add_batching(p, wish->batch_bytes, t);
    add_publish_mode(p, wish->asynchronous, t);
  } else {
    if (!p->vendor_defaults) {
      text_add(t, "<protocol><rtps_reliable_reader>");
      add_duration(t, "min_heartbeat_response_delay", 0);
      add_duration(t, "max_heartbeat_response_delay", 0);
      text_add(t, "</rtps_reliable_reader></protocol>");
    }
    if (p->multicast)
      text_add(t, "<multicast><value><element><receive_address>239.255.1.1</receive_address></element></value>"
                  "</multicast>");
  }
  text_add(t, "<property><value>");
  /* The type is unbounded, so its pool needs a bound. */
  add_property(t,
               writes ? "dds.data_writer.history.memory_manager.fast_pool.pool_buffer_max_size"
                      : "dds.data_reader.history.memory_manager.fast_pool.pool_buffer_max_size",
               "%llu", (unsigned long long)pool_size(wish->max_payload));
  if (writes && p->turbo_mode)
    add_property(t, "dds.data_writer.enable_turbo_mode", "true");
  if (writes && p->auto_throttle)
    add_property(t, "dds.data_writer.auto_throttle.enable", "true");
  text_add(t, "</value></property></%s>", element);
  end(t);
}
