/* SPDX-License-Identifier: Apache-2.0
 *
 * qos.c: checks of policies.
 *
 * If Connext rejects a QoS it only returns NULL, with the reason in its log. The consistency rules of DDS 1.4 are
 * therefore checked before.
 */
#include "internal.h"

ddsmark_status qos_accept(const ddsmark_qos *asked, side s, ddsmark_qos *out) {
  const ddsmark_status status = qos_in(asked, policy_supports, s, s == SIDE_WRITER ? READER_ONLY : WRITER_ONLY, out);
  if (status == DDSMARK_OK && out->present & POLICY(PRESENTATION) && out->coherent_access)
    return fail(DDSMARK_UNSUPPORTED, "`coherent_access` of policy `presentation` is not supported: the driver contract "
                                     "has no coherent sets; hint: set it to false");
  return status;
}
