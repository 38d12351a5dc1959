/* SPDX-License-Identifier: Apache-2.0
 *
 * profile.h: what the two files that write the XML share.
 */
#ifndef DDSMARK_CONNEXT_PROFILE_H
#define DDSMARK_CONNEXT_PROFILE_H

#include "internal.h"

void add_duration(text *t, const char *element, uint64_t ns);
void add_count(text *t, const char *element, int32_t value); /* or DDSMARK_UNLIMITED */
/* The elements of all policies that are present: of a writer or reader, of its publisher or subscriber, of its topic.
 */
void add_policies(const ddsmark_qos *q, side s, text *t);
void add_group(const ddsmark_qos *q, side s, text *t);
void add_topic(const ddsmark_qos *q, text *t);

#endif
