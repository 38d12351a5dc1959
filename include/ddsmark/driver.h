/* SPDX-License-Identifier: Apache-2.0
 *
 * ddsmark/driver.h: the contract between ddsmark and a driver, version 2.
 *
 * A driver is a shared library, `libddsmark_<name>.so`, that adapts one middleware. An agent loads it: a process that
 * plays one role (writer, reader, or one side of an echo pair, with both), or several of them, with exactly one driver.
 * Two middlewares never share a process. A driver needs only this header. You can build it separately, in C11, C++17 or
 * any language with a C ABI, against any installed version of the middleware.
 *
 * Terms are those of OMG DDS 1.4 (participant, writer, reader, sample, QoS policy) and RTPS 2.5 (locator).
 * "The host" is the process that loads the driver.
 *
 *
 * 1. LIFE CYCLE
 *
 *     dlopen -> ddsmark_driver_entry() -> describe()                        any number of times, starts nothing
 *            -> participant_open()                                          one or more per process
 *                 -> writer_open() / reader_open()                          any number, in any order
 *                      -> reader_locator() -> writer_connect()              only with DDSMARK_FEATURE_LOCATORS, see 6
 *                         writer_locator() -> reader_connect()
 *                      -> writer_matched() / reader_matched()               repeated until matched, or a time limit
 *                      -> writer_write() ... writer_flush(), reader_receive() or the listener     the hot path
 *                      -> writer_wait_acked()
 *                      -> writer_counters(), reader_counters(), *_qos()     any time after open
 *                 -> writer_close() / reader_close()                        each before its participant
 *            -> participant_close()
 *     the process exits; the library is never unloaded
 *
 * After participant_close() no thread, socket, shared-memory segment or file of the driver may remain. The only
 * exception are threads that the middleware keeps until its process ends: the description names them (`kept_threads`).
 * There is at most one thread of each name, and a later close leaves no more than the first. The host may open again
 * after a close.
 *
 * Several participants of one domain may be open in a process, also with the same `run_name`. The host opens, uses and
 * closes them from different threads at the same time. They match each other like participants of other processes, and
 * may do so without the network. Closing one disturbs no other one; what they share remains until the last of them is
 * closed. A driver whose middleware has only one participant in a process returns DDSMARK_UNSUPPORTED for further ones.
 *
 * A killed process cannot clean up. Therefore put `run_name` into the name of every file or segment: the host removes
 * these. If the middleware chooses the names of files in /dev/shm, the driver keeps a list of them,
 * /dev/shm/<run_name>.*.shared. Its lines are:
 *
 *     NAME             this file
 *     BEGIN*END        all files whose names start and end in this way. At least 4 characters precede the `*`; END may
 *                      be empty
 *     WORD WORD ...    files that are removed together. `*` matches the same text in all words, and the first word has
 *                      one if any has
 *
 * The host removes the listed files and the list after the process has ended. It removes files that match BEGIN*END
 * only if they are not older than the list. It removes the files of a WORD WORD ... line only if no process holds a
 * lock on one of them (flock) and none is younger than a second. Use such lines for names that cannot be known in
 * advance, if the middleware locks one of the files while it lives.
 *
 * The process may be killed at any time. Therefore write a list before the first of its files is created. Keep the list
 * open and locked (flock, exclusive) while the process lives: the lock tells the host that it does. Remove the list
 * after the last of its files.
 *
 *
 * 2. OWNERSHIP
 *
 * - Arguments (configurations, strings, arrays, payloads) belong to the caller and are valid during the call only. Copy
 *   what you keep.
 * - Handles (`ddsmark_participant *` ...) belong to the driver, from a successful open until close returns. Close frees
 *   the handle. The host calls close once, also for an entity in an error state.
 * - Returned text and arrays belong to the driver. Those of describe() live as long as the library; those of
 *   last_error() until the next call on the same thread; those in a ddsmark_qos until the entity is closed or its QoS
 *   is read again; those passed to a visitor or sink for the duration of that call.
 * - A loan (writer_loan) belongs to the caller until writer_publish() or writer_discard() is called, whatever these
 *   return. Exception: after DDSMARK_REFUSED and DDSMARK_TIMED_OUT the caller still owns it and may publish it again.
 * - On failure an `out` argument is unchanged and nothing is left open.
 *
 *
 * 3. THREADS
 *
 * - The host calls the functions of one entity from one thread at a time. It calls different entities of a participant,
 *   and functions of different participants, from different threads at the same time. An echo, for example, reads on
 *   one thread and writes on another.
 * - The *_matched, *_counters and *_qos functions may be called while another thread is in writer_write() or
 *   reader_receive() of the same entity.
 * - The driver calls the sink of a listener from its own thread or, if writer and reader share a process, from the
 *   writing thread. It never calls it concurrently for one reader, never before reader_open() was called, and never
 *   after reader_close() has returned. The sink returns quickly. It may call writer_write() and writer_flush() only if
 *   the driver declares DDSMARK_FEATURE_ECHO_IN_LISTENER, and only of a writer whose max_blocking_ns is 0 or that is
 *   not reliable. Such a call then does not wait for anything that the driver's thread itself would have to do.
 * - The driver calls the sink of reader_receive() on the host's thread. That sink may always call writer_write() and
 *   writer_flush(), also with a payload that is lent to it.
 * - The driver's threads inherit the CPU affinity of the thread that opens the entity. The driver must not change the
 *   affinity or priority of the host's threads, install signal handlers, call exit, or let an exception or a panic
 *   cross this boundary. It may print to descriptors 1 and 2, which are a log file.
 *
 *
 * 4. STATUS AND ERRORS
 *
 * Every function that can fail returns a ddsmark_status; DDSMARK_OK is 0. After any other value, last_error() returns
 * for the calling thread what failed, why, and, if the driver knows it, the next step after "hint: ", for example
 *     "interface `eth7` does not exist; hint: `ip -br link` lists the interfaces of this host"
 *
 * If an open call returns DDSMARK_UNSUPPORTED, DDSMARK_BAD_ARGUMENT, DDSMARK_INCONSISTENT or DDSMARK_TOO_LARGE, the
 * request itself is invalid and fails at any time. The host opens each planned configuration once. If it receives one
 * of these, it reports the driver's error and measures nothing. Return another status for a failure that may disappear,
 * such as a port in use.
 *
 *
 * 5. THE HOT PATH
 *
 * writer_write(), writer_loan(), writer_publish(), writer_flush(), reader_receive() and the calls of the sink are
 * timed. There a driver does what a well-written application of its middleware does, and nothing else: no allocation,
 * no lock, no log line and no system call of its own. It counts with plain integers. The host takes all timestamps,
 * never the driver.
 *
 *
 * 6. MATCHING
 *
 * A middleware with discovery finds peers by topic. One without (a bare socket) declares DDSMARK_FEATURE_LOCATORS: the
 * host then passes the text of reader_locator() to the peer's writer_connect(), and that of writer_locator() to the
 * peer's reader_connect(). The driver counts a connected peer as matched.
 * If a writer is matched, its reader may not have matched yet: the host queries both endpoints.
 * The driver also records when the number of peers changed: in the middleware's callback (PUBLICATION_MATCHED,
 * SUBSCRIPTION_MATCHED), or, without discovery, when it connects a peer or detects that one has gone. It never records
 * the time of a query. The time does not move while no peer comes or goes. A driver whose middleware does not report
 * the event returns no time, and the host reports the time as unknown.
 * The match with a peer that closes or is killed ends: with discovery at once, or when its lease expires. Without
 * discovery the driver may not detect it, and the count may stay. A write to a peer that has gone does not fail.
 *
 *
 * 7. EFFECTIVE VALUES
 *
 * - *_qos() returns the effective QoS of the entity, read back from the middleware, never the requested QoS. The host
 *   compares them, and a difference fails the run.
 * - participant_settings() and the like return the effective settings (transport, addresses, buffer sizes as granted by
 *   the kernel, batching), read back wherever the middleware or the kernel can be queried. `receive_buffer_bytes`,
 *   `send_buffer_bytes`, `receive_buffer_limit_bytes`, `multicast` and `multicast_groups` are read from the kernel. The
 *   setting `as_requested` has the names, separated by commas, of those of the same call that were not read back: what
 *   the middleware was given. All others were read from the middleware.
 * - A policy that the driver cannot set is `unsupported`: requesting another value than the one that it has fails the
 *   open call with DDSMARK_UNSUPPORTED. A policy that the middleware accepts without effect is `ignored`. Neither is
 *   ever reported as effective. That holds for writers and for readers each: a writer of which `max_samples` limits
 *   nothing does not report RESOURCE_LIMITS, although its reader does.
 * - A counter that the middleware does not have is not valid: never 0.
 *
 *
 * 8. VERSIONS
 *
 * The first fields of every table are its ABI version or its size. Each side sets `struct_size` of the tables that it
 * creates. The driver fills a table of the host (ddsmark_qos, ddsmark_counters, ddsmark_match) only up to that size,
 * and does not change the size. A reader of a table does not access fields beyond its size.
 * `abi_version` changes with every change of a declaration until the first tagged release. From then on new fields are
 * added at the end of a table, and it changes for any other change. A host rejects an unknown version before it calls
 * the driver: rebuild the driver against the header of that host.
 *
 * All structs use natural alignment on LP64; `reserved` fields are 0.
 */
