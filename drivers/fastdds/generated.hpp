/* SPDX-License-Identifier: Apache-2.0
 *
 * generated.hpp: the types with a sequence as an application has them that uses fastddsgen.
 *
 *   @final struct Sample      { sequence<octet> payload; };       over data_sharing sequence<octet, N>
 *   @final struct KeyedSample { @key unsigned long key; sequence<octet> payload; };
 *
 * Written by hand with Fast CDR, in the way fastddsgen does; not its output. The sample owns a vector, Fast CDR
 * serialises each member, and the size is computed before. Octets on the wire are those of type.hpp. Discovery has no
 * description of the type.
 */
#ifndef DDSMARK_FASTDDS_GENERATED_HPP
#define DDSMARK_FASTDDS_GENERATED_HPP

#include <vector>

#include "ddsmark/driver.h"
#include "generation.hpp"

struct GeneratedSample {
  uint32_t key = 0; /* only of KeyedSample */
  std::vector<uint8_t> payload;
};

/* Length that fastddsgen assumes for a sequence without a bound when it computes the maximum size of a type. */
const uint32_t assumed_length = 100;

class GeneratedType final : public TypeOfSamples {
public:
  /* `type_kind`: DDSMARK_TYPE_OCTETS or DDSMARK_TYPE_KEYED. `bounded`: whether the sequence has a bound. */
  GeneratedType(uint32_t type_kind, bool bounded);

  /* Returns the maximum serialised size of a type whose sequence has this bound, or `assumed_length`. */
  static uint32_t room_for(uint32_t type_kind, uint32_t length);

  bool write_into(const void *data, rtps::SerializedPayload_t &payload) override;
  bool read_from(rtps::SerializedPayload_t &payload, void *data) override;
  uint32_t size_of(const void *data) override;
  void *make() override { return new GeneratedSample; }
  void unmake(void *data) override { delete static_cast<GeneratedSample *>(data); }
  bool key_of(const void *data, rtps::InstanceHandle_t &handle) override;
  bool bounded() const override { return bounded_; }
  bool plain() const override { return false; }
#if FASTDDS_GENERATION != 2
  bool key_in(rtps::SerializedPayload_t &payload, rtps::InstanceHandle_t &handle) override;
#endif

private:
  const bool keyed_;
  const bool bounded_;
};

#endif
