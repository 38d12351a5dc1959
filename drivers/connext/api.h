/* SPDX-License-Identifier: Apache-2.0
 *
 * api.h: the functions of Connext that this driver calls, by name.
 *
 * The build of this driver needs no files of RTI. Arguments are pointers to objects of Connext, names, and integers.
 * The only structs of Connext defined here are a duration and octets, whose two fields are documented. Where Connext
 * expects a struct from the caller (a QoS, a sequence, a status), it gets more memory than any of its versions
 * needs; functions of Connext initialise, read and finalise it.
 */
#ifndef DDSMARK_CONNEXT_API_H
#define DDSMARK_CONNEXT_API_H

#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "find.h"

/* DDS_Duration_t. */
typedef struct duration {
  int32_t sec;
  uint32_t nanosec;
} duration;

#define DATA_AVAILABLE_STATUS 0x400u /* DDS 1.4 section 2.3.3 */
#define ANY_STATE 0xffffu
#define ANY_MEMBER 0 /* a member is named, not numbered */

/* Memory for any QoS of Connext, and for any sequence or status. */
#define QOS_ROOM (64u << 10)
typedef union space {
  max_align_t align;
  unsigned char bytes[1024];
} space;

typedef int32_t (*status_call)(void *entity, void *status);

/* return type, member, parameters, name */
#define API_CALLS(CALL)                                                                                                \
  CALL(const char *, version, (void), "NDDS_Config_Version_to_string")                                                 \
  CALL(void *, factory, (void), "DDS_DomainParticipantFactory_get_instance")                                           \
  CALL(int32_t, factory_finalize, (void), "DDS_DomainParticipantFactory_finalize_instance")                            \
  CALL(int32_t, reload_profiles, (void *factory), "DDS_DomainParticipantFactory_reload_profiles")                      \
  CALL(void *, typecode, (void *factory, const char *name), "DDS_DomainParticipantFactory_get_typecode_from_config")   \
  CALL(void *, create_participant, (void *factory, const char *name),                                                  \
       "DDS_DomainParticipantFactory_create_participant_from_config")                                                  \
  CALL(void *, lookup_participant, (void *factory, const char *name),                                                  \
       "DDS_DomainParticipantFactory_lookup_participant_by_name")                                                      \
  CALL(int32_t, delete_participant, (void *factory, void *participant),                                                \
       "DDS_DomainParticipantFactory_delete_participant")                                                              \
  CALL(void *, create_topic,                                                                                           \
       (void *participant, const char *name, const char *type, const char *library, const char *profile,               \
        const void *listener, uint32_t mask),                                                                          \
       "DDS_DomainParticipant_create_topic_with_profile")                                                              \
  CALL(void *, find_topic, (void *participant, const char *name, const duration *limit),                               \
       "DDS_DomainParticipant_find_topic")                                                                             \
  CALL(void *, topic_description, (void *participant, const char *name),                                               \
       "DDS_DomainParticipant_lookup_topicdescription")                                                                \
  CALL(int32_t, delete_topic, (void *participant, void *topic), "DDS_DomainParticipant_delete_topic")                  \
  CALL(void *, create_publisher,                                                                                       \
       (void *participant, const char *library, const char *profile, const void *listener, uint32_t mask),             \
       "DDS_DomainParticipant_create_publisher_with_profile")                                                          \
  CALL(int32_t, delete_publisher, (void *participant, void *publisher), "DDS_DomainParticipant_delete_publisher")      \
  CALL(void *, create_subscriber,                                                                                      \
       (void *participant, const char *library, const char *profile, const void *listener, uint32_t mask),             \
       "DDS_DomainParticipant_create_subscriber_with_profile")                                                         \
  CALL(int32_t, delete_subscriber, (void *participant, void *subscriber), "DDS_DomainParticipant_delete_subscriber")   \
  CALL(void *, create_writer,                                                                                          \
       (void *publisher, void *topic, const char *library, const char *profile, const void *listener, uint32_t mask),  \
       "DDS_Publisher_create_datawriter_with_profile")                                                                 \
  CALL(int32_t, delete_writer, (void *publisher, void *writer), "DDS_Publisher_delete_datawriter")                     \
  CALL(void *, create_reader,                                                                                          \
       (void *subscriber, void *description, const char *library, const char *profile, const void *listener,           \
        uint32_t mask),                                                                                                \
       "DDS_Subscriber_create_datareader_with_profile")                                                                \
  CALL(int32_t, delete_reader, (void *subscriber, void *reader), "DDS_Subscriber_delete_datareader")                   \
                                                                                                                       \
  CALL(void *, support_new, (void *typecode, const void *property), "DDS_DynamicDataTypeSupport_new")                  \
  CALL(void, support_delete, (void *support), "DDS_DynamicDataTypeSupport_delete")                                     \
  CALL(int32_t, register_type, (void *support, void *participant, const char *name),                                   \
       "DDS_DynamicDataTypeSupport_register_type")                                                                     \
  CALL(int32_t, unregister_type, (void *support, void *participant, const char *name),                                 \
       "DDS_DynamicDataTypeSupport_unregister_type")                                                                   \
  CALL(void *, create_data, (void *support), "DDS_DynamicDataTypeSupport_create_data")                                 \
  CALL(int32_t, delete_data, (void *support, void *data), "DDS_DynamicDataTypeSupport_delete_data")                    \
  CALL(int32_t, set_octets, (void *data, const char *name, int32_t member, uint32_t length, const uint8_t *octets),    \
       "DDS_DynamicData_set_octet_array")                                                                              \
  CALL(int32_t, get_octets, (void *data, uint8_t *octets, uint32_t *length, const char *name, int32_t member),         \
       "DDS_DynamicData_get_octet_array")                                                                              \
  CALL(int32_t, set_ulong, (void *data, const char *name, int32_t member, uint32_t value),                             \
       "DDS_DynamicData_set_ulong")                                                                                    \
  CALL(int32_t, get_ulong, (void *data, uint32_t *value, const char *name, int32_t member),                            \
       "DDS_DynamicData_get_ulong")                                                                                    \
                                                                                                                       \
  CALL(int32_t, register_octets, (void *participant, const char *name), "DDS_OctetsTypeSupport_register_type")         \
  CALL(int32_t, unregister_octets, (void *participant, const char *name), "DDS_OctetsTypeSupport_unregister_type")     \
  CALL(void *, narrow_octets_writer, (void *writer), "DDS_OctetsDataWriter_narrow")                                    \
  CALL(int32_t, write_octets, (void *writer, const uint8_t *octets, int length, const void *handle),                   \
       "DDS_OctetsDataWriter_write_octets")                                                                            \
                                                                                                                       \
  CALL(void *, narrow_writer, (void *writer), "DDS_DynamicDataWriter_narrow")                                          \
  CALL(int32_t, write, (void *writer, const void *data, const void *handle), "DDS_DynamicDataWriter_write")            \
  CALL(int32_t, dispose, (void *writer, const void *data, const void *handle), "DDS_DynamicDataWriter_dispose")        \
  CALL(int32_t, unregister, (void *writer, const void *data, const void *handle),                                      \
       "DDS_DynamicDataWriter_unregister_instance")                                                                    \
  CALL(int32_t, flush, (void *writer), "DDS_DataWriter_flush")                                                         \
  CALL(int32_t, wait_acked, (void *writer, const duration *limit), "DDS_DataWriter_wait_for_acknowledgments")          \
  CALL(int32_t, assert_liveliness, (void *writer), "DDS_DataWriter_assert_liveliness")                                 \
  CALL(int32_t, matched_readers, (void *writer, void *handles), "DDS_DataWriter_get_matched_subscriptions")            \
  CALL(int32_t, offered_deadline, (void *writer, void *status), "DDS_DataWriter_get_offered_deadline_missed_status")   \
  CALL(int32_t, liveliness_lost, (void *writer, void *status), "DDS_DataWriter_get_liveliness_lost_status")            \
  CALL(int32_t, offered_incompatible, (void *writer, void *status),                                                    \
       "DDS_DataWriter_get_offered_incompatible_qos_status")                                                           \
                                                                                                                       \
  CALL(int32_t, matched_writers, (void *reader, void *handles), "DDS_DataReader_get_matched_publications")             \
  CALL(int32_t, rejected, (void *reader, void *status), "DDS_DataReader_get_sample_rejected_status")                   \
  CALL(int32_t, lost, (void *reader, void *status), "DDS_DataReader_get_sample_lost_status")                           \
  CALL(int32_t, requested_deadline, (void *reader, void *status),                                                      \
       "DDS_DataReader_get_requested_deadline_missed_status")                                                          \
  CALL(int32_t, requested_incompatible, (void *reader, void *status),                                                  \
       "DDS_DataReader_get_requested_incompatible_qos_status")                                                         \
                                                                                                                       \
  CALL(void *, condition_of, (void *entity), "DDS_Entity_get_statuscondition")                                         \
  CALL(int32_t, enable_statuses, (void *condition, uint32_t mask), "DDS_StatusCondition_set_enabled_statuses")         \
  CALL(void *, waitset_new, (void), "DDS_WaitSet_new")                                                                 \
  CALL(int32_t, waitset_delete, (void *waitset), "DDS_WaitSet_delete")                                                 \
  CALL(int32_t, waitset_attach, (void *waitset, void *condition), "DDS_WaitSet_attach_condition")                      \
  CALL(int32_t, waitset_detach, (void *waitset, void *condition), "DDS_WaitSet_detach_condition")                      \
  CALL(int32_t, waitset_wait, (void *waitset, void *active, const duration *limit), "DDS_WaitSet_wait")                \
                                                                                                                       \
  CALL(unsigned char, infos_initialize, (void *seq), "DDS_SampleInfoSeq_initialize")                                   \
  CALL(unsigned char, infos_finalize, (void *seq), "DDS_SampleInfoSeq_finalize")                                       \
  CALL(void *, info_at, (void *seq, int32_t i), "DDS_SampleInfoSeq_get_reference")                                     \
  CALL(unsigned char, handles_initialize, (void *seq), "DDS_InstanceHandleSeq_initialize")                             \
  CALL(unsigned char, handles_finalize, (void *seq), "DDS_InstanceHandleSeq_finalize")                                 \
  CALL(int32_t, handles_length, (const void *seq), "DDS_InstanceHandleSeq_get_length")                                 \
  CALL(unsigned char, conditions_initialize, (void *seq), "DDS_ConditionSeq_initialize")                               \
  CALL(unsigned char, conditions_finalize, (void *seq), "DDS_ConditionSeq_finalize")

