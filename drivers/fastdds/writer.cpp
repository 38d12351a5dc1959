/* SPDX-License-Identifier: Apache-2.0
 *
 * writer.cpp
 *
 * Fast DDS has no batching. If the host requests it, this writer packs batches: one sample of the library is then a
 * batch, whose octets are its samples, each preceded by its length.
 */
#include "internal.hpp"

#include <atomic>
#include <memory>

namespace {

const rtps::InstanceHandle_t no_handle;

} // namespace

struct ddsmark_writer : fast::DataWriterListener {
  Endpoint e;
  fast::Publisher *group = nullptr;
  fast::DataWriter *entity = nullptr;
  bool loans = false;
  Sample sample;             /* current sample, which borrows its payload */
  GeneratedSample generated; /* the same, with a payload of its own, for the option `type=generated` */
  batch held{};              /* samples held back by batching */
  /* Written by the writing thread and read by the thread that reads counters; only one thread ever adds. */
  std::atomic<uint64_t> timed_out{0}, refused{0};

  bool batches() const { return held.bytes != nullptr; }
  ~ddsmark_writer() override { batch_free(&held); }
  void on_publication_matched(fast::DataWriter *, const fast::PublicationMatchedStatus &status) override {
    match_add(&e.matched, status.current_count_change);
  }
};

