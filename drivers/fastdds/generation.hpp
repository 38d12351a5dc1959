/* SPDX-License-Identifier: Apache-2.0
 *
 * generation.hpp: the differences between Fast DDS 2 (`fastrtps`) and 3 (`fastdds`).
 *
 * CMake sets FASTDDS_GENERATION: with both installed, a search for headers may find the wrong one.
 */
#ifndef DDSMARK_FASTDDS_GENERATION_HPP
#define DDSMARK_FASTDDS_GENERATION_HPP

#include "common.h"

#include <cstdint>
#include <functional>

#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#if FASTDDS_GENERATION == 2
#include <fastdds/rtps/flowcontrol/FlowControllerDescriptor.hpp>
#include <fastdds/rtps/transport/TCPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/UDPv6TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/attributes/LibrarySettingsAttributes.h>
#include <fastrtps/config.h>
#include <fastrtps/utils/IPLocator.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>
#else
#include <fastdds/LibrarySettings.hpp>
#include <fastdds/config.hpp>
#include <fastdds/rtps/flowcontrol/FlowControllerDescriptor.hpp>
#include <fastdds/rtps/transport/TCPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/UDPv6TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>
#endif

/* Threads of the library have names, and settings in the QoS. */
#if __has_include(<fastdds/rtps/attributes/ThreadSettings.hpp>)
#define HAVE_THREAD_SETTINGS 1
#endif
#if FASTDDS_GENERATION > 2
#include <fastdds/rtps/attributes/BuiltinTransports.hpp>
#include <fastdds/rtps/participant/ParticipantDiscoveryInfo.hpp>
#endif

namespace fast = eprosima::fastdds::dds;
namespace transports = eprosima::fastdds::rtps;

#if FASTDDS_GENERATION == 2
namespace rtps = eprosima::fastrtps::rtps;
using ReturnCode = eprosima::fastrtps::types::ReturnCode_t;
using Duration = eprosima::fastrtps::Duration_t;
#else
namespace rtps = eprosima::fastdds::rtps;
using ReturnCode = fast::ReturnCode_t;
using Duration = fast::Duration_t;
#endif
using Locator = rtps::Locator_t;
using IpLocator = rtps::IPLocator;

/* Prefix of the file names of the shared-memory transport. */
#if FASTDDS_GENERATION == 2
constexpr char shared_memory_prefix[] = "fastrtps_";
#else
constexpr char shared_memory_prefix[] = "fastdds_";
#endif

/* Returns the DDS return code, which has the same number in both generations. */
inline uint32_t code_of(const ReturnCode &code) {
#if FASTDDS_GENERATION == 2
  return static_cast<uint32_t>(code());
#else
  return static_cast<uint32_t>(code);
#endif
}

/* Periods of a reliable writer; generation 2 has another spelling of the fields. */
template <class Times> Duration &heartbeat_period(Times &times) {
#if FASTDDS_GENERATION == 2
  return times.heartbeatPeriod;
#else
  return times.heartbeat_period;
#endif
}

/* Delay of a reliable reader before it responds to a heartbeat. */
template <class Times> Duration &response_delay(Times &times) {
#if FASTDDS_GENERATION == 2
  return times.heartbeatResponseDelay;
#else
  return times.heartbeat_response_delay;
#endif
}

/* Data representation of writers and readers. In generation 2 that of a reader is part of another policy. */
inline fast::DataRepresentationQosPolicy &representation_of(fast::DataWriterQos &qos) {
  return qos.representation();
}
inline fast::DataRepresentationQosPolicy &representation_of(fast::DataReaderQos &qos) {
#if FASTDDS_GENERATION == 2
  return qos.type_consistency().representation;
#else
  return qos.representation();
#endif
}

/* Sets whether samples may bypass the transport to a reader in the same process. The switch applies to the whole
 * library and can only be set without participants. */