/* DDS_Octets. */
typedef struct octet_data {
  int length;
  uint8_t *value;
} octet_data;

/* The two kinds of data: built-in octets and dynamic data, with the functions to take them. */
#define API_DATA(DATA)                                                                                                 \
  DATA(DATA_OCTETS, "DDS_OctetsSeq", "DDS_OctetsDataReader")                                                           \
  DATA(DATA_DYNAMIC, "DDS_DynamicDataSeq", "DDS_DynamicDataReader")

typedef enum data_kind { DATA_OCTETS, DATA_DYNAMIC, DATA_KINDS } data_kind;

typedef struct data_calls {
  unsigned char (*initialize)(void *seq);
  unsigned char (*finalize)(void *seq);
  int32_t (*length)(const void *seq);
  void *(*at)(void *seq, int32_t i);
  void *(*narrow)(void *reader);
  int32_t (*take)(void *reader, void *samples, void *infos, int32_t most, uint32_t sample_states, uint32_t view_states,
                  uint32_t instance_states);
  int32_t (*return_loan)(void *reader, void *samples, void *infos);
} data_calls;

/* QoS types that can be read back: their entity, and the function that gets them. */
#define API_QOS(QOS)                                                                                                   \
  QOS(QOS_PARTICIPANT, "DDS_DomainParticipantQos", "DDS_DomainParticipant_get_qos", "DDS_DOMAINPARTICIPANT")           \
  QOS(QOS_TOPIC, "DDS_TopicQos", "DDS_Topic_get_qos", "DDS_TOPIC")                                                     \
  QOS(QOS_PUBLISHER, "DDS_PublisherQos", "DDS_Publisher_get_qos", "DDS_PUBLISHER")                                     \
  QOS(QOS_SUBSCRIBER, "DDS_SubscriberQos", "DDS_Subscriber_get_qos", "DDS_SUBSCRIBER")                                 \
  QOS(QOS_WRITER, "DDS_DataWriterQos", "DDS_DataWriter_get_qos", "DDS_DATAWRITER")                                     \
  QOS(QOS_READER, "DDS_DataReaderQos", "DDS_DataReader_get_qos", "DDS_DATAREADER")

