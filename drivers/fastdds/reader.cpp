/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.cpp
 *
 * Samples are taken into memory of the reader, allocated once. Those of the plain type are not copied: the library
 * loans them for the duration of one call of the sink. Batches are taken one by one, because all samples of a batch
 * are delivered at once.
 */
#include "internal.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace {

/* Maximum samples and bytes per take: enough for small samples to share its cost, few enough to stay in the cache. */
const uint64_t take_samples = 256, take_bytes = 4u << 20;

using Samples = fast::LoanableSequence<Sample>;
using GeneratedSamples = fast::LoanableSequence<GeneratedSample>;
using Lent = fast::LoanableSequence<uint8_t>;

} // namespace

struct ddsmark_reader : fast::DataReaderListener {
  Endpoint e;
  fast::Subscriber *group = nullptr;
  fast::DataReader *entity = nullptr;
  uint32_t mode = 0;
  bool batched = false; /* samples of the library are batches */
  uint32_t capacity = 0;
  /* One of these, or neither for the plain type. */
  std::unique_ptr<Samples> samples;
  std::unique_ptr<GeneratedSamples> generated;
  std::unique_ptr<fast::SampleInfoSeq> infos;
  Lent lent; /* for the plain type */
  fast::SampleInfoSeq lent_infos;
  ddsmark_sink sink = nullptr; /* with DDSMARK_RECEIVE_LISTENER */
  void *sink_context = nullptr;
  /* The library may call from several threads, one per connection or transport; calls of the sink are serialised. */
  std::mutex heard;
  std::atomic<uint64_t> not_alive{0};   /* writers reported as not alive */
  std::atomic<uint64_t> overwritten{0}; /* loaned samples overwritten while they were read */
  std::atomic<uint64_t> malformed{0};   /* malformed batches */

  void on_data_available(fast::DataReader *reader) override;
  void on_subscription_matched(fast::DataReader *, const fast::SubscriptionMatchedStatus &status) override {
    match_add(&e.matched, status.current_count_change);
  }
  void on_liveliness_changed(fast::DataReader *, const fast::LivelinessChangedStatus &status) override {
    if (status.not_alive_count_change > 0)
      not_alive.fetch_add(static_cast<uint64_t>(status.not_alive_count_change), std::memory_order_relaxed);
  }
};

