/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.cpp: policies, from ddsmark to Fast DDS.
 *
 * Partition, presentation and group data belong to the publisher or subscriber, topic data to the topic. A policy
 * that DDS does not define for the side is not set, with one exception: without a reader's lifespan the library
 * delivers expired samples.
 */
#include "internal.hpp"

#include <algorithm>

namespace {

/* Both enumerations have the same numbers, so values are cast after a range check. */
static_assert(int(fast::RELIABLE_RELIABILITY_QOS) - 1 == DDSMARK_RELIABLE, "reliability counts from 1, as in RTPS");
static_assert(int(fast::KEEP_ALL_HISTORY_QOS) == DDSMARK_KEEP_ALL, "history");
static_assert(int(fast::TRANSIENT_LOCAL_DURABILITY_QOS) == DDSMARK_TRANSIENT_LOCAL, "durability");
static_assert(int(fast::MANUAL_BY_TOPIC_LIVELINESS_QOS) == DDSMARK_LIVELINESS_BY_TOPIC, "liveliness");
static_assert(int(fast::EXCLUSIVE_OWNERSHIP_QOS) == DDSMARK_OWNERSHIP_EXCLUSIVE, "ownership");
static_assert(int(fast::GROUP_PRESENTATION_QOS) == DDSMARK_SCOPE_GROUP, "presentation");

/* Defaults of the library for an endpoint without settings. */
const int32_t default_samples = 5000, default_allocated = 100;
/* Minimum: with fewer samples a writer would block within a burst. */
const int32_t least_samples = 16;

bool unlimited(int32_t limit) {
  return limit <= 0;
}

ddsmark_status check(const ddsmark_qos &q) {
  if (q.present & POLICY(DURABILITY) && q.durability > DDSMARK_TRANSIENT_LOCAL)
    return fail(DDSMARK_UNSUPPORTED,
                "the value `%s` of `durability` is not supported: Fast DDS needs a persistence store for it, which "
                "this driver does not configure; hint: use `transient_local`",
                q.durability == DDSMARK_TRANSIENT ? "transient" : "persistent");
  if (q.present & POLICY(PRESENTATION) && q.coherent_access)
    return fail(DDSMARK_UNSUPPORTED, "`coherent_access` of policy `presentation` is not supported: Fast DDS has no "
                                     "coherent sets; hint: set it to false");
  return DDSMARK_OK;
}

/* Returns the default number of queued samples, from the size that they need. */
int32_t samples_for(const Plan &plan, uint64_t max_payload) {
  const uint64_t fit = plan.history_bytes / std::max<uint64_t>(max_payload, 1);
  return static_cast<int32_t>(std::clamp<uint64_t>(fit, least_samples, default_samples));
}

template <class End> void apply_limits(const ddsmark_qos &q, const Plan &plan, const Wish &wish, End &end) {
  auto &limits = end.resource_limits();
  const bool keep_all = q.present & POLICY(HISTORY) && q.history == DDSMARK_KEEP_ALL;
  if (q.present & POLICY(RESOURCE_LIMITS)) {
    limits.max_samples = q.max_samples;
    limits.max_instances = q.max_instances;
    limits.max_samples_per_instance = q.max_samples_per_instance;
  } else if (plan.history_bytes > 0) {
    const int32_t depth = q.present & POLICY(HISTORY) && !keep_all ? q.history_depth : 0;
    const int32_t most = std::max(samples_for(plan, wish.max_payload), depth);
    /* With keys the limit is per key: the library requires all three to be consistent, and the number of keys is
     * unknown. */
    const bool keyed = wish.type_kind == DDSMARK_TYPE_KEYED;
    limits.max_samples = keyed ? DDSMARK_UNLIMITED : most;
    limits.max_instances = keyed ? DDSMARK_UNLIMITED : 1;
    limits.max_samples_per_instance = most;
  }
  /* Initial allocation: within the limits, and not gigabytes for large samples. */
  const int32_t start = static_cast<int32_t>(
      std::clamp<uint64_t>((16u << 20) / std::max<uint64_t>(wish.max_payload, 1), 1, default_allocated));
  if (!plan.untuned())
    limits.allocated_samples = start;
  if (!unlimited(limits.max_samples))
    limits.allocated_samples = std::min(limits.allocated_samples, limits.max_samples);
}

template <class End> void apply_common(const ddsmark_qos &q, const Plan &plan, const Wish &wish, End &end) {
  if (q.present & POLICY(RELIABILITY)) {
    end.reliability().kind =
        q.reliability == DDSMARK_RELIABLE ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
    if (wish.side == SIDE_WRITER)
      end.reliability().max_blocking_time = duration_of(q.max_blocking_ns);
  }
  if (q.present & POLICY(HISTORY)) {
    end.history().kind = static_cast<fast::HistoryQosPolicyKind>(q.history);
    end.history().depth = q.history == DDSMARK_KEEP_ALL ? 1 : q.history_depth;
  }
  apply_limits(q, plan, wish, end);
  if (q.present & POLICY(DURABILITY))
    end.durability().kind = static_cast<fast::DurabilityQosPolicyKind>(q.durability);
  if (q.present & POLICY(DEADLINE))
    end.deadline().period = duration_of(q.deadline_ns);
  if (q.present & POLICY(LATENCY_BUDGET))
    end.latency_budget().duration = duration_of(q.latency_budget_ns);
  if (q.present & POLICY(LIFESPAN))
    end.lifespan().duration = duration_of(q.lifespan_ns);
  if (q.present & POLICY(LIVELINESS)) {
    end.liveliness().kind = static_cast<fast::LivelinessQosPolicyKind>(q.liveliness);
    end.liveliness().lease_duration = duration_of(q.liveliness_lease_ns);
    /* Period of automatic assertions: well within the lease. */
    if (q.liveliness_lease_ns != DDSMARK_DURATION_INFINITE)
      end.liveliness().announcement_period = duration_of(std::max<uint64_t>(q.liveliness_lease_ns / 3, 1));
  }
  if (q.present & POLICY(OWNERSHIP))
    end.ownership().kind = static_cast<fast::OwnershipQosPolicyKind>(q.ownership);
  if (q.present & POLICY(USER_DATA))
    end.user_data().data_vec(std::vector<uint8_t>(q.user_data, q.user_data + q.user_data_size));
  if (plan.memory >= 0)
    end.endpoint().history_memory_policy = static_cast<rtps::MemoryManagementPolicy_t>(plan.memory);
  /* Never AUTO: with it, data may use shared memory whatever the transport. */
  if (plan.transport == TRANSPORT_DATA_SHARING)
    end.data_sharing().on("");
  else
    end.data_sharing().off();
  /* The representation that all DDS implementations can read. */
  representation_of(end).m_value = {fast::XCDR_DATA_REPRESENTATION};
}

template <class Group> void apply_group(const ddsmark_qos &q, Group &group) {
  if (q.present & POLICY(PARTITION)) {
    group.partition().clear();
    for (uint32_t i = 0; i < q.partition_count; i++)
      group.partition().push_back(q.partitions[i]);
  }
  if (q.present & POLICY(PRESENTATION)) {
    group.presentation().access_scope = static_cast<fast::PresentationQosPolicyAccessScopeKind>(q.presentation_scope);
    group.presentation().ordered_access = q.ordered_access != 0;
  }
  if (q.present & POLICY(GROUP_DATA))
    group.group_data().data_vec(std::vector<uint8_t>(q.group_data, q.group_data + q.group_data_size));
}

void apply_side(const ddsmark_qos &q, const Plan &plan, const Wish &wish, fast::DataWriterQos &end) {
  if (q.present & POLICY(DURABILITY_SERVICE)) {
    auto &service = end.durability_service();
    service.service_cleanup_delay = duration_of(q.service_cleanup_ns);
    service.history_kind = static_cast<fast::HistoryQosPolicyKind>(q.service_history);
    service.history_depth = q.service_history == DDSMARK_KEEP_ALL ? 1 : q.service_history_depth;
    service.max_samples = q.service_max_samples;
    service.max_instances = q.service_max_instances;
    service.max_samples_per_instance = q.service_max_samples_per_instance;
  }
  if (q.present & POLICY(OWNERSHIP_STRENGTH))
    end.ownership_strength().value = static_cast<uint32_t>(q.ownership_strength);
  if (q.present & POLICY(TRANSPORT_PRIORITY))
    end.transport_priority().value = static_cast<uint32_t>(q.transport_priority);
  if (q.present & POLICY(WRITER_DATA_LIFECYCLE))
    end.writer_data_lifecycle().autodispose_unregistered_instances = q.autodispose_unregistered != 0;
  if (plan.heartbeat_ms)
    heartbeat_period(end.reliable_writer_qos().times) = duration_of(plan.heartbeat_ms * 1000000);
  if (plan.publish_mode_set || wish.async)
    end.publish_mode().kind = wish.async ? fast::ASYNCHRONOUS_PUBLISH_MODE : fast::SYNCHRONOUS_PUBLISH_MODE;
  /* A reader acknowledges a sample that it has copied before it checks for an overwrite: freed memory must not be
   * reused immediately. */
  if (plan.transport == TRANSPORT_DATA_SHARING && plan.extra_samples)
    end.resource_limits().extra_samples = static_cast<int32_t>(plan.extra_samples);
  if (wish.async && plan.flow_bytes)
    end.publish_mode().flow_controller_name = flow_controller_name;
}

void apply_side(const ddsmark_qos &q, const Plan &plan, const Wish &, fast::DataReaderQos &end) {
  if (plan.response_us >= 0)
    response_delay(end.reliable_reader_qos().times) = duration_of(static_cast<uint64_t>(plan.response_us) * 1000);
  if (q.present & POLICY(TIME_BASED_FILTER))
    end.time_based_filter().minimum_separation = duration_of(q.minimum_separation_ns);
  if (q.present & POLICY(READER_DATA_LIFECYCLE)) {
    end.reader_data_lifecycle().autopurge_no_writer_samples_delay = duration_of(q.autopurge_nowriter_ns);
    end.reader_data_lifecycle().autopurge_disposed_samples_delay = duration_of(q.autopurge_disposed_ns);
  }
}

/* Rejects readers that could not be closed: over data sharing, the library's listening thread never returns from a full
 * history. The default limits are those of the writer, which then blocks first. */
ddsmark_status check_reader(const ddsmark_qos &q, const Plan &plan) {
  const bool keep_all = q.present & POLICY(HISTORY) && q.history == DDSMARK_KEEP_ALL;
  if (plan.transport != TRANSPORT_DATA_SHARING || !keep_all || !(q.present & POLICY(RESOURCE_LIMITS)) ||
      q.max_samples <= 0 || q.max_samples >= least_samples)
    return DDSMARK_OK;
  return fail(DDSMARK_UNSUPPORTED,
              "`max_samples` of a keep-all reader is %d, and over `data_sharing` a reader whose history is full cannot "
              "be closed; hint: use at least %d, and not less than the writer has, or the transport `shm`",
              q.max_samples, least_samples);
}

template <class Set> ddsmark_status make(const ddsmark_qos *asked, const Plan &plan, const Wish &wish, Set &out) {
  const uint64_t elsewhere = wish.side == SIDE_WRITER ? READER_ONLY : WRITER_ONLY & ~POLICY(LIFESPAN);
  ddsmark_qos q;
  ddsmark_status status;
  if ((status = qos_in(asked, policy_supports, wish.side, elsewhere, &q)) || (status = check(q)) ||
      (wish.side == SIDE_READER && (status = check_reader(q, plan))))
    return status;
  out.sets_topic = (q.present & POLICY(TOPIC_DATA)) != 0;
  if (out.sets_topic)
    out.topic.topic_data().data_vec(std::vector<uint8_t>(q.topic_data, q.topic_data + q.topic_data_size));
  apply_group(q, out.group);
  apply_common(q, plan, wish, out.end);
  apply_side(q, plan, wish, out.end);
  return DDSMARK_OK;
}

} // namespace

ddsmark_status qos_make(const ddsmark_qos *asked, const ddsmark_participant &p, const Wish &wish, WriterQosSet &out) {
  out = p.profiles.writer;
  const ddsmark_status status = make(asked, p.plan, wish, out);
  return status != DDSMARK_OK ? status : profiles_check(p.profiles, out);
}

ddsmark_status qos_make(const ddsmark_qos *asked, const ddsmark_participant &p, const Wish &wish, ReaderQosSet &out) {
  out = p.profiles.reader;
  const ddsmark_status status = make(asked, p.plan, wish, out);
  return status != DDSMARK_OK ? status : profiles_check(p.profiles, out);
}

/* Converts a duration. The library does not normalise nanoseconds of a second or more. */
Duration duration_of(uint64_t ns) {
  const uint64_t second = 1000000000;
  if (ns / second >= INT32_MAX)
    return Duration(INT32_MAX, UINT32_MAX);
  return Duration(static_cast<int32_t>(ns / second), static_cast<uint32_t>(ns % second));
}

uint64_t ns_of(const Duration &duration) {
  if (duration.seconds == INT32_MAX)
    return DDSMARK_DURATION_INFINITE;
  return static_cast<uint64_t>(duration.seconds) * 1000000000u + duration.nanosec;
}
