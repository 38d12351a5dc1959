/* SPDX-License-Identifier: Apache-2.0
 *
 * profiles.c: XML profiles of the user as the base of all QoS.
 */
#include "harness.h"

#include <unistd.h>

/* A participant with this transport of UDP, and these elements of a writer. */
#define PROFILES(writer)                                                                                               \
  "<dds xmlns=\"http://www.eprosima.com\"><profiles><transport_descriptors><transport_descriptor>"                     \
  "<transport_id>udp</transport_id><type>UDPv4</type><maxMessageSize>9000</maxMessageSize></transport_descriptor>"     \
  "</transport_descriptors><participant profile_name=\"p\" is_default_profile=\"true\"><rtps><userTransports>"         \
  "<transport_id>udp</transport_id></userTransports></rtps></participant>"                                             \
  "<data_writer profile_name=\"w\" is_default_profile=\"true\">" writer "</data_writer></profiles></dds>"

/* Generation 3 has another name for the period of heartbeats. */
#define WRITER(period)                                                                                                 \
  "<topic><historyQos><kind>KEEP_LAST</kind><depth>5</depth></historyQos></topic>"                                     \
  "<qos><publishMode><kind>ASYNCHRONOUS</kind></publishMode></qos>"                                                    \
  "<times><" period "><sec>0</sec><nanosec>20000000</nanosec></" period "></times>"
#define WRITER_2 WRITER("heartbeatPeriod")
#define WRITER_3 WRITER("heartbeat_period")

static char path[] = "/tmp/ddsmark-profiles-XXXXXX";

static void write_file(const char *text) {
  const int fd = mkstemp(path);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

/* Opens a participant with the file as an option; the file is removed. */
static ddsmark_status open_with(const char *text, const char *transport, ddsmark_participant **p) {
  write_file(text);
  const ddsmark_option option = {"profiles_file", path};
  ddsmark_participant_config c = participant_config();
  c.options = &option;
  c.option_count = 1;
  c.transport = transport;
  const ddsmark_status status = d->participant_open(&c, p);
  unlink(path);
  return status;
}

static bool is_generation_3(void) {
  return d->describe()->middleware_version[0] >= '3';
}

void test_profiles(void) {
  ddsmark_participant *p = NULL;
  OK(open_with(is_generation_3() ? PROFILES(WRITER_3) : PROFILES(WRITER_2), "udp4", &p));
  setting s;
  CHECK_HAS(participant_setting(p, "profiles_applied", &s), "participant, writer");
  CHECK_HAS(participant_setting(p, "profiles_replaced", &s), "interfaces");
  CHECK_HAS(participant_setting(p, "max_message_size", &s), "9000");
  ddsmark_qos none = {.struct_size = sizeof none};
  ddsmark_writer *w = writer(p, &none);
  ddsmark_qos found = {.struct_size = sizeof found};
  OK(d->writer_qos(w, &found));
  CHECK_U64(found.history, DDSMARK_KEEP_LAST);
  CHECK_U64(found.history_depth, 5);
  CHECK_HAS(writer_setting(w, "publish_mode", &s), "async");
  CHECK_HAS(writer_setting(w, "heartbeat_ms", &s), "20");
  OK(d->writer_close(w));
  /* The same value may be requested, another one not. */
  w = writer(p, QOS(HISTORY, .history = DDSMARK_KEEP_LAST, .history_depth = 5));
  OK(d->writer_close(w));
  ddsmark_writer_config c = writer_config(QOS(HISTORY, .history = DDSMARK_KEEP_LAST, .history_depth = 6));
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_INCONSISTENT, "sets history of the writer");
  c = writer_config(QOS(HISTORY, .history = DDSMARK_KEEP_ALL));
  CHECK_FAILS(d->writer_open(p, &c, &w), DDSMARK_INCONSISTENT, "sets history of the writer");
  OK(d->participant_close(p));
}

void test_profiles_not_loaded(void) {
  ddsmark_participant *p = NULL;
  CHECK_FAILS(open_with("<dds><profiles>", "udp4", &p), DDSMARK_BAD_ARGUMENT, "cannot load profiles file");
  CHECK(p == NULL);
}

void test_profiles_of_nothing(void) {
  ddsmark_participant *p = NULL;
  CHECK_FAILS(open_with("<dds xmlns=\"http://www.eprosima.com\"><profiles><data_writer profile_name=\"w\">"
                        "</data_writer></profiles></dds>",
                        "udp4", &p),
              DDSMARK_INCONSISTENT, "no default profile");
  CHECK(p == NULL);
}

void test_profiles_of_another_transport(void) {
  ddsmark_participant *p = NULL;
  CHECK_FAILS(open_with(PROFILES(""), "udp6", &p), DDSMARK_INCONSISTENT, "none of the kind `udp6`");
  CHECK(p == NULL);
}

void test_profiles_of_another_variable(void) {
  ddsmark_participant *p = NULL;
  ddsmark_participant_config c = participant_config();
  setenv(is_generation_3() ? "FASTRTPS_DEFAULT_PROFILES_FILE" : "FASTDDS_DEFAULT_PROFILES_FILE", "/tmp/x.xml", 1);
  CHECK_FAILS(d->participant_open(&c, &p), DDSMARK_INCONSISTENT, "hint: set FAST");
  CHECK(p == NULL);
}