#ifndef DDSMARK_DRIVER_H
#define DDSMARK_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DDSMARK_ABI_VERSION 3u

/* The only symbol that a driver exports: a function that returns the same table each time and starts nothing. */
#define DDSMARK_ENTRY_SYMBOL "ddsmark_driver_entry"
#define DDSMARK_EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------------------------------
 * Status
 */
typedef int32_t ddsmark_status;
enum {
  DDSMARK_OK = 0,
  DDSMARK_ERROR = 1,        /* anything not listed below; see last_error() */
  DDSMARK_TIMED_OUT = 2,    /* the time limit of the middleware or the call was reached; the sample was NOT accepted */
  DDSMARK_REFUSED = 3,      /* no room now (OUT_OF_RESOURCES, ENOBUFS); the sample was NOT accepted; retry */
  DDSMARK_UNSUPPORTED = 4,  /* this driver never supports the request */
  DDSMARK_BAD_ARGUMENT = 5, /* a value out of range, an unknown option, a name that does not exist */
  DDSMARK_INCONSISTENT = 6, /* policies that contradict each other */
  DDSMARK_TOO_LARGE = 7     /* a sample larger than configured, or than the transport supports */
};

/* ------------------------------------------------------------------------------------------------------------------
 * Quality of service: all policies of DDS 1.4 section 2.2.3
 */
