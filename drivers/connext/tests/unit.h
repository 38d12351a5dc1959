/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h: declarations shared by the tests without the library.
 */
#ifndef DDSMARK_CONNEXT_UNIT_H
#define DDSMARK_CONNEXT_UNIT_H

#include "../internal.h"
#include "harness.h"

/* Returns the plan of a participant on loopback with these options. */
plan plan_with(const ddsmark_option *options, uint32_t count, uint32_t vendor_defaults);

extern const uint8_t unit_octets[3];
ddsmark_qos every_policy(void); /* all policies with values that differ from the defaults */
void full_writer(text *t);      /* XML of a writer with all policies */
int write_golden(const char *directory);

void test_documents(void);
void test_batch_limit(void);
void test_element_text(void);
void test_property_text(void);
void test_round_trip(void);
void test_not_understood(void);
void test_any_text(void);

#endif
