/* SPDX-License-Identifier: Apache-2.0
 *
 * participant.c: participants, and the XML documents for the creation of entities.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_NAME "Sample"
#define KEYED_NAME "KeyedSample"

/* -- documents -----------------------------------------------------------------------------------------------------
 *
 * A process has one set of profiles, which Connext reads from files. Our file exists only while it is read, always
 * under the same name. It is in shared memory under the name of the run, so that the host finds it if the process is
 * killed at that moment. Connext gets its path in NDDS_QOS_PROFILES, appended to the user's value; the connector
 * gets it as an argument and remembers it.
 */
#define VARIABLE "NDDS_QOS_PROFILES"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t participants; /* open in this process; closing the last one ends the factory */
static uint32_t made;         /* participants created so far, for their names */
static char path[256];

void profiles_lock(void) {
  pthread_mutex_lock(&lock);
}

void profiles_unlock(void) {
  pthread_mutex_unlock(&lock);
}

static ddsmark_status document_write(const text *document) {
  if (document->failed || document->data == NULL)
    return fail_memory("the configuration of Connext");
  // Any user may have made a file or a link of this name: neither is followed or written to.
  unlink(path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file && fwrite(document->data, 1, document->length, file) == document->length && fclose(file) == 0)
    return DDSMARK_OK;
  unlink(path);
  return fail(DDSMARK_ERROR,
              "cannot write the configuration of Connext to `%s`: %s; hint: check the free space with `df /dev/shm`",
              path, strerror(errno));
}

ddsmark_status profiles_load(const ddsmark_participant *p, const text *document) {
  const ddsmark_status status = document_write(document);
  if (status != DDSMARK_OK)
    return status;
  const char *users = getenv(VARIABLE);
  char *before = users ? strdup(users) : NULL;
  text list = {0};
  text_add(&list, "%s%s%s", before ? before : "", before && *before ? ";" : "", path);
  if (p->connector == NULL && !list.failed)
    setenv(VARIABLE, list.data, 1);
  const int32_t code = p->api->reload_profiles(p->factory);
  if (p->connector == NULL)
    before ? setenv(VARIABLE, before, 1) : unsetenv(VARIABLE);
  free(before);
  text_free(&list);
  unlink(path);
  return code == CODE_OK ? DDSMARK_OK
                         : fail_code(code, "DDS_DomainParticipantFactory_reload_profiles",
                                     "cannot load the configuration of Connext");
}

/* -- making and unmaking ------------------------------------------------------------------------------------------- */

static ddsmark_status entity_make(ddsmark_participant *p, const char *name, const text *document) {
  const api *a = p->api;
  ddsmark_status status;
  if (a->connector_new) {
    if ((status = document_write(document)) != DDSMARK_OK)
      return status;
    p->connector = a->connector_new(PARTICIPANT_NAME, path, NULL);
    unlink(path);
    p->entity = p->connector ? a->lookup_participant(p->factory, name) : NULL;
  } else {
    if ((status = profiles_load(p, document)) != DDSMARK_OK)
      return status;
    p->entity = a->create_participant(p->factory, PARTICIPANT_NAME);
  }
  if (p->entity)
    return DDSMARK_OK;
  return fail_null(a->connector_new == NULL ? "DDS_DomainParticipantFactory_create_participant_from_config"
                   : p->connector == NULL   ? "RTI_Connector_new"
                                            : "DDS_DomainParticipantFactory_lookup_participant_by_name",
                   "cannot create a participant");
}

/* The type without a key is built in, with the same layout as our type; the type with a key is in the document. */
static ddsmark_status types_make(ddsmark_participant *p) {
  const api *a = p->api;
  void *typecode = a->typecode(p->factory, KEYED_NAME);
  if (typecode == NULL)
    return fail_null("DDS_DomainParticipantFactory_get_typecode_from_config", "cannot create the type " KEYED_NAME);
  if ((p->support = a->support_new(typecode, a->type_property)) == NULL)
    return fail_null("DDS_DynamicDataTypeSupport_new", "cannot create the type " KEYED_NAME);
  int32_t code = a->register_type(p->support, p->entity, KEYED_NAME);
  if (code != CODE_OK)
    return fail_code(code, "DDS_DynamicDataTypeSupport_register_type", "cannot register the type " KEYED_NAME);
  code = a->register_octets(p->entity, PLAIN_NAME);
  return code == CODE_OK
             ? DDSMARK_OK
             : fail_code(code, "DDS_OctetsTypeSupport_register_type", "cannot register the type " PLAIN_NAME);
}

