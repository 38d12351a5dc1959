/* SPDX-License-Identifier: Apache-2.0
 *
 * profile.h: declarations shared by the two files that write the XML.
 */
#ifndef DDSMARK_CONNEXT_PROFILE_H
#define DDSMARK_CONNEXT_PROFILE_H

#include "internal.h"

void add_duration(text *t, const char *element, uint64_t ns);
void add_count(text *t, const char *element, int32_t value); /* or DDSMARK_UNLIMITED */
/* Append the elements of all present policies: of a writer or reader, of its publisher or subscriber, of its topic. */
void add_policies(const ddsmark_qos *q, side s, text *t);
void add_group(const ddsmark_qos *q, side s, text *t);
void add_topic(const ddsmark_qos *q, text *t);

#endif
