/* SPDX-License-Identifier: Apache-2.0
 *
 * profiles.cpp: the user's XML profiles as the base of all QoS.
 *
 * The default profiles of the file replace this driver's own settings. What the experiment requests is set over them. A
 * value of the file that a request would replace is rejected, because the file would then not be what is measured.
 * Domain, name, interface, transport and discovery belong to the experiment: what the file says of them is replaced,
 * and reported as `profiles_replaced`.
 */
#include "internal.hpp"

#include <cstdlib>

namespace {

/* The library keeps the profiles that it has loaded until the process ends. */
std::string loaded_file;

#if FASTDDS_GENERATION == 2
const char variable[] = "FASTRTPS_DEFAULT_PROFILES_FILE", other_variable[] = "FASTDDS_DEFAULT_PROFILES_FILE";
#else
const char variable[] = "FASTDDS_DEFAULT_PROFILES_FILE", other_variable[] = "FASTRTPS_DEFAULT_PROFILES_FILE";
#endif

const char *set_in_environment(const char *name) {
  const char *value = getenv(name);
  return value && value[0] ? value : nullptr;
}

void add(std::string &list, const char *what) {
  list += (list.empty() ? "" : ", ") + std::string(what);
}

/* Removes what the experiment decides. */
ddsmark_status take_over(Profiles &profiles, const Plan &plan, fast::DomainParticipantQos &qos) {
  const fast::DomainParticipantQos vendor;
  auto &wire = qos.wire_protocol();
  auto &builtin = wire.builtin;
  if (builtin.discovery_config.discoveryProtocol != vendor.wire_protocol().builtin.discovery_config.discoveryProtocol)
    return fail(DDSMARK_INCONSISTENT,
                "profiles file `%s` selects a discovery protocol other than SIMPLE, with which the participants of a "
                "run do not discover each other; hint: remove `discoveryProtocol` from the file",
                plan.profiles_file.c_str());
  if (!builtin.initialPeersList.empty() || !builtin.metatrafficUnicastLocatorList.empty() ||
      !builtin.metatrafficMulticastLocatorList.empty())
    add(profiles.replaced, "initial peers and metatraffic locators");
  builtin.initialPeersList.clear();
  builtin.metatrafficUnicastLocatorList.clear();
  builtin.metatrafficMulticastLocatorList.clear();
  if (!wire.default_unicast_locator_list.empty() || !wire.default_multicast_locator_list.empty())
    add(profiles.replaced, "default locators");
  wire.default_unicast_locator_list.clear();
  wire.default_multicast_locator_list.clear();
  if (wire.participant_id != vendor.wire_protocol().participant_id)
    add(profiles.replaced, "participant ID");
  wire.participant_id = vendor.wire_protocol().participant_id;
  if (qos.name() != vendor.name())
    add(profiles.replaced, "name");
  if (plan.receive_buffer)
    qos.transport().listen_socket_buffer_size = 0;
  if (plan.send_buffer)
    qos.transport().send_socket_buffer_size = 0;
  profiles.transports = qos.transport().user_transports;
  qos.transport().user_transports.clear();
  if (!profiles.transports.empty())
    add(profiles.replaced, "interfaces, and transports other than the measured one");
  return DDSMARK_OK;
}

/* A value of the file that differs from the library's default, and from what is set in the end. */
template <class Value> bool is_lost(const Value &file, const Value &vendor, const Value &set) {
  return !(file == vendor) && !(set == file);
}

template <class End> const char *lost_of_both(const End &file, const End &set) {
  const End vendor;
  const auto &limits = file.resource_limits(), &vendor_limits = vendor.resource_limits(),
             &set_limits = set.resource_limits();
  if (is_lost(file.reliability().kind, vendor.reliability().kind, set.reliability().kind))
    return "reliability";
  const auto &history = file.history(), &vendor_history = vendor.history(), &set_history = set.history();
  const bool keeps_history = set_history.kind == history.kind &&
                             (history.kind == fast::KEEP_ALL_HISTORY_QOS || set_history.depth == history.depth);
  if (!keeps_history && (history.kind != vendor_history.kind || history.depth != vendor_history.depth))
    return "history";
  if (is_lost(limits.max_samples, vendor_limits.max_samples, set_limits.max_samples) ||
      is_lost(limits.max_instances, vendor_limits.max_instances, set_limits.max_instances) ||
      is_lost(limits.max_samples_per_instance, vendor_limits.max_samples_per_instance,
              set_limits.max_samples_per_instance))
    return "resource_limits";
  if (is_lost(file.durability().kind, vendor.durability().kind, set.durability().kind))
    return "durability";
  if (is_lost(file.deadline().period, vendor.deadline().period, set.deadline().period))
    return "deadline";
  if (is_lost(file.latency_budget().duration, vendor.latency_budget().duration, set.latency_budget().duration))
    return "latency_budget";
  if (is_lost(file.lifespan().duration, vendor.lifespan().duration, set.lifespan().duration))
    return "lifespan";
  if (is_lost(file.liveliness().kind, vendor.liveliness().kind, set.liveliness().kind) ||
      is_lost(file.liveliness().lease_duration, vendor.liveliness().lease_duration, set.liveliness().lease_duration))
    return "liveliness";
  if (is_lost(file.ownership().kind, vendor.ownership().kind, set.ownership().kind))
    return "ownership";
  if (is_lost(file.user_data(), vendor.user_data(), set.user_data()))
    return "user_data";
  if (is_lost(file.data_sharing().kind(), vendor.data_sharing().kind(), set.data_sharing().kind()))
    return "data_sharing, which the factor `transport` sets,";
  if (is_lost(file.endpoint().history_memory_policy, vendor.endpoint().history_memory_policy,
              set.endpoint().history_memory_policy))
    return "historyMemoryPolicy";
  fast::DataRepresentationQosPolicy none;
  End file_copy = file, set_copy = set;
  if (is_lost(representation_of(file_copy).m_value, none.m_value, representation_of(set_copy).m_value))
    return "data_representation, which is always XCDR1,";
  return nullptr;
}

const char *lost(const fast::DataWriterQos &file, const fast::DataWriterQos &set) {
  const fast::DataWriterQos vendor;
  if (is_lost(file.reliability().max_blocking_time, vendor.reliability().max_blocking_time,
              set.reliability().max_blocking_time))
    return "max_blocking_time";
  if (is_lost(file.publish_mode(), vendor.publish_mode(), set.publish_mode()))
    return "publish_mode";
  if (is_lost(file.reliable_writer_qos().times, vendor.reliable_writer_qos().times, set.reliable_writer_qos().times))
    return "times";
  return lost_of_both(file, set);
}

const char *lost(const fast::DataReaderQos &file, const fast::DataReaderQos &set) {
  const fast::DataReaderQos vendor;
  if (is_lost(file.reliable_reader_qos().times, vendor.reliable_reader_qos().times, set.reliable_reader_qos().times))
    return "times";
  return lost_of_both(file, set);
}

template <class Set> ddsmark_status check(const Profiles &profiles, const char *side, const Set &file, const Set &set) {
  const decltype(file.group) vendor;
  if (profiles.file.empty())
    return DDSMARK_OK;
  const char *what = lost(file.end, set.end);
  if (what == nullptr && is_lost(file.group, vendor, set.group))
    what = "partition, presentation or group_data";
  if (what == nullptr)
    return DDSMARK_OK;
  return fail(DDSMARK_INCONSISTENT,
              "profiles file `%s` sets %s of the %s, but the experiment requests another value; hint: request the same "
              "value in `[qos]` or as an option, or remove it from the file",
              profiles.file.c_str(), what, side);
}

} // namespace