enum {
  DDSMARK_POLICY_RELIABILITY = 0,
  DDSMARK_POLICY_HISTORY = 1,
  DDSMARK_POLICY_RESOURCE_LIMITS = 2,
  DDSMARK_POLICY_DURABILITY = 3,
  DDSMARK_POLICY_DURABILITY_SERVICE = 4,
  DDSMARK_POLICY_DEADLINE = 5,
  DDSMARK_POLICY_LATENCY_BUDGET = 6,
  DDSMARK_POLICY_LIFESPAN = 7,
  DDSMARK_POLICY_LIVELINESS = 8,
  DDSMARK_POLICY_OWNERSHIP = 9,
  DDSMARK_POLICY_OWNERSHIP_STRENGTH = 10,
  DDSMARK_POLICY_PARTITION = 11,
  DDSMARK_POLICY_PRESENTATION = 12,
  DDSMARK_POLICY_DESTINATION_ORDER = 13,
  DDSMARK_POLICY_TIME_BASED_FILTER = 14,
  DDSMARK_POLICY_TRANSPORT_PRIORITY = 15,
  DDSMARK_POLICY_WRITER_DATA_LIFECYCLE = 16,
  DDSMARK_POLICY_READER_DATA_LIFECYCLE = 17,
  DDSMARK_POLICY_USER_DATA = 18,
  DDSMARK_POLICY_TOPIC_DATA = 19,
  DDSMARK_POLICY_GROUP_DATA = 20,
  DDSMARK_POLICY_ENTITY_FACTORY = 21,
  DDSMARK_POLICY_COUNT = 22
};

/* Support of a driver for a policy, of writers and of readers: a middleware may act on a policy at one of them only. */
enum {
  DDSMARK_SUPPORT_UNSUPPORTED = 0,   /* requesting any value but the actual one fails the open call */
  DDSMARK_SUPPORT_IGNORED = 1,       /* accepted, without effect */
  DDSMARK_SUPPORT_MATCHED_ONLY = 2,  /* affects only whether writer and reader match */
  DDSMARK_SUPPORT_HINT = 3,          /* may change how samples are delivered, not which */
  DDSMARK_SUPPORT_NEEDS_SERVICE = 4, /* takes effect only with another process or a store */
  DDSMARK_SUPPORT_ENFORCED = 5       /* changes behaviour; verified if there is a conformance case */
};

typedef struct ddsmark_policy_support {
  uint32_t writer;  /* DDSMARK_SUPPORT_ of writers; of a policy that only readers have, theirs */
  uint32_t reader;  /* DDSMARK_SUPPORT_ of readers; of a policy that only writers have, theirs */
  const char *note; /* restrictions or special behaviour, or NULL */
} ddsmark_policy_support;

#define DDSMARK_DURATION_INFINITE UINT64_MAX /* ns */
#define DDSMARK_UNLIMITED (-1)               /* resource limits */

