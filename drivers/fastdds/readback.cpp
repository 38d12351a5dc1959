/* SPDX-License-Identifier: Apache-2.0
 *
 * readback.cpp: effective policies, read back from the entities. A policy that the library stores without effect is not
 * present.
 */
#include "internal.hpp"

namespace {

void read_side(const fast::DataWriterQos &end, ddsmark_qos &q) {
  q.max_blocking_ns = ns_of(end.reliability().max_blocking_time);
  q.lifespan_ns = ns_of(end.lifespan().duration);
  q.ownership_strength = static_cast<int32_t>(end.ownership_strength().value);
  q.autodispose_unregistered = end.writer_data_lifecycle().autodispose_unregistered_instances;
  q.present |= POLICY(LIFESPAN) | POLICY(OWNERSHIP_STRENGTH) | POLICY(WRITER_DATA_LIFECYCLE);
}

void read_side(const fast::DataReaderQos &, ddsmark_qos &) {}

template <class Group, class End>
ddsmark_status read_back(const fast::TopicQos &topic, const Group &group, const End &end, QosTexts &texts,
                         ddsmark_qos *out) {
  ddsmark_qos q{};
  q.present = POLICY(RELIABILITY) | POLICY(HISTORY) | POLICY(RESOURCE_LIMITS) | POLICY(DURABILITY) | POLICY(DEADLINE) |
              POLICY(LIVELINESS) | POLICY(OWNERSHIP) | POLICY(PARTITION) | POLICY(DESTINATION_ORDER) |
              POLICY(USER_DATA) | POLICY(TOPIC_DATA) | POLICY(GROUP_DATA);
  q.reliability = end.reliability().kind == fast::RELIABLE_RELIABILITY_QOS ? DDSMARK_RELIABLE : DDSMARK_BEST_EFFORT;
  q.history = static_cast<int32_t>(end.history().kind);
  q.history_depth = end.history().depth;
  q.max_samples = end.resource_limits().max_samples;
  q.max_instances = end.resource_limits().max_instances;
  q.max_samples_per_instance = end.resource_limits().max_samples_per_instance;
  q.durability = static_cast<int32_t>(end.durability().kind);
  q.deadline_ns = ns_of(end.deadline().period);
  q.liveliness = static_cast<int32_t>(end.liveliness().kind);
  q.liveliness_lease_ns = ns_of(end.liveliness().lease_duration);
  q.ownership = static_cast<int32_t>(end.ownership().kind);
  q.destination_order = end.destination_order().kind == fast::BY_SOURCE_TIMESTAMP_DESTINATIONORDER_QOS
                            ? DDSMARK_ORDER_BY_SOURCE
                            : DDSMARK_ORDER_BY_RECEPTION;
  read_side(end, q);

  texts.partitions = group.partition().names();
  texts.partition_names.clear();
  for (const std::string &name : texts.partitions)
    texts.partition_names.push_back(name.c_str());
  q.partitions = texts.partition_names.data();
  q.partition_count = static_cast<uint32_t>(texts.partition_names.size());
  texts.user_data = end.user_data().data_vec();
  texts.topic_data = topic.topic_data().data_vec();
  texts.group_data = group.group_data().data_vec();
  q.user_data = texts.user_data.data();
  q.user_data_size = static_cast<uint32_t>(texts.user_data.size());
  q.topic_data = texts.topic_data.data();
  q.topic_data_size = static_cast<uint32_t>(texts.topic_data.size());
  q.group_data = texts.group_data.data();
  q.group_data_size = static_cast<uint32_t>(texts.group_data.size());
  return qos_out(&q, out);
}

template <class End> void visit_both(const End &end, ddsmark_visitor visit, void *context) {
  static const char *const memory[] = {"prealloc", "prealloc_realloc", "dynamic", "dynamic_reusable"};
  visit(context, "data_sharing",
        end.data_sharing().kind() == fast::OFF  ? "off"
        : end.data_sharing().kind() == fast::ON ? "on"
                                                : "auto");
  visit(context, "memory", memory[static_cast<int>(end.endpoint().history_memory_policy) & 3]);
  visit_number(visit, context, "allocated_samples", static_cast<uint64_t>(end.resource_limits().allocated_samples));
}

} // namespace

ddsmark_status qos_read_back(const fast::TopicQos &topic, const fast::PublisherQos &group,
                             const fast::DataWriterQos &end, QosTexts &texts, ddsmark_qos *out) {
  return read_back(topic, group, end, texts, out);
}

ddsmark_status qos_read_back(const fast::TopicQos &topic, const fast::SubscriberQos &group,
                             const fast::DataReaderQos &end, QosTexts &texts, ddsmark_qos *out) {
  return read_back(topic, group, end, texts, out);
}

void visit_end(const fast::DataWriterQos &end, const fast::DomainParticipantQos &participant, const Plan &plan,
               ddsmark_visitor visit, void *context) {
  auto times = end.reliable_writer_qos().times;
  const bool async = end.publish_mode().kind == fast::ASYNCHRONOUS_PUBLISH_MODE;
  visit(context, "publish_mode", async ? "async" : "sync");
  const std::string limit = flow_limit(participant, end.publish_mode().flow_controller_name);
  if (async && !limit.empty())
    visit(context, "flow_controller", limit.c_str());
  visit_number(visit, context, "heartbeat_ms", ns_of(heartbeat_period(times)) / 1000000);
  if (plan.transport == TRANSPORT_DATA_SHARING)
    visit_number(visit, context, "extra_samples", static_cast<uint64_t>(end.resource_limits().extra_samples));
  visit_both(end, visit, context);
}

void visit_end(const fast::DataReaderQos &end, ddsmark_visitor visit, void *context) {
  auto times = end.reliable_reader_qos().times;
  visit_number(visit, context, "heartbeat_response_us", ns_of(response_delay(times)) / 1000);
  visit_both(end, visit, context);
}