ddsmark_status profiles_choose(const ddsmark_participant_config *config, const char *option, std::string &file) {
  const char *asked = option_value(config, option);
  const char *environment = set_in_environment(variable), *other = set_in_environment(other_variable);
  if (other && environment == nullptr && asked == nullptr)
    return fail(DDSMARK_INCONSISTENT,
                "environment variable %s is set, which this version of Fast DDS does not read; hint: set %s instead",
                other_variable, variable);
  if (asked && environment && std::string(asked) != environment)
    return fail(DDSMARK_INCONSISTENT,
                "option `%s` is `%s`, but environment variable %s is `%s`; hint: remove the option, or set `%s = "
                "false` in `[factors.env]`",
                option, asked, variable, environment, variable);
  file = asked ? asked : environment ? environment : "";
  return DDSMARK_OK;
}

ddsmark_status profiles_load(const Plan &plan, Profiles &profiles, fast::DomainParticipantQos &qos) {
  if (plan.profiles_file.empty())
    return DDSMARK_OK;
  auto *factory = fast::DomainParticipantFactory::get_instance();
  if (!loaded_file.empty() && loaded_file != plan.profiles_file)
    return fail(DDSMARK_INCONSISTENT,
                "cannot load profiles file `%s`: this process has already loaded `%s`; hint: use the same file for all "
                "participants of a process",
                plan.profiles_file.c_str(), loaded_file.c_str());
  if (loaded_file.empty()) {
    errors_watch();
    const ReturnCode code = factory->load_XML_profiles_file(plan.profiles_file);
    if (code_of(code) != CODE_OK) {
      const ddsmark_status status =
          fail(DDSMARK_BAD_ARGUMENT,
               "cannot load profiles file `%s`: load_XML_profiles_file() failed: %s (%s); hint: give the full path of "
               "a valid file; the messages of Fast DDS in the log of the agent name the invalid element",
               plan.profiles_file.c_str(), code_name(code_of(code)), errors_kept().c_str());
      errors_end();
      return status;
    }
    /* The defaults of participants are read only after this. */
    factory->load_profiles();
    loaded_file = plan.profiles_file;
  }
  profiles.file = plan.profiles_file;
  factory->set_default_participant_qos(fast::PARTICIPANT_QOS_DEFAULT);
  qos = factory->get_default_participant_qos();
  profiles.participant = !(qos == fast::DomainParticipantQos());
  return take_over(profiles, plan, qos);
}

