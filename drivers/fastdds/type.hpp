/* SPDX-License-Identifier: Apache-2.0
 *
 * type.hpp: the types of samples, written by hand because octets need no code generator;
 * generated.hpp has them as an application does.
 *
 *   @final struct Sample      { sequence<octet> payload; };
 *   @final struct KeyedSample { @key unsigned long key; sequence<octet> payload; };
 *   @final struct PlainSample { octet payload[N]; };              named PlainSample_N
 *
 * XCDR1: four bytes that identify the representation, then the fields, in the byte order of this host, little endian.
 */
#ifndef DDSMARK_FASTDDS_TYPE_HPP
#define DDSMARK_FASTDDS_TYPE_HPP

#include <string>
#include <vector>

#include "ddsmark/driver.h"
#include "generation.hpp"

/* Sample of the first two types. A writer borrows the payload; a reader fills `room`, allocated once and reused. */
struct Sample {
  uint32_t key = 0;
  uint32_t size = 0;
  const uint8_t *payload = nullptr;
  std::vector<uint8_t> room;
};

/* Returns the number of bytes before the payload of a sample of this kind. */
uint32_t header_size(uint32_t type_kind);

/* Sets the instance handle. Keys of up to 16 bytes are stored in it unchanged, big endian. Returns true. */
bool handle_of(uint32_t key, rtps::InstanceHandle_t &handle);

class SampleType final : public TypeOfSamples {
public:
  /* `fixed`: payload size of DDSMARK_TYPE_PLAIN. `bounded`: allows shared payloads. */
  SampleType(uint32_t type_kind, uint32_t fixed, bool bounded);

  bool write_into(const void *data, rtps::SerializedPayload_t &payload) override;
  bool read_from(rtps::SerializedPayload_t &payload, void *data) override;
  uint32_t size_of(const void *data) override;
  void *make() override;
  void unmake(void *data) override;
  bool key_of(const void *data, rtps::InstanceHandle_t &handle) override;
  bool bounded() const override { return bounded_; }
  bool plain() const override { return kind_ == DDSMARK_TYPE_PLAIN; }
#if FASTDDS_GENERATION != 2
  bool key_in(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle) override;
#endif

  static std::string name_of(uint32_t type_kind, uint32_t fixed);

private:
  const uint32_t kind_;
  const uint32_t fixed_;
  const bool bounded_;
};

#endif
