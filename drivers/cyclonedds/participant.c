/* SPDX-License-Identifier: Apache-2.0
 *
 * participant.c: domains, participants, and common parts of writers and readers.
 *
 * A configuration of Cyclone DDS belongs to a domain; a process has one domain per number. The first participant
 * opens it, and the last one closes it with all its threads and sockets. Other participants share it and must
 * therefore have the same configuration.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "dds/ddsc/dds_statistics.h"

struct domain {
  domain *next;
  plan plan;
  dds_entity_t entity;
  uint32_t participants;
  socket_set sockets;
  tcp_door door;
  thread_schedule schedule; /* of the thread that opened it */
  text configuration;       /* configuration passed to Cyclone DDS */
};

/* Protects the list, and opening and closing as a whole, so that newly opened sockets are known to be ours. */
static pthread_mutex_t domains_lock = PTHREAD_MUTEX_INITIALIZER;
static domain *domains;

static void domain_free(domain *d) {
  tcp_leave(&d->door);
  text_free(&d->configuration);
  plan_free(&d->plan);
  free(d);
}

/* Returns whether a domain can be created with this driver's part of the configuration alone. The library returns the
 * same error whatever the cause is. */
static bool is_users_fault(const plan *p) {
  if (p->own_length == p->configuration.length || p->transport == TRANSPORT_TCP4)
    return false;
  char *own = strndup(p->configuration.data, p->own_length);
  const dds_entity_t entity = own ? dds_create_domain(p->domain, own) : DDS_RETCODE_OUT_OF_RESOURCES;
  free(own);
  if (entity > 0)
    dds_delete(entity);
  return entity > 0;
}

static ddsmark_status domain_create(plan *p, domain **out) {
  domain *d = calloc(1, sizeof *d);
  if (d == NULL)
    return fail_memory("a domain");
  d->door = (tcp_door){.held = -1, .open = -1};
  if (p->transport == TRANSPORT_TCP4) {
    text_add(&d->configuration, "<CycloneDDS><Domain Id=\"any\">");
    const ddsmark_status status = tcp_meet(p->domain, p->interface.address, &d->door, &d->configuration);
    if (status != DDSMARK_OK) {
      domain_free(d);
      return status;
    }
    text_add(&d->configuration, "</Domain></CycloneDDS>,");
  }
  text_add(&d->configuration, "%s", p->configuration.data);
  if (d->configuration.failed) {
    domain_free(d);
    return fail_memory("the configuration of Cyclone DDS");
  }
  socket_set before;
  sockets_now(&before);
  thread_schedule_of(0, &d->schedule);
  d->entity = dds_create_domain(p->domain, d->configuration.data);
  if (d->entity < 0) {
    const dds_return_t code = d->entity;
    const bool is_users = is_users_fault(p);
    domain_free(d);
    return is_users
               ? fail(DDSMARK_BAD_ARGUMENT,
                      "Cyclone DDS rejects the configuration in %s; hint: correct the element that its messages name",
                      p->user[0] ? "CYCLONEDDS_URI, or in the option `configuration`" : "the option `configuration`")
               : fail_dds(code, "dds_create_domain", "cannot create domain %u", p->domain);
  }
  tcp_opened(p->domain, &d->door);
  sockets_now(&d->sockets);
  sockets_subtract(&d->sockets, &before);
  d->plan = *p;
  *p = (plan){0};
  d->next = domains;
  domains = d;
  *out = d;
  return DDSMARK_OK;
}

/* Always takes ownership of `p`. */
static ddsmark_status domain_acquire(plan *p, domain **out) {
  domain *d = domains;
  ddsmark_status status = DDSMARK_OK;
  while (d && d->plan.domain != p->domain)
    d = d->next;
  if (d == NULL)
    status = domain_create(p, &d);
  else if (strcmp(d->plan.configuration.data, p->configuration.data) != 0)
    status = fail(DDSMARK_BAD_ARGUMENT,
                  "domain %u is already open in this process with another configuration; hint: use the same "
                  "`interface`, `transport`, socket buffers and options for all participants of a domain",
                  p->domain);
  plan_free(p);
  if (status == DDSMARK_OK) {
    d->participants++;
    *out = d;
  }
  return status;
}