ddsmark_status profiles_read(Profiles &profiles, fast::DomainParticipant *entity) {
  if (profiles.file.empty())
    return DDSMARK_OK;
  profiles.writer.group = entity->get_default_publisher_qos();
  profiles.reader.group = entity->get_default_subscriber_qos();
  profiles.writer.topic = profiles.reader.topic = entity->get_default_topic_qos();
  fast::Publisher *publisher = entity->create_publisher(profiles.writer.group);
  fast::Subscriber *subscriber = entity->create_subscriber(profiles.reader.group);
  if (publisher == nullptr || subscriber == nullptr) {
    entity->delete_contained_entities();
    return fail_null(publisher == nullptr ? "create_publisher" : "create_subscriber",
                     "cannot read the default profiles of `" + profiles.file + "`");
  }
  profiles.writer.end = publisher->get_default_datawriter_qos();
  profiles.reader.end = subscriber->get_default_datareader_qos();
  entity->delete_publisher(publisher);
  entity->delete_subscriber(subscriber);
  std::string applied;
  if (profiles.participant)
    add(applied, "participant");
  if (!(profiles.writer.end == fast::DataWriterQos()) || !(profiles.writer.group == fast::PublisherQos()))
    add(applied, "writer");
  if (!(profiles.reader.end == fast::DataReaderQos()) || !(profiles.reader.group == fast::SubscriberQos()))
    add(applied, "reader");
  if (!(profiles.writer.topic == fast::TopicQos()))
    add(applied, "topic");
  profiles.applied = applied;
  if (applied.empty())
    return fail(DDSMARK_INCONSISTENT,
                "profiles file `%s` has no default profile that differs from the defaults of Fast DDS; hint: mark a "
                "`participant`, `data_writer` or `data_reader` with is_default_profile=\"true\"",
                profiles.file.c_str());
  return DDSMARK_OK;
}

ddsmark_status profiles_check(const Profiles &profiles, const WriterQosSet &set) {
  return check(profiles, "writer", profiles.writer, set);
}

ddsmark_status profiles_check(const Profiles &profiles, const ReaderQosSet &set) {
  return check(profiles, "reader", profiles.reader, set);
}

void profiles_visit(const Profiles &profiles, ddsmark_visitor visit, void *context) {
  if (profiles.file.empty())
    return;
  visit(context, "profiles_file", profiles.file.c_str());
  visit(context, "profiles_applied", profiles.applied.c_str());
  visit(context, "profiles_replaced", profiles.replaced.empty() ? "nothing" : profiles.replaced.c_str());
}