/* Deletes everything that was created. The factory of the process is finalised with the last participant. */
static int32_t unmake(ddsmark_participant *p) {
  const api *a = p->api;
  int32_t code = CODE_OK;
  if (p->support) {
    a->unregister_type(p->support, p->entity, KEYED_NAME);
    a->unregister_octets(p->entity, PLAIN_NAME);
  }
  if (p->connector)
    a->connector_delete(p->connector);
  else if (p->entity)
    code = a->delete_participant(p->factory, p->entity);
  if (p->support)
    a->support_delete(p->support);
  if (--participants == 0)
    a->factory_finalize();
  p->entity = p->connector = p->support = NULL;
  return code;
}

static ddsmark_status make_locked(ddsmark_participant *p) {
  char name[sizeof p->plan.run_name + 16];
  snprintf(name, sizeof name, "%s%s%u", p->plan.run_name, p->plan.run_name[0] ? "-" : "", ++made);
  text document = {0};
  profile_of_participant(&p->plan, name, &document);
  if (participants == 0)
    snprintf(path, sizeof path, "/dev/shm/%s-connext-%ld.xml", p->plan.run_name[0] ? p->plan.run_name : "ddsmark",
             (long)getpid());
  if ((p->factory = p->api->factory()) == NULL) {
    text_free(&document);
    return fail_null("DDS_DomainParticipantFactory_get_instance", "cannot get the participant factory");
  }
  participants++;
  socket_set before;
  sockets_now(&before);
  ddsmark_status status = entity_make(p, name, &document);
  text_free(&document);
  sockets_now(&p->sockets);
  sockets_subtract(&p->sockets, &before);
  if (status == DDSMARK_OK)
    status = types_make(p);
  if (status != DDSMARK_OK)
    unmake(p);
  return status;
}

ddsmark_status participant_make(ddsmark_participant *p) {
  profiles_lock();
  const ddsmark_status status = make_locked(p);
  profiles_unlock();
  return status;
}

ddsmark_status participant_unmake(ddsmark_participant *p) {
  profiles_lock();
  const int32_t code = unmake(p);
  profiles_unlock();
  return code == CODE_OK
             ? DDSMARK_OK
             : fail_code(code, "DDS_DomainParticipantFactory_delete_participant", "cannot delete the participant");
}

/* -- settings ------------------------------------------------------------------------------------------------------ */

/* Gets the transports that Connext reports, with the names of this driver. */
static void transport_in_force(const char *qos, char *out, size_t size) {
  char mask[256];
  if (qos == NULL || !element_text(qos, "transport_builtin/mask", 0, mask, sizeof mask)) {
    snprintf(out, size, "unknown");
    return;
  }
  const bool udp = strstr(mask, "UDPv4") != NULL && strstr(mask, "UDPv4_WAN") == NULL,
             shm = strstr(mask, "SHMEM") != NULL;
  if (strcmp(mask, "DEFAULT") == 0 || strstr(mask, "MASK_DEFAULT") || (udp && shm))
    snprintf(out, size, "builtin");
  else if (udp || shm)
    snprintf(out, size, "%s", udp ? "udp4" : "shm");
  else
    snprintf(out, size, "%s", mask);
}

ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context) {
  const plan *p = &participant->plan;
  char *qos = api_qos_text(participant->api, QOS_PARTICIPANT, participant->entity);
  char carriers[256];
  transport_in_force(qos, carriers, sizeof carriers);
  visit(context, "transport", carriers);
  if (strcmp(carriers, "builtin") == 0)
    visit(context, "transports", "udp4+shm");
  if (p->transport != TRANSPORT_SHM) {
    visit(context, "interface", p->interface.name[0] ? p->interface.name : "chosen by Connext");
    if (p->interface.address[0])
      visit(context, "address", p->interface.address);
  }
  /* Connext does not report whether its data is sent by multicast; but a process without a joined group gets none. */
  text groups = {0};
  const bool told = sockets_groups(&participant->sockets, &groups);
  visit(context, "multicast", told && groups.length == 0 && !p->multicast ? "off" : "unknown");
  text_free(&groups);
  sockets_visit(&participant->sockets, p->domain, is_port_of_domain, visit, context);
  visit(context, "library", library_name(participant->api->library.kind));
  property_visit(qos, "auto_throttle", "dds.domain_participant.auto_throttle.enable", p->auto_throttle, visit, context);
  free(qos);
  /* The document given to Connext, without the name of the run. */
  text document = {0};
  profile_of_participant(p, "", &document);
  visit(context, "configuration", document.failed ? "unknown" : document.data);
  visit(context, "as_requested", p->transport == TRANSPORT_SHM ? "configuration" : "interface,configuration");
  text_free(&document);
  return DDSMARK_OK;
}
