/* SPDX-License-Identifier: Apache-2.0
 *
 * violations_of_readback.h: wrong effective settings and wrong counters. Part of faulty_driver.c.
 */
static ddsmark_status settings_none(ddsmark_participant *p, ddsmark_visitor visit, void *context) {
  (void)p, (void)visit, (void)context;
  return DDSMARK_OK;
}
VIOLATION(hides_the_transport) {
  lying.participant_settings = settings_none;
}

static ddsmark_status settings_unknown(ddsmark_participant *p, ddsmark_visitor visit, void *context) {
  visit(context, "as_requested", "transport,speed");
  return participant_settings(p, visit, context);
}
VIOLATION(requests_what_it_has_not) {
  lying.participant_settings = settings_unknown;
}

static ddsmark_status settings_other(ddsmark_participant *p, ddsmark_visitor visit, void *context) {
  (void)p;
  visit(context, "transport", "pigeon");
  return DDSMARK_OK;
}
VIOLATION(names_another_transport) {
  lying.participant_settings = settings_other;
}

static ddsmark_status qos_other_depth(ddsmark_reader *r, ddsmark_qos *out) {
  const ddsmark_status status = reader_qos(r, out);
  out->history_depth = 1;
  return status;
}
VIOLATION(has_another_depth) {
  lying.reader_qos = qos_other_depth;
}

static ddsmark_status open_without_multicast(const ddsmark_participant_config *config, ddsmark_participant **out) {
  ddsmark_participant_config copy = *config;
  copy.multicast = 0;
  return participant_open(&copy, out);
}
VIOLATION(takes_undeclared_multicast) {
  lying.participant_open = open_without_multicast;
}
VIOLATION(hides_multicast) {
  described.features |= DDSMARK_FEATURE_MULTICAST;
  lying.describe = describe_changed;
  lying.participant_open = open_without_multicast;
}
static const char *said_of_multicast;
static ddsmark_status open_and_say(const ddsmark_participant_config *config, ddsmark_participant **out) {
  said_of_multicast = config->multicast ? "on" : "off";
  return open_without_multicast(config, out);
}
static ddsmark_status settings_with_multicast(ddsmark_participant *p, ddsmark_visitor visit, void *context) {
  visit(context, "multicast", said_of_multicast);
  return participant_settings(p, visit, context);
}
VIOLATION(claims_multicast) {
  hides_multicast();
  lying.participant_open = open_and_say;
  lying.participant_settings = settings_with_multicast;
}
VIOLATION(always_claims_multicast) {
  claims_multicast();
  said_of_multicast = "on";
  lying.participant_open = open_without_multicast;
}

static uint64_t deadline;
static ddsmark_status open_with_deadline(ddsmark_participant *p, const ddsmark_writer_config *config,
                                         ddsmark_writer **out) {
  ddsmark_qos qos = *config->qos;
  qos.present &= ~(UINT64_C(1) << DDSMARK_POLICY_DEADLINE);
  deadline = config->qos->deadline_ns;
  ddsmark_writer_config copy = *config;
  copy.qos = &qos;
  return writer_open(p, &copy, out);
}
static ddsmark_status qos_with_deadline(ddsmark_writer *w, ddsmark_qos *out) {
  const ddsmark_status status = writer_qos(w, out);
  out->present |= 1u << DDSMARK_POLICY_DEADLINE;
  out->deadline_ns = deadline;
  return status;
}
VIOLATION(swallows_a_policy) {
  lying.writer_open = open_with_deadline;
}
VIOLATION(echoes_what_it_ignores) {
  described.policies[DDSMARK_POLICY_DEADLINE].writer = DDSMARK_SUPPORT_IGNORED;
  lying.describe = describe_changed;
  lying.writer_open = open_with_deadline;
  lying.writer_qos = qos_with_deadline;
}

static ddsmark_status counters_falling(ddsmark_writer *w, ddsmark_counters *out) {
  static uint64_t calls;
  const ddsmark_status status = writer_counters(w, out);
  out->values[DDSMARK_COUNTER_PACKETS_SENT] = 1000000 - calls++;
  return status;
}
VIOLATION(counts_back) {
  lying.writer_counters = counters_falling;
}

static ddsmark_status counters_deaf(ddsmark_writer *w, ddsmark_counters *out) {
  const ddsmark_status status = writer_counters(w, out);
  out->values[DDSMARK_COUNTER_WRITE_TIMED_OUT] = 0;
  return status;
}
VIOLATION(hides_timeouts) {
  lying.writer_counters = counters_deaf;
}

static ddsmark_status counters_bare(ddsmark_writer *w, ddsmark_counters *out) {
  const ddsmark_status status = writer_counters(w, out);
  out->values[DDSMARK_COUNTER_BYTES_SENT] = 0;
  return status;
}
VIOLATION(counts_no_bytes) {
  lying.writer_counters = counters_bare;
}