static ddsmark_status domain_release(domain *d) {
  if (--d->participants > 0)
    return DDSMARK_OK;
  domain **link = &domains;
  while (*link != d)
    link = &(*link)->next;
  *link = d->next;
  const uint32_t number = d->plan.domain;
  const dds_return_t rc = dds_delete(d->entity);
  domain_free(d);
  return rc < 0 ? fail_dds(rc, "dds_delete", "cannot delete domain %u", number) : DDSMARK_OK;
}

static ddsmark_status open_locked(plan *p, const char *run_name, ddsmark_participant *participant) {
  ddsmark_status status = domain_acquire(p, &participant->domain);
  if (status != DDSMARK_OK)
    return status;
  dds_qos_t *qos = dds_create_qos();
  if (run_name && run_name[0])
    dds_qset_entity_name(qos, run_name);
  participant->entity = dds_create_participant(participant->domain->plan.domain, qos, NULL);
  dds_delete_qos(qos);
  if (participant->entity >= 0)
    return DDSMARK_OK;
  status = fail_dds(participant->entity, "dds_create_participant", "cannot create a participant in domain %u",
                    participant->domain->plan.domain);
  domain_release(participant->domain);
  return status;
}

ddsmark_status participant_open(const ddsmark_participant_config *config, ddsmark_participant **out) {
  ddsmark_participant_config c;
  plan p;
  ddsmark_status status;
  if ((status = config_in(config, &c)) || (status = plan_make(&c, &p)))
    return status;
  ddsmark_participant *participant = calloc(1, sizeof *participant);
  if (participant == NULL) {
    plan_free(&p);
    return fail_memory("a participant");
  }
  pthread_mutex_lock(&domains_lock);
  status = open_locked(&p, c.run_name, participant);
  pthread_mutex_unlock(&domains_lock);
  if (status != DDSMARK_OK) {
    free(participant);
    return status;
  }
  *out = participant;
  return DDSMARK_OK;
}

ddsmark_status participant_close(ddsmark_participant *participant) {
  pthread_mutex_lock(&domains_lock);
  const dds_return_t rc = dds_delete(participant->entity);
  ddsmark_status status = rc < 0 ? fail_dds(rc, "dds_delete", "cannot delete the participant") : DDSMARK_OK;
  const ddsmark_status released = domain_release(participant->domain);
  pthread_mutex_unlock(&domains_lock);
  free(participant);
  return status != DDSMARK_OK ? status : released;
}

/* Cyclone DDS binds receiving sockets to any address, and sending sockets to that of the interface. */
static bool receives(int fd, uint32_t number) {
  (void)number;
  struct sockaddr_storage name = {0};
  socklen_t size = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &size) != 0)
    return false;
  if (name.ss_family == AF_INET)
    return ((const struct sockaddr_in *)(const void *)&name)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)&name)->sin6_addr);
}

/* Over TCP the sockets are created with the connections, and Cyclone DDS sets no buffer sizes for them. */
static void sockets_show(const domain *d, ddsmark_visitor visit, void *context) {
  if (d->plan.transport != TRANSPORT_TCP4)
    sockets_visit(&d->sockets, d->plan.domain, receives, visit, context);
}

ddsmark_status participant_settings(ddsmark_participant *participant, ddsmark_visitor visit, void *context) {
  const plan *p = &participant->domain->plan;
  visit(context, "transport", transport_infos[p->transport].name);
  if (p->user_names_interface) {
    visit(context, "interface", "set by the configuration");
  } else {
    visit(context, "interface", p->interface.name[0] ? p->interface.name : "chosen by Cyclone DDS");
    if (p->interface.address[0])
      visit(context, "address", p->interface.address);
  }
  /* Cyclone DDS does not report whether its data is sent by multicast; but a process without a joined group gets
   * none. */
  text groups = {0};
  const bool told = sockets_groups(&participant->domain->sockets, &groups);
  visit(context, "multicast", told && groups.length == 0 ? "off" : "unknown");
  if (told && groups.length > 0)
    visit(context, "multicast_groups", groups.data);
  text_free(&groups);
  sockets_show(participant->domain, visit, context);
  static const char *const threads[] = {"recv", "tev", "gc", "dq.", "xmit.", "lease", "fsm", "debmon", NULL};
  threads_visit(&participant->domain->schedule, threads, p->user_names_threads, visit, context);
  visit(context, "max_message_size", p->max_message);
  visit(context, "fragment_size", p->fragment);
  visit(context, "whc_high", p->whc_high);
  visit(context, "configuration", participant->domain->configuration.data);
  visit(context, "configuration_user", p->user);
  visit(context, "configuration_user_decides", p->user_decides);
  visit(context, "as_requested",
        p->user_names_interface || !p->interface.address[0]
            ? "transport,interface,max_message_size,fragment_size,whc_high,configuration"
            : "transport,interface,address,max_message_size,fragment_size,whc_high,configuration");
  return DDSMARK_OK;
}

