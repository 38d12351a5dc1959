/* SPDX-License-Identifier: Apache-2.0
 *
 * type.hpp: what travels, written by hand: octets need no generator.
 *
 *   @final struct Sample      { sequence<octet> payload; };
 *   @final struct KeyedSample { @key unsigned long key; sequence<octet> payload; };
 *   @final struct PlainSample { octet payload[N]; };              named PlainSample_N
 *
 * XCDR1: four bytes that name the representation, then the fields, little endian as this host writes them.
 */
#ifndef DDSMARK_FASTDDS_TYPE_HPP
#define DDSMARK_FASTDDS_TYPE_HPP

#include <string>
#include <vector>

#include "ddsmark/driver.h"
#include "generation.hpp"

/* A sample of the first two types. A writer lends the payload; a reader fills `room`, made once, again and again. */
struct Sample {
  uint32_t key = 0;
  uint32_t size = 0;
  const uint8_t *payload = nullptr;
  std::vector<uint8_t> room;
};

/* Bytes before the payload of a sample of this kind. */
uint32_t header_size(uint32_t type_kind);

class SampleType final : public TypeOfSamples {
public:
  /* `fixed`: the size of all payloads, of DDSMARK_TYPE_PLAIN. `bounded`: shared payloads are possible. */
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
