/* SPDX-License-Identifier: Apache-2.0
 *
 * endpoint.c: common parts of writers and readers.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static const char *type_name(const endpoint *e) {
  return e->keyed ? "KeyedSample" : "Sample";
}

ddsmark_status endpoint_check(const ddsmark_participant *p, uint32_t type_kind, const char *topic,
                              uint64_t max_payload) {
  if (type_kind == DDSMARK_TYPE_PLAIN)
    return fail(DDSMARK_UNSUPPORTED, "the type `plain` is not supported by this driver: it needs code that rtiddsgen "
                                     "generates; hint: use the type `octets` or `keyed`");
  if (topic && strlen(topic) > 255)
    return fail(DDSMARK_BAD_ARGUMENT,
                "the name of the topic has %zu bytes, more than the maximum of 255; hint: use a shorter name",
                strlen(topic));
  return endpoint_config_check(&transport_infos[p->plan.transport], type_kind, topic, max_payload);
}

/* -- open and close ------------------------------------------------------------------------------------------------ */

/* A topic has one object per participant, shared by writers and readers; each deletes the reference that it got. */
static void *topic_make(const api *a, void *participant, const char *name, const char *type) {
  static const duration at_once = {0, 0};
  if (a->topic_description(participant, name))
    return a->find_topic(participant, name, &at_once);
  return a->create_topic(participant, name, type, LIBRARY_NAME, ENDPOINT_PROFILE, NULL, 0);
}

static ddsmark_status make(endpoint *e, const char *topic) {
  const api *a = e->participant->api;
  void *participant = e->participant->entity;
  const bool writes = e->side == SIDE_WRITER;
  const ddsmark_status status = profiles_load(e->participant, &e->document);
  if (status != DDSMARK_OK)
    return status;
  if ((e->topic = topic_make(a, participant, topic, type_name(e))) == NULL)
    return fail_null(a->topic_description(participant, topic) ? "DDS_DomainParticipant_find_topic"
                                                              : "DDS_DomainParticipant_create_topic_with_profile",
                     "cannot create the topic");
  e->group = writes ? a->create_publisher(participant, LIBRARY_NAME, ENDPOINT_PROFILE, NULL, 0)
                    : a->create_subscriber(participant, LIBRARY_NAME, ENDPOINT_PROFILE, NULL, 0);
  if (e->group == NULL)
    return fail_null(writes ? "DDS_DomainParticipant_create_publisher_with_profile"
                            : "DDS_DomainParticipant_create_subscriber_with_profile",
                     writes ? "cannot create the publisher" : "cannot create the subscriber");
  void *entity = writes ? a->create_writer(e->group, e->topic, LIBRARY_NAME, ENDPOINT_PROFILE, NULL, 0)
                        : a->create_reader(e->group, a->topic_description(participant, topic), LIBRARY_NAME,
                                           ENDPOINT_PROFILE, NULL, 0);
  if (entity == NULL)
    return fail_null(writes ? "DDS_Publisher_create_datawriter_with_profile"
                            : "DDS_Subscriber_create_datareader_with_profile",
                     writes ? "cannot create the writer" : "cannot create the reader");
  e->entity =
      writes ? (e->keyed ? a->narrow_writer : a->narrow_octets_writer)(entity) : a->data[e->keyed].narrow(entity);
  if (e->entity == NULL) {
    e->entity = entity; /* deleted with the endpoint */
    return fail_null(writes ? (e->keyed ? "DDS_DynamicDataWriter_narrow" : "DDS_OctetsDataWriter_narrow")
                            : (e->keyed ? "DDS_DynamicDataReader_narrow" : "DDS_OctetsDataReader_narrow"),
                     writes ? "the writer does not have the type of its samples"
                            : "the reader does not have the type of its samples");
  }
  return DDSMARK_OK;
}