enum { DDSMARK_BEST_EFFORT = 0, DDSMARK_RELIABLE = 1 };
enum { DDSMARK_KEEP_LAST = 0, DDSMARK_KEEP_ALL = 1 };
enum { DDSMARK_VOLATILE = 0, DDSMARK_TRANSIENT_LOCAL = 1, DDSMARK_TRANSIENT = 2, DDSMARK_PERSISTENT = 3 };
enum { DDSMARK_LIVELINESS_AUTOMATIC = 0, DDSMARK_LIVELINESS_BY_PARTICIPANT = 1, DDSMARK_LIVELINESS_BY_TOPIC = 2 };
enum { DDSMARK_OWNERSHIP_SHARED = 0, DDSMARK_OWNERSHIP_EXCLUSIVE = 1 };
enum { DDSMARK_SCOPE_INSTANCE = 0, DDSMARK_SCOPE_TOPIC = 1, DDSMARK_SCOPE_GROUP = 2 };
enum { DDSMARK_ORDER_BY_RECEPTION = 0, DDSMARK_ORDER_BY_SOURCE = 1 };

/* The QoS of one entity. A policy is valid only if its bit, 1 << DDSMARK_POLICY_..., is set in `present`. In a request,
 * policies that are not present keep the middleware's default. When read back, those that the middleware reports are
 * present. The driver sets a policy that DDS defines for publisher, subscriber, topic or participant there. It skips a
 * policy that DDS does not define for this endpoint (a reader's lifespan); that one is not present when read back. */
typedef struct ddsmark_qos {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t present;

  int32_t reliability;      /* DDSMARK_BEST_EFFORT, DDSMARK_RELIABLE */
  int32_t history;          /* DDSMARK_KEEP_LAST, DDSMARK_KEEP_ALL */
  uint64_t max_blocking_ns; /* reliability: maximum blocking time of a write; 0 for readers */
  int32_t history_depth;    /* with KEEP_LAST */
  int32_t max_samples;      /* resource limits, or DDSMARK_UNLIMITED */
  int32_t max_instances;
  int32_t max_samples_per_instance;

  int32_t durability;      /* DDSMARK_VOLATILE ... */
  int32_t service_history; /* durability service */
  uint64_t service_cleanup_ns;
  int32_t service_history_depth;
  int32_t service_max_samples;
  int32_t service_max_instances;
  int32_t service_max_samples_per_instance;

  uint64_t deadline_ns;
  uint64_t latency_budget_ns;
  uint64_t lifespan_ns;
  uint64_t liveliness_lease_ns;
  int32_t liveliness; /* DDSMARK_LIVELINESS_ */
  int32_t ownership;  /* DDSMARK_OWNERSHIP_ */
  int32_t ownership_strength;
  int32_t presentation_scope; /* DDSMARK_SCOPE_ */
  uint32_t coherent_access;   /* presentation; 0 or 1 */
  uint32_t ordered_access;    /* presentation; 0 or 1 */
  int32_t destination_order;  /* DDSMARK_ORDER_ */
  int32_t transport_priority;
  uint64_t minimum_separation_ns;    /* time-based filter */
  uint32_t autodispose_unregistered; /* writer data lifecycle; 0 or 1 */
  uint32_t autoenable_created;       /* entity factory; 0 or 1 */
  uint64_t autopurge_nowriter_ns;    /* reader data lifecycle */
  uint64_t autopurge_disposed_ns;

  const char *const *partitions; /* `partition_count` names */
  const uint8_t *user_data;
  const uint8_t *topic_data;
  const uint8_t *group_data;
  uint32_t partition_count;
  uint32_t user_data_size;
  uint32_t topic_data_size;
  uint32_t group_data_size;
} ddsmark_qos;

/* ------------------------------------------------------------------------------------------------------------------
 * Description of a driver
 */
enum {
  DDSMARK_FEATURE_LOCATORS = 1u << 0,             /* no discovery: see 6 */
  DDSMARK_FEATURE_NATIVE_BATCHING = 1u << 1,      /* the middleware packs samples */
  DDSMARK_FEATURE_APPLICATION_BATCHING = 1u << 2, /* the driver concatenates samples itself */
  DDSMARK_FEATURE_WAIT_ACKED = 1u << 3,
  DDSMARK_FEATURE_WRITER_LOANS = 1u << 4,     /* writer_loan, writer_publish, writer_discard */
  DDSMARK_FEATURE_READER_LOANS = 1u << 5,     /* samples reach the sink without a copy */
  DDSMARK_FEATURE_ECHO_IN_LISTENER = 1u << 6, /* see 3 */
  DDSMARK_FEATURE_CONTENT_FILTER = 1u << 7,
  DDSMARK_FEATURE_INSTANCES = 1u << 8, /* writer_dispose, writer_unregister */
  DDSMARK_FEATURE_MULTICAST = 1u << 9,
  DDSMARK_FEATURE_ASYNC_WRITE = 1u << 10, /* a thread of the middleware can publish the samples */
  DDSMARK_FEATURE_SIMULATED = 1u << 11,   /* no middleware, but a configured model. Measured only if it is named */
  DDSMARK_FEATURE_ONE_PROCESS = 1u << 12  /* writer and reader must be in one process, so it cannot be measured */
};