namespace {

/* -- taking -------------------------------------------------------------------------------------------------------- */

/* Passes the samples of a batch to the sink and returns their number. A malformed batch yields none. */
uint32_t give_batch(ddsmark_reader *r, const ddsmark_sample &found, ddsmark_sink sink, void *context) {
  const uint64_t largest = r->e.max_payload ? r->e.max_payload : UINT32_MAX;
  if (!batch_is_whole(found.payload, found.size, largest)) {
    r->malformed.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  uint32_t given = 0;
  ddsmark_sample sample{};
  for (uint64_t at = 0; batch_next(found.payload, found.size, &at, &sample.payload, &sample.size); given++)
    sink(context, &sample);
  return given;
}

uint32_t give(ddsmark_reader *r, const ddsmark_sample &sample, ddsmark_sink sink, void *context) {
  if (r->batched)
    return give_batch(r, sample, sink, context);
  sink(context, &sample);
  return 1;
}

uint32_t give(ddsmark_reader *r, const Samples &samples, uint32_t i, ddsmark_sink sink, void *context) {
  const Sample &found = samples[static_cast<int32_t>(i)];
  ddsmark_sample sample{};
  sample.payload = found.payload;
  sample.size = found.size;
  sample.key = r->e.kind == DDSMARK_TYPE_KEYED ? found.key : 0;
  return give(r, sample, sink, context);
}

uint32_t give(ddsmark_reader *r, const GeneratedSamples &samples, uint32_t i, ddsmark_sink sink, void *context) {
  const GeneratedSample &found = samples[static_cast<int32_t>(i)];
  ddsmark_sample sample{};
  sample.payload = found.payload.data();
  sample.size = found.payload.size();
  sample.key = found.key; /* 0 without a key */
  return give(r, sample, sink, context);
}

uint32_t give(ddsmark_reader *r, const Lent &lent, uint32_t i, ddsmark_sink sink, void *context) {
  ddsmark_sample sample{};
  sample.payload = static_cast<const uint8_t *>(lent.buffer()[i]);
  sample.size = r->e.max_payload;
  sample.token = &r->lent_infos[static_cast<int32_t>(i)];
  sink(context, &sample);
  return 1;
}

/* Takes until no sample is left, or `max_samples` and the rest of a batch were passed. Samples without data are not
 * counted. */
template <class Sequence>
ReturnCode take(ddsmark_reader *r, fast::DataReader *entity, Sequence &samples, fast::SampleInfoSeq &infos,
                uint32_t max_samples, ddsmark_sink sink, void *context, uint32_t &given) {
  const bool lends = r->e.kind == DDSMARK_TYPE_PLAIN;
  uint32_t wanted, found;
  ReturnCode code{};
  do {
    wanted = std::min(max_samples - given, r->capacity);
    if (!lends) { /* else the samples are appended to earlier ones */
      samples.length(0);
      infos.length(0);
    }
    code = entity->take(samples, infos, static_cast<int32_t>(wanted));
    if (code_of(code) != CODE_OK)
      return code;
    found = static_cast<uint32_t>(infos.length());
    for (uint32_t i = 0; i < found; i++) {
      if (!infos[static_cast<int32_t>(i)].valid_data)
        continue;
      given += give(r, samples, i, sink, context);
    }
    if (lends && code_of(code = entity->return_loan(samples, infos)) != CODE_OK)
      return code;
  } while (found == wanted && given < max_samples);
  return code;
}

ReturnCode take_any(ddsmark_reader *r, fast::DataReader *entity, uint32_t max_samples, ddsmark_sink sink, void *context,
                    uint32_t &given) {
  if (r->generated)
    return take(r, entity, *r->generated, *r->infos, max_samples, sink, context, given);
  return r->samples ? take(r, entity, *r->samples, *r->infos, max_samples, sink, context, given)
                    : take(r, entity, r->lent, r->lent_infos, max_samples, sink, context, given);
}

ddsmark_status receive(ddsmark_reader *r, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink, void *context,
                       uint32_t *taken) {
  *taken = 0;
  if (r->mode == DDSMARK_RECEIVE_LISTENER)
    return fail(DDSMARK_BAD_ARGUMENT, "reader_receive() was called on a reader with a listener; hint: open the reader "
                                      "with the receive mode `waitset` or `polling`");
  if (max_samples == 0)
    return DDSMARK_OK;
  return guarded([&]() -> ddsmark_status {
    /* Waits while there is no unread sample, so samples left behind need no bookkeeping. */
    if (r->mode == DDSMARK_RECEIVE_WAITSET && timeout_ns > 0 &&
        !r->entity->wait_for_unread_message(duration_of(timeout_ns)))
      return DDSMARK_OK;
    const ReturnCode code = take_any(r, r->entity, max_samples, sink, context, *taken);
    return code_of(code) == CODE_OK || code_of(code) == CODE_NO_DATA
               ? DDSMARK_OK
               : fail_dds(code, "take() or return_loan", "cannot take samples");
  });
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

ddsmark_status check(const Plan &plan, const ddsmark_reader_config &c, uint32_t &kind) {
  if (c.content_filter)
    return fail(DDSMARK_UNSUPPORTED, "content filters are not supported: Fast DDS needs a description of the type's "
                                     "fields, which the type of this driver lacks; hint: remove `content_filter`");
  const ddsmark_status status = endpoint_check(plan, c.type_kind, c.topic, c.max_payload_bytes, kind);
  return status == DDSMARK_OK && c.batched ? batch_check(kind) : status;
}

void make_room(ddsmark_reader *r) {
  const uint64_t size = std::max<uint64_t>(r->e.largest, 1);
  r->capacity = r->batched ? 1 : static_cast<uint32_t>(std::clamp<uint64_t>(take_bytes / size, 1, take_samples));
  if (r->e.kind == DDSMARK_TYPE_PLAIN) {
    /* A take acknowledges its samples, and their writer may then write as many others, and lend the memory for one
     * more. All of that memory must be what the writer has beyond its history: else it is that of samples which the
     * sink still reads. */
    const Plan &p = r->e.participant->plan;
    if (p.transport == TRANSPORT_DATA_SHARING)
      r->capacity =
          static_cast<uint32_t>(std::clamp<uint64_t>(p.extra_samples > 1 ? p.extra_samples - 1 : 1, 1, r->capacity));
    return;
  }
  const int32_t capacity = static_cast<int32_t>(r->capacity);
  r->infos = std::make_unique<fast::SampleInfoSeq>(capacity);
  if (r->e.participant->plan.generated) { /* their vectors grow with the first samples */
    r->generated = std::make_unique<GeneratedSamples>(capacity);
    return;
  }
  r->samples = std::make_unique<Samples>(capacity);
  r->samples->length(capacity);
  for (int32_t i = 0; i < capacity; i++)
    (*r->samples)[i].room.resize(r->e.largest);
  r->samples->length(0);
}

void undo(ddsmark_reader *r) {
  if (r->entity)
    r->group->delete_datareader(r->entity);
  if (r->group)
    r->e.participant->entity->delete_subscriber(r->group);
  if (r->e.topic)
    topic_release(r->e);
}

ddsmark_status create(ddsmark_reader *r, const char *topic, const ReaderQosSet &qos) {
  const std::lock_guard<std::mutex> guard(r->e.participant->lock);
  errors_watch();
  fast::StatusMask mask = fast::StatusMask::liveliness_changed();
  mask << fast::StatusMask::subscription_matched();
  if (r->mode == DDSMARK_RECEIVE_LISTENER)
    mask << fast::StatusMask::data_available();
  ddsmark_status status = topic_acquire(r->e, topic, qos.topic, qos.sets_topic);
  if (status == DDSMARK_OK) {
    r->group = r->e.participant->entity->create_subscriber(qos.group, nullptr, fast::StatusMask::none());
    if (r->group == nullptr) {
      status = fail_null("create_subscriber", "cannot create the subscriber");
    } else {
      /* The only function that reports errors of a QoS. */
      const ReturnCode code = r->group->set_default_datareader_qos(qos.end);
      if (code_of(code) != CODE_OK)
        status = fail_dds(code, "set_default_datareader_qos", "invalid QoS of the reader");
      else if ((r->entity = r->group->create_datareader(r->e.topic, qos.end, r, mask)) == nullptr)
        status = fail_null("create_datareader", "cannot create the reader of topic `" + std::string(topic) + "`");
    }
  }
  if (status != DDSMARK_OK)
    undo(r);
  return status;
}

ddsmark_status open(ddsmark_participant *participant, const ddsmark_reader_config *config, ddsmark_reader **out) {
  return guarded([&] {
    const Plan &plan = participant->plan;
    ddsmark_reader_config c;
    uint32_t kind = 0;
    ddsmark_status status;
    if ((status = reader_config_in(config, &c)) || (status = check(plan, c, kind)))
      return status;
    ReaderQosSet qos;
    /* Only the writer knows the size of a batch: allocate at least this much. */
    const uint64_t largest =
        c.batched ? std::max(c.max_payload_bytes + BATCH_FRAMING, most_of_batch) : c.max_payload_bytes;
    const Wish wish{SIDE_READER, kind, largest, false};
    if ((status = qos_make(c.qos, *participant, wish, qos)) ||
        (status = memory_check(plan, largest, qos.end.endpoint().history_memory_policy)))
      return status;
    /* Without an address of its own, a reader gets every sample by multicast, also if it is the only one. */
    if (plan.multicast)
      qos.end.endpoint().multicast_locator_list.push_back(multicast_group(plan));
    auto *r = new ddsmark_reader;
    r->e.participant = participant;
    r->e.kind = kind;
    r->e.max_payload = c.max_payload_bytes;
    r->e.largest = largest;
    r->batched = c.batched != 0;
    r->mode = c.receive_mode;
    r->sink = c.sink;
    r->sink_context = c.sink_context;
    make_room(r);
    status = create(r, c.topic, qos);
    if (status == DDSMARK_OK)
      *out = r;
    else
      delete r;
    return status;
  });
}

ddsmark_status close(ddsmark_reader *r) {
  return guarded([&] {
    /* Waits for a running listener. */
    r->entity->set_listener(nullptr);
    ReturnCode code;
    {
      const std::lock_guard<std::mutex> guard(r->e.participant->lock);
      code = r->group->delete_datareader(r->entity);
      r->entity = nullptr;
      undo(r);
    }
    delete r;
    return code_of(code) == CODE_OK ? static_cast<ddsmark_status>(DDSMARK_OK)
                                    : fail_dds(code, "delete_datareader", "cannot delete the reader");
  });
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

uint32_t sample_intact(ddsmark_reader *r, const ddsmark_sample *sample) {
  if (sample->token == nullptr || r->e.participant->plan.transport != TRANSPORT_DATA_SHARING)
    return 1;
  const bool whole = r->entity->is_sample_valid(const_cast<uint8_t *>(sample->payload),
                                                static_cast<const fast::SampleInfo *>(sample->token));
  if (!whole)
    r->overwritten.fetch_add(1, std::memory_order_relaxed);
  return whole;
}

ddsmark_status matched(ddsmark_reader *r, ddsmark_match *out) {
  end_mute_connections(r->e.participant);
  const ddsmark_match state = match_state(&r->e.matched);
  return match_out(&state, out);
}

ddsmark_status qos_now(ddsmark_reader *r, ddsmark_qos *out) {
  return guarded(
      [&] { return qos_read_back(r->e.topic->get_qos(), r->group->get_qos(), r->entity->get_qos(), r->e.texts, out); });
}

ddsmark_status settings(ddsmark_reader *r, ddsmark_visitor visit, void *context) {
  static const char *const modes[] = {"waitset", "polling", "listener"};
  return guarded([&] {
    visit(context, "receive_mode", modes[r->mode]);
    visit_number(visit, context, "samples_per_take", r->capacity);
    visit_end(r->entity->get_qos(), visit, context);
    visit_type(r->e, visit, context);
    if (r->e.kind == DDSMARK_TYPE_PLAIN)
      visit(context, "plain", "true");
    if (r->e.participant->plan.over_ip())
      sockets_visit(&r->e.participant->sockets, r->e.participant->plan.domain, is_port_of_domain, visit, context);
    return DDSMARK_OK;
  });
}

ddsmark_status counters(ddsmark_reader *r, ddsmark_counters *out) {
  return guarded([&] {
    ddsmark_counters c{};
    fast::SampleRejectedStatus rejected;
    fast::SampleLostStatus lost;
    fast::RequestedDeadlineMissedStatus deadline;
    fast::RequestedIncompatibleQosStatus incompatible;
    if (code_of(r->entity->get_sample_rejected_status(rejected)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_SAMPLES_REJECTED, rejected.total_count);
    if (code_of(r->entity->get_sample_lost_status(lost)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_SAMPLES_LOST, static_cast<uint64_t>(lost.total_count));
    if (code_of(r->entity->get_requested_deadline_missed_status(deadline)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_DEADLINE_MISSED, deadline.total_count);
    if (code_of(r->entity->get_requested_incompatible_qos_status(incompatible)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, incompatible.total_count);
    counter_set(&c, DDSMARK_COUNTER_LIVELINESS_LOST, r->not_alive.load(std::memory_order_relaxed));
    if (r->batched)
      counter_set(&c, DDSMARK_COUNTER_MALFORMED, r->malformed.load(std::memory_order_relaxed));
    if (r->e.kind == DDSMARK_TYPE_PLAIN)
      counter_set(&c, DDSMARK_COUNTER_SAMPLES_OVERWRITTEN, r->overwritten.load(std::memory_order_relaxed));
    return counters_out(&c, out);
  });
}

} // namespace

void ddsmark_reader::on_data_available(fast::DataReader *reader) {
  const std::lock_guard<std::mutex> guard(heard);
  uint32_t given = 0;
  /* An error cannot be reported here; samples that it loses appear in the host's counts. */
  guarded([&] {
    take_any(this, reader, UINT32_MAX, sink, sink_context, given);
    return DDSMARK_OK;
  });
}

void reader_fill(ddsmark_driver &table) {
  table.reader_open = open;
  table.reader_close = close;
  table.reader_matched = matched;
  table.reader_qos = qos_now;
  table.reader_settings = settings;
  table.reader_counters = counters;
  table.reader_receive = receive;
  table.reader_sample_intact = sample_intact;
}