/* -- what writers and readers have in common ----------------------------------------------------------------------- */

ddsmark_status endpoint_check(const ddsmark_participant *p, uint32_t type_kind, const char *topic,
                              uint64_t max_payload) {
  if (type_kind == DDSMARK_TYPE_PLAIN)
    return fail(DDSMARK_UNSUPPORTED,
                "the type `plain` is not supported by this driver; hint: use the type `octets` or `keyed`");
  return endpoint_config_check(&transport_infos[p->domain->plan.transport], type_kind, topic, max_payload);
}

ddsmark_status endpoint_prepare(endpoint *e, ddsmark_participant *participant, uint32_t type_kind, const char *topic,
                                side s, const qos_set *qos) {
  e->participant = participant;
  e->keyed = type_kind == DDSMARK_TYPE_KEYED;
  e->topic =
      dds_create_topic(participant->entity, e->keyed ? &KeyedSample_desc : &Sample_desc, topic, qos->topic, NULL);
  if (e->topic < 0) {
    return fail_dds(e->topic, "dds_create_topic", "cannot create topic `%.150s`", topic);
  }
  e->group = s == SIDE_WRITER ? dds_create_publisher(participant->entity, qos->group, NULL)
                              : dds_create_subscriber(participant->entity, qos->group, NULL);
  if (e->group < 0) {
    const ddsmark_status status = s == SIDE_WRITER
                                      ? fail_dds(e->group, "dds_create_publisher", "cannot create the publisher")
                                      : fail_dds(e->group, "dds_create_subscriber", "cannot create the subscriber");
    dds_delete(e->topic);
    return status;
  }
  return DDSMARK_OK;
}

ddsmark_status endpoint_close(endpoint *e) {
  dds_return_t rc = e->entity > 0 ? dds_delete(e->entity) : DDS_RETCODE_OK;
  const dds_return_t group = dds_delete(e->group), topic = dds_delete(e->topic);
  const char *what = rc < 0 ? "writer or reader" : group < 0 ? "publisher or subscriber" : "topic";
  rc = rc < 0 ? rc : group < 0 ? group : topic;
  dds_delete_statistics(e->statistics);
  qos_texts_free(&e->texts);
  return rc < 0 ? fail_dds(rc, "dds_delete", "cannot delete the %s", what) : DDSMARK_OK;
}

ddsmark_status endpoint_settings(const endpoint *e, ddsmark_visitor visit, void *context) {
  sockets_show(e->participant->domain, visit, context);
  return DDSMARK_OK;
}

ddsmark_status endpoint_matched(endpoint *e, ddsmark_match *out) {
  const ddsmark_match state = match_state(&e->matched);
  if (state.count > 0)
    tcp_matched(&e->participant->domain->door);
  return match_out(&state, out);
}

const char *endpoint_batch_limit(const endpoint *e) {
  return e->participant->domain->plan.max_message;
}

void counter_from_statistic(ddsmark_counters *c, uint32_t which, const struct dds_statistics *s, const char *name) {
  const struct dds_stat_keyvalue *value = s ? dds_lookup_statistic(s, name) : NULL;
  if (value && value->kind == DDS_STAT_KIND_UINT32)
    counter_set(c, which, value->u.u32);
  else if (value && value->kind == DDS_STAT_KIND_UINT64)
    counter_set(c, which, value->u.u64);
}