namespace {

void count(std::atomic<uint64_t> &counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

ddsmark_status check(const Plan &plan, const ddsmark_writer_config &c, uint32_t &kind) {
  ddsmark_status status = endpoint_check(plan, c.type_kind, c.topic, c.max_payload_bytes, kind);
  if (status != DDSMARK_OK)
    return status;
  if (c.batch_bytes > 0 && (status = batch_check(kind)) != DDSMARK_OK)
    return status;
  if (c.loans && kind == DDSMARK_TYPE_KEYED)
    return fail(DDSMARK_UNSUPPORTED,
                "loans are not supported for samples with a key: Fast DDS lends samples of a fixed "
                "size only; hint: remove `instances`");
  if (c.loans && plan.generated)
    return fail(DDSMARK_UNSUPPORTED, "loans are not supported with option `type=generated`, whose samples have a "
                                     "sequence; hint: set `type=octets`, or remove `loans`");
  if (c.loans && kind != DDSMARK_TYPE_PLAIN)
    return fail(
        DDSMARK_UNSUPPORTED,
        "loans require the type `plain`: Fast DDS lends samples of no other type; hint: set option `plain=true`");
  return DDSMARK_OK;
}

/* Allocates memory for the largest sample or batch that is sent at once. */
ddsmark_status make_room(ddsmark_writer *w, const Plan &plan, const ddsmark_writer_config &c) {
  w->e.largest = c.max_payload_bytes;
  if (c.batch_bytes == 0)
    return DDSMARK_OK;
  const ddsmark_transport_info &transport = transport_infos[plan.transport];
  if (c.max_payload_bytes > transport.max_payload_bytes - BATCH_FRAMING)
    return fail(DDSMARK_TOO_LARGE,
                "samples of %llu bytes exceed the maximum of transport `%s` with batching; hint: use samples of at "
                "most %llu bytes",
                static_cast<unsigned long long>(c.max_payload_bytes), transport.name,
                static_cast<unsigned long long>(transport.max_payload_bytes - BATCH_FRAMING));
  const ddsmark_status status = batch_open(&w->held, c.batch_bytes, c.max_payload_bytes, most_of_batch);
  w->e.largest = w->held.capacity;
  return status;
}

void undo(ddsmark_writer *w) {
  if (w->entity)
    w->group->delete_datawriter(w->entity);
  if (w->group)
    w->e.participant->entity->delete_publisher(w->group);
  if (w->e.topic)
    topic_release(w->e);
}

ddsmark_status create(ddsmark_writer *w, const char *topic, const WriterQosSet &qos) {
  const std::lock_guard<std::mutex> guard(w->e.participant->lock);
  errors_watch();
  ddsmark_status status = topic_acquire(w->e, topic, qos.topic, qos.sets_topic);
  if (status == DDSMARK_OK) {
    w->group = w->e.participant->entity->create_publisher(qos.group, nullptr, fast::StatusMask::none());
    if (w->group == nullptr) {
      status = fail_null("create_publisher", "cannot create the publisher");
    } else {
      /* The only function that reports errors of a QoS. */
      const ReturnCode code = w->group->set_default_datawriter_qos(qos.end);
      if (code_of(code) != CODE_OK)
        status = fail_dds(code, "set_default_datawriter_qos", "invalid QoS of the writer");
      else if ((w->entity = w->group->create_datawriter(w->e.topic, qos.end, w,
                                                        fast::StatusMask::publication_matched())) == nullptr)
        status = fail_null("create_datawriter", "cannot create the writer of topic `" + std::string(topic) + "`");
    }
  }
  if (status != DDSMARK_OK)
    undo(w);
  return status;
}

ddsmark_status open(ddsmark_participant *participant, const ddsmark_writer_config *config, ddsmark_writer **out) {
  return guarded([&] {
    const Plan &plan = participant->plan;
    ddsmark_writer_config c;
    uint32_t kind = 0;
    ddsmark_status status;
    if ((status = writer_config_in(config, &c)) || (status = check(plan, c, kind)))
      return status;
    auto w = std::make_unique<ddsmark_writer>();
    w->e.participant = participant;
    w->e.kind = kind;
    w->e.max_payload = c.max_payload_bytes;
    w->loans = c.loans != 0;
    WriterQosSet qos;
    const bool async = plan.async || c.async_write != 0;
    if (plan.flow_bytes && !async)
      return fail(DDSMARK_INCONSISTENT, "option `flow_controller` requires asynchronous publishing; hint: set "
                                        "`asynchronous` or `publish_mode=async`, or remove `flow_controller`");
    if ((status = make_room(w.get(), plan, c)) ||
        (status = qos_make(c.qos, *participant, {SIDE_WRITER, kind, w->e.largest, async}, qos)) ||
        (status = memory_check(plan, w->e.largest, qos.end.endpoint().history_memory_policy)) ||
        (status = create(w.get(), c.topic, qos)))
      return status;
    if (w->e.max_payload == 0)
      w->e.max_payload =
          w->batches() ? w->held.capacity - BATCH_FRAMING : transport_infos[plan.transport].max_payload_bytes;
    *out = w.release();
    return status;
  });
}

ddsmark_status close(ddsmark_writer *w) {
  return guarded([&] {
    ReturnCode code;
    {
      const std::lock_guard<std::mutex> guard(w->e.participant->lock);
      code = w->group->delete_datawriter(w->entity);
      w->entity = nullptr;
      undo(w);
    }
    delete w;
    return code_of(code) == CODE_OK ? DDSMARK_OK : fail_dds(code, "delete_datawriter", "cannot delete the writer");
  });
}

/* -- the hot path -------------------------------------------------------------------------------------------------- */

ddsmark_status not_written(ddsmark_writer *w, const char *function, const ReturnCode &code) {
  switch (code_of(code)) {
  case CODE_TIMEOUT:
    count(w->timed_out);
    return fail(DDSMARK_TIMED_OUT,
                "the writer had no room within `max_blocking`: %s() failed: %s; hint: increase `max_blocking` or "
                "`send_queue`, or check for a slow reader",
                function, code_name(CODE_TIMEOUT));
  case CODE_OUT_OF_RESOURCES:
    count(w->refused);
    return fail(DDSMARK_REFUSED, "the writer has no room: %s() failed: %s; hint: increase `send_queue`", function,
                code_name(CODE_OUT_OF_RESOURCES));
  default:
    return fail_dds(code, function, "the writer cannot write");
  }
}

ddsmark_status not_whole(const ddsmark_writer *w, uint64_t size) {
  return fail(
      DDSMARK_BAD_ARGUMENT,
      "a sample of %llu bytes does not have the size of the type `plain`, %llu bytes; hint: write samples of that size",
      static_cast<unsigned long long>(size), static_cast<unsigned long long>(w->e.max_payload));
}

/* Generation 2 does not modify the data, but its parameter lacks const. */
void *unconst(const void *data) {
  return const_cast<void *>(data);
}

ddsmark_status hand_over(ddsmark_writer *w, const void *data) {
  return guarded([&] {
    const ReturnCode code = w->entity->write(unconst(data), no_handle);
    return code_of(code) == CODE_OK ? DDSMARK_OK : not_written(w, "write", code);
  });
}

/* Sets the sample and returns it. A generated sample gets a copy, as from an application whose octets are elsewhere. */
const void *fill(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (w->e.participant->plan.generated) {
    w->generated.key = key;
    w->generated.payload.assign(payload, payload + size);
    return &w->generated;
  }
  w->sample.key = key;
  w->sample.size = static_cast<uint32_t>(size);
  w->sample.payload = payload;
  return &w->sample;
}

ddsmark_status hand_over_octets(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  return guarded([&] { return hand_over(w, fill(w, key, payload, size)); });
}

/* Sends the batch; if it is rejected, it is kept and can be retried. */
ddsmark_status flush(ddsmark_writer *w) {
  if (w->held.length == 0)
    return DDSMARK_OK;
  const ddsmark_status status = hand_over_octets(w, 0, w->held.bytes, w->held.length);
  if (status == DDSMARK_OK)
    batch_clear(&w->held);
  return status;
}

ddsmark_status write(ddsmark_writer *w, uint32_t key, const uint8_t *payload, uint64_t size) {
  if (size > w->e.max_payload)
    return fail_sample_size(size, w->e.max_payload);
  if (w->batches()) {
    if (!batch_has_room(&w->held, size)) {
      const ddsmark_status status = flush(w);
      if (status != DDSMARK_OK)
        return status;
    }
    batch_push(&w->held, payload, size);
    return DDSMARK_OK;
  }
  if (w->e.kind != DDSMARK_TYPE_PLAIN)
    return hand_over_octets(w, key, payload, size);
  return size == w->e.max_payload ? hand_over(w, payload) : not_whole(w, size);
}

ddsmark_status loan(ddsmark_writer *w, uint64_t size, uint8_t **out) {
  if (!w->loans)
    return fail(
        DDSMARK_UNSUPPORTED,
        "writer_loan() was called on a writer that was opened without loans; hint: set `loans` of its configuration");
  if (size > w->e.max_payload)
    return fail_sample_size(size, w->e.max_payload);
  return guarded([&] {
    void *sample = nullptr;
    const ReturnCode code =
        w->entity->loan_sample(sample, fast::DataWriter::LoanInitializationKind::NO_LOAN_INITIALIZATION);
    if (code_of(code) == CODE_OUT_OF_RESOURCES)
      return fail(DDSMARK_REFUSED,
                  "the writer has no sample to loan: loan_sample() failed: %s; hint: increase `send_queue`",
                  code_name(CODE_OUT_OF_RESOURCES));
    if (code_of(code) != CODE_OK)
      return fail_dds(code, "loan_sample", "the writer cannot loan a sample");
    *out = static_cast<uint8_t *>(sample);
    return static_cast<ddsmark_status>(DDSMARK_OK);
  });
}

ddsmark_status publish(ddsmark_writer *w, uint32_t, uint8_t *sample, uint64_t size) {
  if (size != w->e.max_payload)
    return not_whole(w, size);
  return guarded([&] {
    const ReturnCode code = w->entity->write(sample, no_handle);
    return code_of(code) == CODE_OK ? DDSMARK_OK : not_written(w, "write", code);
  });
}

ddsmark_status discard(ddsmark_writer *w, uint8_t *sample) {
  return guarded([&] {
    void *lent = sample;
    const ReturnCode code = w->entity->discard_loan(lent);
    return code_of(code) == CODE_OK ? DDSMARK_OK
                                    : fail_dds(code, "discard_loan", "the writer cannot discard a loaned sample");
  });
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

ddsmark_status wait_acked(ddsmark_writer *w, uint64_t timeout_ns) {
  /* Samples held back by batching are never acknowledged. */
  const ddsmark_status status = flush(w);
  if (status != DDSMARK_OK)
    return status;
  return guarded([&] {
    /* The return code for a timeout depends on generation and version; no other cause makes it fail. */
    const ReturnCode code = w->entity->wait_for_acknowledgments(duration_of(timeout_ns));
    return code_of(code) == CODE_OK ? DDSMARK_OK
                                    : fail(DDSMARK_TIMED_OUT,
                                           "not all samples were acknowledged in time: wait_for_acknowledgments() "
                                           "failed: %s; hint: check for a slow reader",
                                           code_name(code_of(code)));
  });
}

template <class Call> ddsmark_status on_instance(ddsmark_writer *w, uint32_t key, const char *function, Call call) {
  if (w->e.kind != DDSMARK_TYPE_KEYED)
    return fail(DDSMARK_UNSUPPORTED,
                "instances require the type `keyed`: Fast DDS has no instances of a type without a key; "
                "hint: open the writer with the type `keyed`");
  return guarded([&] {
    const ReturnCode code = call(unconst(fill(w, key, nullptr, 0)));
    return code_of(code) == CODE_OK ? DDSMARK_OK : not_written(w, function, code);
  });
}

ddsmark_status dispose(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, "dispose", [w](void *sample) { return w->entity->dispose(sample, no_handle); });
}

ddsmark_status unregister(ddsmark_writer *w, uint32_t key) {
  return on_instance(w, key, "unregister_instance",
                     [w](void *sample) { return w->entity->unregister_instance(sample, no_handle); });
}

ddsmark_status assert_liveliness(ddsmark_writer *w) {
  return guarded([&] {
    const ReturnCode code = w->entity->assert_liveliness();
    return code_of(code) == CODE_OK ? DDSMARK_OK
                                    : fail_dds(code, "assert_liveliness", "cannot assert the liveliness of the writer");
  });
}

ddsmark_status matched(ddsmark_writer *w, ddsmark_match *out) {
  end_mute_connections(w->e.participant);
  const ddsmark_match state = match_state(&w->e.matched);
  return match_out(&state, out);
}

ddsmark_status qos_now(ddsmark_writer *w, ddsmark_qos *out) {
  return guarded(
      [&] { return qos_read_back(w->e.topic->get_qos(), w->group->get_qos(), w->entity->get_qos(), w->e.texts, out); });
}

ddsmark_status settings(ddsmark_writer *w, ddsmark_visitor visit, void *context) {
  return guarded([&] {
    visit(context, "batching", w->batches() ? "application" : "none");
    if (w->batches())
      visit_number(visit, context, "batch_bytes", w->held.limit);
    visit_end(w->entity->get_qos(), w->e.participant->entity->get_qos(), w->e.participant->plan, visit, context);
    visit_type(w->e, visit, context);
    if (w->e.kind == DDSMARK_TYPE_PLAIN) {
      visit(context, "plain", "true");
      visit(context, "loans", w->loans ? "true" : "false");
    }
    if (w->e.participant->plan.over_ip())
      sockets_visit(&w->e.participant->sockets, w->e.participant->plan.domain, is_port_of_domain, visit, context);
    return DDSMARK_OK;
  });
}

ddsmark_status counters(ddsmark_writer *w, ddsmark_counters *out) {
  return guarded([&] {
    ddsmark_counters c{};
    counter_set(&c, DDSMARK_COUNTER_WRITE_TIMED_OUT, w->timed_out.load(std::memory_order_relaxed));
    counter_set(&c, DDSMARK_COUNTER_WRITE_REFUSED, w->refused.load(std::memory_order_relaxed));
    fast::OfferedDeadlineMissedStatus deadline;
    fast::LivelinessLostStatus liveliness;
    fast::OfferedIncompatibleQosStatus incompatible;
    if (code_of(w->entity->get_offered_deadline_missed_status(deadline)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_DEADLINE_MISSED, deadline.total_count);
    if (code_of(w->entity->get_liveliness_lost_status(liveliness)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_LIVELINESS_LOST, static_cast<uint64_t>(liveliness.total_count));
    if (code_of(w->entity->get_offered_incompatible_qos_status(incompatible)) == CODE_OK)
      counter_set(&c, DDSMARK_COUNTER_INCOMPATIBLE_QOS, incompatible.total_count);
    return counters_out(&c, out);
  });
}

} // namespace

void writer_fill(ddsmark_driver &table) {
  table.writer_open = open;
  table.writer_close = close;
  table.writer_matched = matched;
  table.writer_qos = qos_now;
  table.writer_settings = settings;
  table.writer_counters = counters;
  table.writer_write = write;
  table.writer_loan = loan;
  table.writer_publish = publish;
  table.writer_discard = discard;
  table.writer_flush = flush;
  table.writer_wait_acked = wait_acked;
  table.writer_dispose = dispose;
  table.writer_unregister = unregister;
  table.writer_assert_liveliness = assert_liveliness;
}
