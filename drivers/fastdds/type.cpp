/* SPDX-License-Identifier: Apache-2.0
 *
 * type.cpp
 */
#include "type.hpp"

#include <cstring>

namespace {

const uint32_t representation_size = 4;

/* Parses the representation identifier, big endian: bit 0 means that the data is little endian. 6 and 7 are XCDR2,
 * in which these types have the same layout. */
bool reads(const rtps::SerializedPayload_t &payload, bool &little_endian) {
  if (payload.length < representation_size || payload.data[0] != 0)
    return false;
  const uint8_t id = payload.data[1];
  little_endian = (id & 1) != 0;
  return id <= 1 || id == 6 || id == 7;
}

uint32_t number_at(const uint8_t *place, bool little_endian) {
  uint32_t number;
  memcpy(&number, place, sizeof number);
  return little_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? number : __builtin_bswap32(number);
}

} // namespace

bool handle_of(uint32_t key, rtps::InstanceHandle_t &handle) {
  for (int i = 0; i < 16; i++)
    handle.value[i] = i < 4 ? static_cast<uint8_t>(key >> (24 - 8 * i)) : 0;
  return true;
}

uint32_t header_size(uint32_t type_kind) {
  switch (type_kind) {
  case DDSMARK_TYPE_PLAIN:
    return representation_size;
  case DDSMARK_TYPE_KEYED:
    return representation_size + 8;
  default:
    return representation_size + 4;
  }
}

std::string SampleType::name_of(uint32_t type_kind, uint32_t fixed) {
  switch (type_kind) {
  case DDSMARK_TYPE_PLAIN:
    return "PlainSample_" + std::to_string(fixed);
  case DDSMARK_TYPE_KEYED:
    return "KeyedSample";
  default:
    return "Sample";
  }
}

SampleType::SampleType(uint32_t type_kind, uint32_t fixed, bool bounded)
    : kind_(type_kind), fixed_(fixed), bounded_(bounded) {
  set_names(name_of(type_kind, fixed).c_str(), type_kind == DDSMARK_TYPE_KEYED);
  set_room(header_size(type_kind) + fixed);
}

uint32_t SampleType::size_of(const void *data) {
  return header_size(kind_) + (plain() ? fixed_ : static_cast<const Sample *>(data)->size);
}

bool SampleType::write_into(const void *data, rtps::SerializedPayload_t &payload) {
  const uint32_t size = size_of(data);
  if (size > payload.max_size)
    return false;
  const bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  uint8_t *place = payload.data;
  const uint8_t representation[representation_size] = {0, little_endian, 0, 0};
  memcpy(place, representation, sizeof representation);
  place += representation_size;
  const void *from = data;
  uint32_t octets = fixed_;
  if (!plain()) {
    const Sample *sample = static_cast<const Sample *>(data);
    if (kind_ == DDSMARK_TYPE_KEYED) {
      memcpy(place, &sample->key, sizeof sample->key);
      place += sizeof sample->key;
    }
    memcpy(place, &sample->size, sizeof sample->size);
    place += sizeof sample->size;
    from = sample->payload;
    octets = sample->size;
  }
  if (octets > 0)
    memcpy(place, from, octets);
  payload.encapsulation = little_endian ? CDR_LE : CDR_BE;
  payload.length = size;
  return true;
}

bool SampleType::read_from(rtps::SerializedPayload_t &payload, void *data) {
  bool little_endian = false;
  const uint32_t header = header_size(kind_);
  if (!reads(payload, little_endian) || payload.length < header)
    return false;
  if (plain()) {
    if (payload.length - header < fixed_)
      return false;
    memcpy(data, payload.data + header, fixed_);
    return true;
  }
  Sample *sample = static_cast<Sample *>(data);
  const uint32_t octets = number_at(payload.data + header - 4, little_endian);
  if (octets > payload.length - header)
    return false;
  if (kind_ == DDSMARK_TYPE_KEYED)
    sample->key = number_at(payload.data + representation_size, little_endian);
  if (sample->room.size() < octets)
    sample->room.resize(octets);
  if (octets > 0)
    memcpy(sample->room.data(), payload.data + header, octets);
  sample->payload = sample->room.data();
  sample->size = octets;
  return true;
}

void *SampleType::make() {
  return plain() ? static_cast<void *>(new uint8_t[fixed_]()) : new Sample;
}

void SampleType::unmake(void *data) {
  if (plain())
    delete[] static_cast<uint8_t *>(data);
  else
    delete static_cast<Sample *>(data);
}

bool SampleType::key_of(const void *data, rtps::InstanceHandle_t &handle) {
  return kind_ == DDSMARK_TYPE_KEYED && handle_of(static_cast<const Sample *>(data)->key, handle);
}

#if FASTDDS_GENERATION != 2
bool SampleType::key_in(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle) {
  bool little_endian = false;
  if (kind_ != DDSMARK_TYPE_KEYED || !reads(payload, little_endian) || payload.length < representation_size + 4)
    return false;
  return handle_of(number_at(payload.data + representation_size, little_endian), handle);
}
#endif