inline bool set_intraprocess(bool full) {
#if FASTDDS_GENERATION == 2
  eprosima::fastrtps::LibrarySettingsAttributes settings;
  settings.intraprocess_delivery = full ? eprosima::fastrtps::INTRAPROCESS_FULL : eprosima::fastrtps::INTRAPROCESS_OFF;
  eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
  return true;
#else
  eprosima::fastdds::LibrarySettings settings;
  settings.intraprocess_delivery = full ? eprosima::fastdds::INTRAPROCESS_FULL : eprosima::fastdds::INTRAPROCESS_OFF;
  return code_of(fast::DomainParticipantFactory::get_instance()->set_library_settings(settings)) == CODE_OK;
#endif
}

inline bool intraprocess_is_full() {
#if FASTDDS_GENERATION == 2
  return eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings().intraprocess_delivery ==
         eprosima::fastrtps::INTRAPROCESS_FULL;
#else
  eprosima::fastdds::LibrarySettings settings;
  fast::DomainParticipantFactory::get_instance()->get_library_settings(settings);
  return settings.intraprocess_delivery == eprosima::fastdds::INTRAPROCESS_FULL;
#endif
}

/* Type support, with the names and signatures of either generation mapped to one interface. */
class TypeOfSamples : public fast::TopicDataType {
public:
  virtual bool write_into(const void *data, rtps::SerializedPayload_t &payload) = 0;
  virtual bool read_from(rtps::SerializedPayload_t &payload, void *data) = 0;
  virtual uint32_t size_of(const void *data) = 0;
  virtual void *make() = 0;
  virtual void unmake(void *data) = 0;
  virtual bool key_of(const void *data, rtps::InstanceHandle_t &handle) = 0;
  virtual bool bounded() const = 0;
  virtual bool plain() const = 0;

  /* Sets the maximum serialised size, for which a new writer or reader allocates memory. */
  void set_room(uint32_t bytes) {
#if FASTDDS_GENERATION == 2
    m_typeSize = bytes;
#else
    max_serialized_type_size = bytes;
#endif
  }

  bool is_bounded() const override { return bounded(); }
  bool construct_sample(void *) const override { return plain(); }

#if FASTDDS_GENERATION == 2
  bool serialize(void *data, rtps::SerializedPayload_t *payload) override { return write_into(data, *payload); }
  bool deserialize(rtps::SerializedPayload_t *payload, void *data) override { return read_from(*payload, data); }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [size = size_of(data)] { return size; };
  }
  void *createData() override { return make(); }
  void deleteData(void *data) override { unmake(data); }
  bool getKey(void *data, rtps::InstanceHandle_t *handle, bool) override { return key_of(data, *handle); }
  bool is_plain() const override { return plain(); }
  /* Newer versions of 2 call this one; older ones do not have it. */
  virtual bool is_plain(fast::DataRepresentationId_t) const { return plain(); }

protected:
  void set_names(const char *name, bool keyed) {
    setName(name);
    m_isGetKeyDefined = keyed;
  }
#else
  bool serialize(const void *const data, rtps::SerializedPayload_t &payload, fast::DataRepresentationId_t) override {
    return write_into(data, payload);
  }
  bool deserialize(rtps::SerializedPayload_t &payload, void *data) override { return read_from(payload, data); }
  uint32_t calculate_serialized_size(const void *const data, fast::DataRepresentationId_t) override {
    return size_of(data);
  }
  void *create_data() override { return make(); }
  void delete_data(void *data) override { unmake(data); }
  bool compute_key(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle, bool) override {
    return key_in(payload, handle);
  }
  bool compute_key(const void *const data, rtps::InstanceHandle_t &handle, bool) override {
    return key_of(data, handle);
  }
  bool is_plain(fast::DataRepresentationId_t) const override { return plain(); }

  virtual bool key_in(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle) = 0;

protected:
  void set_names(const char *name, bool keyed) {
    set_name(name);
    is_compute_key_provided = keyed;
  }
#endif
};

#endif