/* Sets `function` to the first one that failed. */
static int32_t unmake(endpoint *e, const char **function) {
  const api *a = e->participant->api;
  const bool writes = e->side == SIDE_WRITER;
  int32_t code = CODE_OK, next;
  if (e->entity) {
    *function = writes ? "DDS_Publisher_delete_datawriter" : "DDS_Subscriber_delete_datareader";
    code = writes ? a->delete_writer(e->group, e->entity) : a->delete_reader(e->group, e->entity);
  }
  if (e->group) {
    next = writes ? a->delete_publisher(e->participant->entity, e->group)
                  : a->delete_subscriber(e->participant->entity, e->group);
    if (code == CODE_OK) {
      *function = writes ? "DDS_DomainParticipant_delete_publisher" : "DDS_DomainParticipant_delete_subscriber";
      code = next;
    }
  }
  if (e->topic) {
    next = a->delete_topic(e->participant->entity, e->topic);
    if (code == CODE_OK) {
      *function = "DDS_DomainParticipant_delete_topic";
      code = next;
    }
  }
  e->entity = e->group = e->topic = NULL;
  return code;
}

ddsmark_status endpoint_open(endpoint *e, const char *topic, const endpoint_wish *wish) {
  e->side = wish->side;
  e->asynchronous = wish->asynchronous;
  e->max_payload = wish->max_payload;
  profile_of_endpoint(&e->participant->plan, wish, &e->document);
  profiles_lock();
  const ddsmark_status status = make(e, topic);
  const char *function;
  if (status != DDSMARK_OK)
    unmake(e, &function);
  profiles_unlock();
  if (status != DDSMARK_OK)
    text_free(&e->document);
  return status;
}

ddsmark_status endpoint_close(endpoint *e) {
  profiles_lock();
  const char *function = "";
  const int32_t code = unmake(e, &function);
  profiles_unlock();
  text_free(&e->document);
  qos_texts_free(&e->texts);
  return code == CODE_OK ? DDSMARK_OK
                         : fail_code(code, function,
                                     e->side == SIDE_WRITER ? "cannot delete the writer" : "cannot delete the reader");
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

ddsmark_status endpoint_peers(const endpoint *e, uint32_t *count) {
  const api *a = e->participant->api;
  space handles;
  memset(&handles, 0, sizeof handles);
  if (!a->handles_initialize(&handles))
    return fail_memory("the handles of matched entities");
  const int32_t code =
      e->side == SIDE_WRITER ? a->matched_readers(e->entity, &handles) : a->matched_writers(e->entity, &handles);
  const int32_t length = a->handles_length(&handles);
  a->handles_finalize(&handles);
  if (code != CODE_OK)
    return e->side == SIDE_WRITER
               ? fail_code(code, "DDS_DataWriter_get_matched_subscriptions", "cannot get the number of matched readers")
               : fail_code(code, "DDS_DataReader_get_matched_publications", "cannot get the number of matched writers");
  *count = (uint32_t)length;
  return DDSMARK_OK;
}

/* A listener would be a struct whose layout this driver does not know, so the time of a match is unknown. */
ddsmark_status endpoint_matched(const endpoint *e, ddsmark_match *out) {
  ddsmark_match state = {.struct_size = sizeof state};
  const ddsmark_status status = endpoint_peers(e, &state.count);
  return status == DDSMARK_OK ? match_out(&state, out) : status;
}

char *endpoint_text(const endpoint *e) {
  return api_qos_text(e->participant->api, e->side == SIDE_WRITER ? QOS_WRITER : QOS_READER, e->entity);
}

ddsmark_status endpoint_qos(endpoint *e, ddsmark_qos *out) {
  const api *a = e->participant->api;
  char *entity = endpoint_text(e);
  char *group = api_qos_text(a, e->side == SIDE_WRITER ? QOS_PUBLISHER : QOS_SUBSCRIBER, e->group);
  char *topic = api_qos_text(a, QOS_TOPIC, e->topic);
  ddsmark_qos q;
  qos_parse(entity, group, topic, e->side, &e->texts, &q);
  free(entity);
  free(group);
  free(topic);
  return qos_out(&q, out);
}

void endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context) {
  sockets_visit(&e->participant->sockets, e->participant->plan.domain, is_port_of_domain, visit, context);
  visit(context, "configuration", e->document.data);
}

/* -- counters ------------------------------------------------------------------------------------------------------ */

void counter_of_status(ddsmark_counters *c, uint32_t which, const endpoint *e, status_call call) {
  space status;
  int32_t total;
  memset(&status, 0xff, sizeof status); /* an invalid count of -1 if the call fills nothing */
  if (call(e->entity, &status) != CODE_OK)
    return;
  memcpy(&total, status.bytes, sizeof total);
  if (total >= 0)
    counter_set(c, which, (uint64_t)total);
}