/* The types on the wire: each topic has one of these. XCDR1 and final, so that DDS implementations interoperate. */
enum {
  DDSMARK_TYPE_OCTETS = 0, /* struct Sample { sequence<octet> payload; } */
  DDSMARK_TYPE_KEYED = 1,  /* struct KeyedSample { @key unsigned long key; sequence<octet> payload; } */
  DDSMARK_TYPE_PLAIN = 2   /* a fixed-size array of octets, for loans */
};

/* Receive modes. */
enum {
  DDSMARK_RECEIVE_WAITSET = 0, /* the host calls reader_receive() with a time limit; it sleeps until data arrives */
  DDSMARK_RECEIVE_POLLING = 1, /* the host calls reader_receive() repeatedly, with a time limit of 0 */
  DDSMARK_RECEIVE_LISTENER = 2 /* the driver calls the sink from its own thread */
};

typedef struct ddsmark_transport_info {
  const char *name;           /* udp4, udp6, tcp4, shm, data_sharing ...; the first of the list is the default. builtin:
                                 those that the middleware enables by itself, if that is more than one; the default with
                                 vendor_defaults. The host uses shm, data_sharing and builtin only between endpoints of
                                 the same version */
  uint64_t max_payload_bytes; /* the largest payload over this transport with this driver */
  const char *note;           /* or NULL */
} ddsmark_transport_info;

typedef struct ddsmark_option_info {
  const char *name;
  const char *default_value; /* as text, or NULL if the middleware decides */
  const char *help;          /* one line: function, unit, range */
} ddsmark_option_info;

typedef struct ddsmark_description {
  uint32_t struct_size;
  uint32_t features; /* DDSMARK_FEATURE_ bits */
  const char *name;  /* as in the file name and on the command line */
  const char *driver_version;
  const char *middleware;         /* as its vendor writes it */
  const char *middleware_version; /* reported by the library at run time, else the version of the build; "not installed"
                                     if a library that is loaded at run time is not found: then
                                     participant_open() fails, and `build` and last_error() give cause and next step */
  const char *version_source;     /* its source: "library", "headers" or "kernel" */
  const char *build;              /* build type and other properties that affect speed, or NULL if unknown */
  const char *licence;            /* of the middleware; SPDX */
  uint32_t receive_modes;         /* bits: 1 << DDSMARK_RECEIVE_ */
  uint32_t type_kinds;            /* bits: 1 << DDSMARK_TYPE_; transports after the first may reject one */
  const ddsmark_transport_info *transports;
  const ddsmark_option_info *options;
  uint32_t transport_count; /* at least 1 */
  uint32_t option_count;
  ddsmark_policy_support policies[DDSMARK_POLICY_COUNT];
  /* Names of the threads that the middleware keeps until its process ends, after it has started them. As in
   * /proc/PID/task/TID/comm, 1 to 15 bytes, each name once. See 1. A description that ends before these fields declares
   * no such threads. */
  const char *const *kept_threads;
  uint32_t kept_thread_count;
  uint32_t variable_count;
  /* Environment variables that the middleware reads: the result of a run has their values, and two results with
   * different values are not compared. A name that ends with `*` is that of all variables that begin so. */
  const char *const *variables;
} ddsmark_description;

/* ------------------------------------------------------------------------------------------------------------------
 * Configurations
 */
typedef struct ddsmark_participant ddsmark_participant;
typedef struct ddsmark_writer ddsmark_writer;
typedef struct ddsmark_reader ddsmark_reader;

typedef struct ddsmark_option {
  const char *name;
  const char *value;
} ddsmark_option;

typedef struct ddsmark_participant_config {
  uint32_t struct_size;
  uint32_t domain;               /* 1..100, or what the user requests, 0..232; the same for a whole run */
  const char *run_name;          /* letters, digits and `-`; unique on this host while the run lasts */
  const char *transport;         /* one of those in the description, or NULL for the default */
  const char *interface;         /* the only network interface to use, or NULL for the driver's default */
  const char *const *peers;      /* addresses of hosts for discovery, if the middleware accepts them */
  const ddsmark_option *options; /* options of the driver; an unknown name is DDSMARK_BAD_ARGUMENT */
  uint32_t peer_count;
  uint32_t option_count;
  uint32_t multicast;         /* 1: send data by multicast; only with DDSMARK_FEATURE_MULTICAST */
  uint32_t vendor_defaults;   /* 1: leave everything not requested here as the vendor ships it */
  uint64_t send_buffer_bytes; /* socket buffer; 0: the driver's default */
  uint64_t receive_buffer_bytes;
  uint64_t send_queue_bytes;  /* limit of the send queue of each writer of this participant, in serialised bytes. Only
                                 for middlewares with such a limit in bytes; others use DDSMARK_POLICY_RESOURCE_LIMITS of
                                 the writer. 0: the driver's default */
  uint32_t participant_count; /* participants of the run, this one included, which may all be on this host: the driver
                                 sets the limits of its middleware accordingly. UNSUPPORTED if there is a limit that it
                                 cannot raise so far. 0: unknown */
  uint32_t reserved;
} ddsmark_participant_config;

