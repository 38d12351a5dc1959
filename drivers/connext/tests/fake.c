/* SPDX-License-Identifier: Apache-2.0
 *
 * fake.c: a library with the name of RTI's. It has no symbol of RTI, or only the first two that the driver looks up.
 */
int connext_fake;

#ifdef PARTIAL
const char *NDDS_Config_Version_to_string(void);
void *DDS_DomainParticipantFactory_get_instance(void);

const char *NDDS_Config_Version_to_string(void) {
  return "a fake, 9.8.7";
}

void *DDS_DomainParticipantFactory_get_instance(void) {
  return &connext_fake;
}
#endif