typedef enum qos_kind {
#define NAME_OF(kind, type, get, prefix) kind,
  API_QOS(NAME_OF)
#undef NAME_OF
      QOS_KINDS
} qos_kind;

typedef struct qos_calls {
  int32_t (*initialize)(void *qos);
  int32_t (*finalize)(void *qos);
  int32_t (*get)(void *entity, void *qos);
  /* Prints the policies that differ from `base`; with `print_all` as base, all. */
  int32_t (*to_string)(const void *qos, char *string, uint32_t *size, const void *base, const void *format);
  const void *print_all;
} qos_calls;

typedef struct api {
#define MEMBER_OF(type, member, parameters, name) type(*member) parameters;
  API_CALLS(MEMBER_OF)
#undef MEMBER_OF
  qos_calls qos[QOS_KINDS];
  data_calls data[DATA_KINDS];
  const void *handle_nil;    /* DDS_HANDLE_NIL */
  const void *type_property; /* DDS_DYNAMIC_DATA_TYPE_PROPERTY_DEFAULT */
  /* Of the connector package only, whose licence covers participants created by the connector. Otherwise NULL. */
  void *(*connector_new)(const char *name, const char *url, const void *options);
  void (*connector_delete)(void *connector);
  library library;
  char release[32]; /* 6.1.2 */
} api;

/* Returns the library, loaded once per process. NULL if there is no usable one; then api_failure() returns the cause
 * and a hint. */
const api *api_get(void);
const char *api_failure(void);

/* Returns the QoS of an entity as Connext prints it, complete; NULL on an error. The caller frees it. */
char *api_qos_text(const api *a, qos_kind kind, void *entity);

#endif