typedef struct ddsmark_writer_config {
  uint32_t struct_size;
  uint32_t type_kind;         /* DDSMARK_TYPE_ */
  const char *topic;          /* letters, digits and `_` */
  const ddsmark_qos *qos;     /* or NULL: the middleware's defaults */
  uint64_t max_payload_bytes; /* size of the largest sample, at least 1; with DDSMARK_TYPE_PLAIN the size of
                                 all samples */
  uint64_t batch_bytes;       /* 0: each sample is sent when written. Otherwise samples may be delayed until
                                 writer_flush(); the host flushes after at most
                                 floor(batch_bytes / size) samples */
  uint32_t async_write;       /* 1: publish from a thread of the middleware */
  uint32_t loans;             /* 1: the host writes samples with writer_loan() */
} ddsmark_writer_config;

typedef struct ddsmark_sample {
  const uint8_t *payload;
  uint64_t size;
  uint32_t key; /* with DDSMARK_TYPE_KEYED */
  uint32_t reserved;
  const void *token; /* of the driver, for reader_sample_intact() */
} ddsmark_sample;

/* Receives one sample. The payload is lent for the duration of the call. The driver does not pass samples without data
 * (such as a disposal) to the sink. */
typedef void (*ddsmark_sink)(void *context, const ddsmark_sample *sample);

typedef struct ddsmark_reader_config {
  uint32_t struct_size;
  uint32_t type_kind;     /* DDSMARK_TYPE_ */
  const char *topic;      /* letters, digits and `_` */
  const ddsmark_qos *qos; /* or NULL: the middleware's defaults */
  uint64_t max_payload_bytes;
  uint32_t receive_mode; /* DDSMARK_RECEIVE_ */
  uint32_t batched;      /* 1: the writer has the same driver and batch_bytes > 0 */
  ddsmark_sink sink;     /* with DDSMARK_RECEIVE_LISTENER: called for each sample; else NULL */
  void *sink_context;
  const char *content_filter; /* an SQL subset expression as in DDS 1.4 annex B, or NULL. The host uses conditions on
                                 the key of the keyed type: `key = A`, `key BETWEEN A AND B`, `key >= A AND key <= B` */
} ddsmark_reader_config;

/* Receives the name and the value, as text, of one effective setting. */
typedef void (*ddsmark_visitor)(void *context, const char *name, const char *value);

/* ------------------------------------------------------------------------------------------------------------------
 * Counters since the entity was opened. A value is valid only if its bit is set in `valid`.
 */
enum {
  DDSMARK_COUNTER_WRITE_BLOCKED = 0,   /* writes that waited for room */
  DDSMARK_COUNTER_WRITE_TIMED_OUT = 1, /* writes that returned DDSMARK_TIMED_OUT */
  DDSMARK_COUNTER_WRITE_REFUSED = 2,   /* writes that returned DDSMARK_REFUSED */
  DDSMARK_COUNTER_RETRANSMITTED = 3,   /* samples retransmitted */
  DDSMARK_COUNTER_RETRANSMITTED_BYTES = 4,
  DDSMARK_COUNTER_PACKETS_SENT = 5, /* datagrams or segments handed to the transport */
  DDSMARK_COUNTER_BYTES_SENT = 6,   /* their bytes, without the headers of lower layers */
  DDSMARK_COUNTER_PACKETS_RECEIVED = 7,
  DDSMARK_COUNTER_BYTES_RECEIVED = 8,
  DDSMARK_COUNTER_SAMPLES_REJECTED = 9,     /* SAMPLE_REJECTED status of DDS */
  DDSMARK_COUNTER_SAMPLES_LOST = 10,        /* SAMPLE_LOST status of DDS */
  DDSMARK_COUNTER_BYTES_DISCARDED = 11,     /* received and discarded by the middleware */
  DDSMARK_COUNTER_SAMPLES_OVERWRITTEN = 12, /* loans overwritten while they were read */
  DDSMARK_COUNTER_DEADLINE_MISSED = 13,     /* OFFERED_ or REQUESTED_DEADLINE_MISSED */
  DDSMARK_COUNTER_LIVELINESS_LOST = 14,     /* LIVELINESS_LOST, or LIVELINESS_CHANGED to not alive */
  DDSMARK_COUNTER_INCOMPATIBLE_QOS = 15,    /* OFFERED_ or REQUESTED_INCOMPATIBLE_QOS */
  DDSMARK_COUNTER_WRITE_BLOCKED_NS = 16,    /* total waiting time of writes */
  DDSMARK_COUNTER_MALFORMED = 17,           /* received with invalid framing */
  DDSMARK_COUNTER_COUNT = 18
};

