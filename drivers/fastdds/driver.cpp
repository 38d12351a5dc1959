/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.cpp: entry, description, and the library's log as error texts.
 */
#include "internal.hpp"

#include <cstring>
#include <memory>

/* -- failures ------------------------------------------------------------------------------------------------------ */

namespace {

std::mutex kept_lock;
std::string kept; /* last logged error */

class Keeper : public fast::LogConsumer {
public:
  void Consume(const fast::Log::Entry &entry) override {
    if (entry.kind != fast::Log::Kind::Error)
      return;
    const std::lock_guard<std::mutex> guard(kept_lock);
    kept = entry.message;
  }
};

bool keeping = false;

} // namespace

std::string errors_kept() {
  fast::Log::Flush();
  const std::lock_guard<std::mutex> guard(kept_lock);
  return kept.empty() ? "Fast DDS logged no error" : "Fast DDS logged: " + kept;
}

void errors_watch() {
  const std::lock_guard<std::mutex> guard(kept_lock);
  kept.clear();
  if (!keeping)
    fast::Log::RegisterConsumer(std::unique_ptr<fast::LogConsumer>(new Keeper));
  keeping = true;
}

void errors_end() {
  fast::Log::Flush();
  fast::Log::KillThread();
}

ddsmark_status fail_dds(const ReturnCode &code, const char *function, const std::string &what) {
  return fail(code_status(code_of(code)),
              "%s: %s() failed: %s (%s); hint: see the messages of Fast DDS in the log of the agent", what.c_str(),
              function, code_name(code_of(code)), errors_kept().c_str());
}

ddsmark_status fail_null(const char *function, const std::string &what) {
  return fail(DDSMARK_ERROR, "%s: %s() returned NULL (%s); hint: see the messages of Fast DDS in the log of the agent",
              what.c_str(), function, errors_kept().c_str());
}

/* -- what this driver is ------------------------------------------------------------------------------------------- */

namespace {

#if FASTDDS_GENERATION == 2
const char built_against[] = FASTRTPS_VERSION_STR;
#else
const char built_against[] = FASTDDS_VERSION_STR;
#endif

/* Watchdog thread of shared memory, started once and kept until the process ends. It has a name in versions with
 * thread settings; in 2.9.1 it has no name, so it cannot be declared there. */
#ifdef HAVE_THREAD_SETTINGS
const char *const kept_threads[] = {"dds.shm.wdog"};
#endif

/* Of the library and of its XML profiles. */
const char *const variables[] = {"FASTDDS_*",        "FASTRTPS_*",     "ROS_DISCOVERY_SERVER",
                                 "ROS_SUPER_CLIENT", "ROS2_EASY_MODE", "SKIP_DEFAULT_XML"};

char version[32];
ddsmark_description description;

void describe_once() {
  ddsmark_description &d = description;
  /* Fast DDS has no function for its version, but its file is libfastdds.so.<version>. */
  const void *of = reinterpret_cast<void *>(&fast::DomainParticipantFactory::get_instance);
  const bool asked = library_version(of, "libfastdds", version, sizeof version) ||
                     library_version(of, "libfastrtps", version, sizeof version);
  d.struct_size = sizeof d;
  d.features = DDSMARK_FEATURE_WAIT_ACKED | DDSMARK_FEATURE_WRITER_LOANS | DDSMARK_FEATURE_INSTANCES |
               DDSMARK_FEATURE_ASYNC_WRITE | DDSMARK_FEATURE_APPLICATION_BATCHING | DDSMARK_FEATURE_MULTICAST |
               DDSMARK_FEATURE_ECHO_IN_LISTENER;
  d.name = "fastdds";
  d.driver_version = DRIVER_VERSION;
  d.middleware = "eProsima Fast DDS";
  d.middleware_version = asked ? version : built_against;
  d.version_source = asked ? "library" : "headers";
  d.build = FASTDDS_BUILD[0] ? FASTDDS_BUILD : nullptr;
  d.licence = "Apache-2.0";
  d.receive_modes = 1u << DDSMARK_RECEIVE_WAITSET | 1u << DDSMARK_RECEIVE_POLLING | 1u << DDSMARK_RECEIVE_LISTENER;
  d.type_kinds = 1u << DDSMARK_TYPE_OCTETS | 1u << DDSMARK_TYPE_KEYED | 1u << DDSMARK_TYPE_PLAIN;
  d.transports = transport_infos;
  d.options = option_infos;
  d.transport_count = transport_count;
  d.option_count = option_count;
  memcpy(d.policies, policy_supports, sizeof d.policies);
  d.variables = variables;
  d.variable_count = sizeof variables / sizeof variables[0];
#ifdef HAVE_THREAD_SETTINGS
  d.kept_threads = kept_threads;
  d.kept_thread_count = sizeof kept_threads / sizeof kept_threads[0];
#endif
}

const ddsmark_description *describe() {
  static std::once_flag once;
  std::call_once(once, describe_once);
  return &description;
}

ddsmark_driver make_table() {
  ddsmark_driver table{};
  table.abi_version = DDSMARK_ABI_VERSION;
  table.struct_size = sizeof table;
  table.describe = describe;
  table.last_error = last_error;
  table.participant_open = participant_open;
  table.participant_close = participant_close;
  table.participant_settings = participant_settings;
  writer_fill(table);
  reader_fill(table);
  return table;
}

} // namespace

const ddsmark_driver *ddsmark_driver_entry(void) {
  static const ddsmark_driver table = make_table();
  return &table;
}
