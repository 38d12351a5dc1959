/* SPDX-License-Identifier: Apache-2.0
 *
 * generated.cpp
 */
#include "generated.hpp"

#include "type.hpp"

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastcdr/config.h>
#include <fastcdr/exceptions/Exception.h>
#if FASTCDR_VERSION_MAJOR > 1
#include <fastcdr/CdrSizeCalculator.hpp>
#endif

namespace cdr = eprosima::fastcdr;

namespace {

const uint32_t encapsulation = 4;

/* -- differences between Fast CDR 1 and 2 -------------------------------------------------------------------------- */

#if FASTCDR_VERSION_MAJOR > 1

struct Out : cdr::Cdr {
  explicit Out(cdr::FastBuffer &buffer) : Cdr(buffer, DEFAULT_ENDIAN, cdr::CdrVersion::XCDRv1) {
    set_encoding_flag(cdr::EncodingAlgorithmFlag::PLAIN_CDR);
  }
};

struct In : cdr::Cdr {
  explicit In(cdr::FastBuffer &buffer) : Cdr(buffer, DEFAULT_ENDIAN) {}
};

void write_members(cdr::Cdr &out, const GeneratedSample &sample, bool keyed) {
  cdr::Cdr::state state(out);
  out.begin_serialize_type(state, cdr::EncodingAlgorithmFlag::PLAIN_CDR);
  if (keyed)
    out << cdr::MemberId(0) << sample.key << cdr::MemberId(1) << sample.payload;
  else
    out << cdr::MemberId(0) << sample.payload;
  out.end_serialize_type(state);
  out.set_dds_cdr_options({0, 0});
}

void read_members(cdr::Cdr &in, GeneratedSample &sample, bool keyed) {
  const auto encoding = in.get_cdr_version() == cdr::CdrVersion::XCDRv2 ? cdr::EncodingAlgorithmFlag::PLAIN_CDR2
                                                                        : cdr::EncodingAlgorithmFlag::PLAIN_CDR;
  in.deserialize_type(encoding, [&sample, keyed](cdr::Cdr &from, const cdr::MemberId &member) {
    if (member.id > (keyed ? 1u : 0u))
      return false;
    if (keyed && member.id == 0)
      from >> sample.key;
    else
      from >> sample.payload;
    return true;
  });
}

size_t size_of_members(const GeneratedSample &sample, bool keyed) {
  cdr::CdrSizeCalculator calculator(cdr::CdrVersion::XCDRv1);
  size_t alignment = 0;
  const cdr::EncodingAlgorithmFlag before = calculator.get_encoding();
  size_t size = calculator.begin_calculate_type_serialized_size(cdr::EncodingAlgorithmFlag::PLAIN_CDR, alignment);
  if (keyed)
    size += calculator.calculate_member_serialized_size(cdr::MemberId(0), sample.key, alignment);
  size += calculator.calculate_member_serialized_size(cdr::MemberId(keyed), sample.payload, alignment);
  return size + calculator.end_calculate_type_serialized_size(before, alignment);
}

size_t length_of(const cdr::Cdr &out) {
  return out.get_serialized_data_length();
}

#else

struct Out : cdr::Cdr {
  explicit Out(cdr::FastBuffer &buffer) : Cdr(buffer, DEFAULT_ENDIAN, DDS_CDR) {}
};
using In = Out;

void write_members(cdr::Cdr &out, const GeneratedSample &sample, bool keyed) {
  if (keyed)
    out << sample.key;
  out << sample.payload;
}

void read_members(cdr::Cdr &in, GeneratedSample &sample, bool keyed) {
  if (keyed)
    in >> sample.key;
  in >> sample.payload;
}

size_t size_of_members(const GeneratedSample &sample, bool keyed) {
  size_t size = keyed ? 4 : 0;
  size += 4 + cdr::Cdr::alignment(size, 4);
  return size + sample.payload.size();
}

size_t length_of(const cdr::Cdr &out) {
  return out.getSerializedDataLength();
}

#endif

template <class Cdr> void note_encapsulation(rtps::SerializedPayload_t &payload, const Cdr &of) {
  payload.encapsulation = of.endianness() == cdr::Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
}

} // namespace

GeneratedType::GeneratedType(uint32_t type_kind, bool bounded)
    : keyed_(type_kind == DDSMARK_TYPE_KEYED), bounded_(bounded) {
  set_names(SampleType::name_of(type_kind, 0).c_str(), keyed_);
  set_room(room_for(type_kind, assumed_length));
}

uint32_t GeneratedType::room_for(uint32_t type_kind, uint32_t length) {
  const uint32_t size = header_size(type_kind) + length;
  return size + (4 - size % 4) % 4;
}

bool GeneratedType::write_into(const void *data, rtps::SerializedPayload_t &payload) {
  cdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.max_size);
  Out out(buffer);
  note_encapsulation(payload, out);
  try {
    out.serialize_encapsulation();
    write_members(out, *static_cast<const GeneratedSample *>(data), keyed_);
  } catch (const cdr::exception::Exception &) {
    return false;
  }
  payload.length = static_cast<uint32_t>(length_of(out));
  return true;
}

bool GeneratedType::read_from(rtps::SerializedPayload_t &payload, void *data) {
  cdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.length);
  In in(buffer);
  try {
    in.read_encapsulation();
    note_encapsulation(payload, in);
    read_members(in, *static_cast<GeneratedSample *>(data), keyed_);
  } catch (const cdr::exception::Exception &) {
    return false;
  }
  return true;
}

uint32_t GeneratedType::size_of(const void *data) {
  return static_cast<uint32_t>(size_of_members(*static_cast<const GeneratedSample *>(data), keyed_)) + encapsulation;
}

bool GeneratedType::key_of(const void *data, rtps::InstanceHandle_t &handle) {
  return keyed_ && handle_of(static_cast<const GeneratedSample *>(data)->key, handle);
}

#if FASTDDS_GENERATION != 2
bool GeneratedType::key_in(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle) {
  GeneratedSample sample;
  return keyed_ && read_from(payload, &sample) && key_of(&sample, handle);
}
#endif