typedef struct ddsmark_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t valid; /* bits: 1 << DDSMARK_COUNTER_ */
  uint64_t values[DDSMARK_COUNTER_COUNT];
} ddsmark_counters;

/* ------------------------------------------------------------------------------------------------------------------
 * Match state of a writer or reader: see 6. Count and time belong together.
 */
typedef struct ddsmark_match {
  uint32_t struct_size;
  uint32_t count;      /* peers that are matched now */
  uint64_t changed_ns; /* CLOCK_MONOTONIC when `count` last changed; 0: not yet, or the time is unknown */
} ddsmark_match;

/* ------------------------------------------------------------------------------------------------------------------
 * The table. A function may be NULL only if its comment says "may be NULL".
 */
typedef struct ddsmark_driver {
  uint32_t abi_version; /* DDSMARK_ABI_VERSION; at this place in every future version */
  uint32_t struct_size; /* sizeof(ddsmark_driver) when the driver was built */

  /* Returns the description of this driver. Needs no participant, opens no socket, is fast. Never NULL. */
  const ddsmark_description *(*describe)(void);

  /* Returns the text of the last failure on this thread, or "" (see 4). Never NULL. */
  const char *(*last_error)(void);

  /* -- participant ------------------------------------------------------------------------------------------------ */

  /* Opens a participant. BAD_ARGUMENT: an unknown transport, interface or option. UNSUPPORTED: known, but not in this
   * build; or multicast, if the driver, the transport or the interface does not support it. */
  ddsmark_status (*participant_open)(const ddsmark_participant_config *config, ddsmark_participant **out);

  /* Closes a participant. The host has closed all its writers and readers before. */
  ddsmark_status (*participant_close)(ddsmark_participant *participant);

  /* Calls `visit` for each effective setting. Always: `transport`. If applicable: `interface` and `address`. With
   * DDSMARK_FEATURE_MULTICAST: `multicast`, which is `on`, `off`, or `unknown` if the middleware cannot be queried for
   * the destination of data. The configuration text passed to the middleware: `configuration`. */
  ddsmark_status (*participant_settings)(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

  /* -- writer ----------------------------------------------------------------------------------------------------- */

  /* Opens a writer. UNSUPPORTED: a policy, type or feature that the driver lacks. INCONSISTENT: contradictory policies.
   * TOO_LARGE: max_payload_bytes above the limit of the transport. */
  ddsmark_status (*writer_open)(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                ddsmark_writer **out);

  /* Closes a writer. Unacknowledged samples may be lost; call writer_wait_acked() first. */
  ddsmark_status (*writer_close)(ddsmark_writer *writer);

  /* Returns the readers that are matched now, and since when. The caller has set struct_size. */
  ddsmark_status (*writer_matched)(ddsmark_writer *writer, ddsmark_match *out);

  /* Returns the effective QoS, read back. The caller has set struct_size. */
  ddsmark_status (*writer_qos)(ddsmark_writer *writer, ddsmark_qos *out);

  /* Calls `visit` for each effective setting: `batching` (none, native, application), granted socket buffers ... */
  ddsmark_status (*writer_settings)(ddsmark_writer *writer, ddsmark_visitor visit, void *context);

  /* Returns the counters. The caller has set struct_size. */
  ddsmark_status (*writer_counters)(ddsmark_writer *writer, ddsmark_counters *out);

  /* Only with DDSMARK_FEATURE_LOCATORS; may be NULL. writer_locator() returns the locator of this writer,
   * NUL-terminated, in at most `capacity` bytes. writer_connect() adds a reader as a destination. */
  ddsmark_status (*writer_locator)(ddsmark_writer *writer, char *buffer, uint64_t capacity);
  ddsmark_status (*writer_connect)(ddsmark_writer *writer, const char *reader_locator);

  /* Writes one sample. OK: accepted, so the host does not write it again. TIMED_OUT, REFUSED: not accepted. Blocks only
   * if there is no room, and for at most max_blocking_ns. `key` is used with DDSMARK_TYPE_KEYED only. */
  ddsmark_status (*writer_write)(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size);

  /* Only with DDSMARK_FEATURE_WRITER_LOANS; may be NULL. writer_loan() lends a payload buffer, writer_publish() writes
   * it, writer_discard() returns it unused. */
  ddsmark_status (*writer_loan)(ddsmark_writer *writer, uint64_t size, uint8_t **out);
  ddsmark_status (*writer_publish)(ddsmark_writer *writer, uint32_t key, uint8_t *loan, uint64_t size);
  ddsmark_status (*writer_discard)(ddsmark_writer *writer, uint8_t *loan);

  /* Sends the samples of an unfinished batch. Without batching: OK at once. */
  ddsmark_status (*writer_flush)(ddsmark_writer *writer);

  /* Only with DDSMARK_FEATURE_WAIT_ACKED; may be NULL. Waits for at most timeout_ns until every matched reliable reader
   * has acknowledged all written samples: OK or TIMED_OUT. */
  ddsmark_status (*writer_wait_acked)(ddsmark_writer *writer, uint64_t timeout_ns);

  /* Only with DDSMARK_FEATURE_INSTANCES; may be NULL. Disposes or unregisters the instance of a key. */
  ddsmark_status (*writer_dispose)(ddsmark_writer *writer, uint32_t key);
  ddsmark_status (*writer_unregister)(ddsmark_writer *writer, uint32_t key);

  /* Asserts manual liveliness. May be NULL if liveliness is unsupported. */
  ddsmark_status (*writer_assert_liveliness)(ddsmark_writer *writer);

  /* -- reader ----------------------------------------------------------------------------------------------------- */

  /* As for writers. */
  ddsmark_status (*reader_open)(ddsmark_participant *participant, const ddsmark_reader_config *config,
                                ddsmark_reader **out);
  ddsmark_status (*reader_close)(ddsmark_reader *reader);
  ddsmark_status (*reader_matched)(ddsmark_reader *reader, ddsmark_match *out);
  ddsmark_status (*reader_qos)(ddsmark_reader *reader, ddsmark_qos *out);
  ddsmark_status (*reader_settings)(ddsmark_reader *reader, ddsmark_visitor visit, void *context);
  ddsmark_status (*reader_counters)(ddsmark_reader *reader, ddsmark_counters *out);

  /* As writer_locator() and writer_connect(). */
  ddsmark_status (*reader_locator)(ddsmark_reader *reader, char *buffer, uint64_t capacity);
  ddsmark_status (*reader_connect)(ddsmark_reader *reader, const char *writer_locator);

  /* Waits for at most timeout_ns until data arrives (0: does not wait), then passes the available samples to `sink`,
   * and sets *taken to their number. It does not wait for more. It passes at most `max_samples`, which is at least 1,
   * plus the rest of a packet that it has already started.
   * Without data: OK with *taken = 0. A wait may also return early with 0 samples; the host calls again.
   * Not called with DDSMARK_RECEIVE_LISTENER; with DDSMARK_RECEIVE_POLLING it never waits. */
  ddsmark_status (*reader_receive)(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                                   void *context, uint32_t *taken);

  /* May be NULL if a lent payload cannot change. The host calls it in the sink, after it has read the payload. Returns
   * 1 if the payload was intact all the time, 0 if it may have been overwritten. */
  uint32_t (*reader_sample_intact)(ddsmark_reader *reader, const ddsmark_sample *sample);
} ddsmark_driver;

DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void);

#ifdef __cplusplus
}
#endif

/* The layout. The Rust mirror of this header asserts the same sizes. */
#if defined(__LP64__)
#ifdef __cplusplus
#define DDSMARK_ASSERT_SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#else
#define DDSMARK_ASSERT_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#endif
DDSMARK_ASSERT_SIZE(ddsmark_policy_support, 16);
DDSMARK_ASSERT_SIZE(ddsmark_qos, 224);
DDSMARK_ASSERT_SIZE(ddsmark_transport_info, 24);
DDSMARK_ASSERT_SIZE(ddsmark_option_info, 24);
DDSMARK_ASSERT_SIZE(ddsmark_description, 472);
DDSMARK_ASSERT_SIZE(ddsmark_option, 16);
DDSMARK_ASSERT_SIZE(ddsmark_participant_config, 96);
DDSMARK_ASSERT_SIZE(ddsmark_writer_config, 48);
DDSMARK_ASSERT_SIZE(ddsmark_sample, 32);
DDSMARK_ASSERT_SIZE(ddsmark_reader_config, 64);
DDSMARK_ASSERT_SIZE(ddsmark_counters, 160);
DDSMARK_ASSERT_SIZE(ddsmark_match, 16);
DDSMARK_ASSERT_SIZE(ddsmark_driver, 264);
#undef DDSMARK_ASSERT_SIZE
#endif

#endif
