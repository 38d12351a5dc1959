/* SPDX-License-Identifier: Apache-2.0
 *
 * ddsmark/driver.h: the contract between ddsmark and a driver, version 1.
 *
 * A driver is a shared library, `libddsmark_<name>.so`, that adapts one middleware. It is loaded by an agent, a process
 * that plays one role (writer, reader, or an echo pair of both) with exactly one driver; two middlewares never share a
 * process. This header is all that a driver needs: it can be built alone, in C11, C++17 or any language with a C ABI,
 * against whatever version of the middleware the user has installed.
 *
 * Words follow OMG DDS 1.4 (participant, writer, reader, sample, QoS policy) and RTPS 2.5 (locator).
 *
 *
 * 1. LIFE CYCLE
 *
 *     dlopen -> ddsmark_driver_entry() -> describe()                        any number of times, starts nothing
 *            -> participant_open()                                          one or more per process
 *                 -> writer_open() / reader_open()                          any number, in any order
 *                      -> reader_locator() -> writer_connect()              only with DDSMARK_FEATURE_LOCATORS, see 6
 *                         writer_locator() -> reader_connect()
 *                      -> writer_matched() / reader_matched()               asked until as expected or a time limit
 *                      -> writer_write() ... writer_flush(), reader_receive() or the listener     the hot path
 *                      -> writer_wait_acked()
 *                      -> writer_counters(), reader_counters(), *_qos()     any time after open
 *                 -> writer_close() / reader_close()                        each before its participant
 *            -> participant_close()
 *     the process exits; the library is never unloaded
 *
 * After participant_close() no thread, socket, shared-memory segment or file of the driver's may be left, but for
 * threads that the middleware keeps until its process ends, where the description names them (`kept_threads`): one of
 * each name, and after a later close no more than after the first. The host may open again after a close. A process
 * that is killed cannot clean up: put `run_name` into the name of every file or segment, so that the host can. Where
 * the middleware chooses the names of files in /dev/shm, keep a list of them, /dev/shm/<run_name>.*.shared, of lines:
 *
 *     NAME             this file
 *     BEGIN*END        all that begin and end so. There are at least 4 characters before the `*`, and END may be empty
 *     WORD WORD ...    files that go together. A `*` stands for the same in all words, and then the first has one
 *
 * What is named is removed with its list when the process has ended; by `*` only what is not older than the list; files
 * that go together only while nobody has one of them locked (flock) and none is younger than a second. So several words
 * are for names that nobody can know before, and of which the middleware has one locked as long as it lives. Write a
 * list before the first of its files is made, for the process may be killed at any time; keep it open and locked
 * (flock, exclusive), by which the host knows that its process lives; and remove it when the last of them has gone.
 *
 *
 * 2. OWNERSHIP
 *
 * - Arguments (configurations, strings, arrays, payloads) belong to the caller and are valid for the call only. Copy
 *   what is kept.
 * - Handles (`ddsmark_participant *` ...) belong to the driver, from a successful open to the return of close. Close
 *   frees. Close is called once, and also when the entity is in an error state.
 * - Text and arrays that the driver returns belong to the driver: those of describe() live as long as the library;
 *   those of last_error() until the next call on the same thread; those in a ddsmark_qos until the entity is closed or
 *   its QoS is asked for again; those given to a visitor or sink for the duration of that call.
 * - A loan (writer_loan) belongs to the caller until writer_publish() or writer_discard(), whatever these return
 *   other than DDSMARK_REFUSED and DDSMARK_TIMED_OUT, after which the loan may be published again.
 * - On failure an `out` argument is left untouched and nothing is left open.
 *
 *
 * 3. THREADS
 *
 * - The host calls the functions of one entity from one thread at a time, but different entities of a participant from
 *   different threads at once (an echo reads on one and writes on another).
 * - The *_matched, *_counters and *_qos functions may be called while another thread is in writer_write() or
 *   reader_receive() of the same entity.
 * - A listener's sink is called from a thread of the driver's (or, where writer and reader share a process, from the
 *   thread that writes), never twice at once for one reader, never before
 *   reader_open() was called, never after reader_close() has returned. The sink returns quickly. It may call
 *   writer_write() and writer_flush() only if the driver declares DDSMARK_FEATURE_ECHO_IN_LISTENER.
 * - The sink of reader_receive() is called on the host's thread, and may always call writer_write() and writer_flush(),
 *   with a payload that is lent to it too.
 * - The driver's threads inherit the affinity of the thread that opens what they serve; it must not change affinity or
 *   priority of the host's threads, nor install signal handlers, nor call exit, nor let an exception or a panic cross
 *   this boundary. It may print to descriptors 1 and 2: they are a log file.
 *
 *
 * 4. STATUS AND ERRORS
 *
 * Every function that can fail returns a ddsmark_status; DDSMARK_OK is 0. After any other value last_error() says, for
 * the calling thread, what failed, why, and where the driver knows it the next step after "hint: ", for instance
 *     "interface `eth7` does not exist; hint: `ip -br link` lists the interfaces of this host"
 *
 * Of an open call DDSMARK_UNSUPPORTED, DDSMARK_BAD_ARGUMENT, DDSMARK_INCONSISTENT and DDSMARK_TOO_LARGE say that what
 * is asked for is wrong, whenever it is asked: the host opens once what a user plans, and where it gets one of these,
 * it passes on the driver's words and measures nothing. What the next try may get, such as a port in use, is an error
 * of another kind.
 *
 *
 * 5. THE HOT PATH
 *
 * writer_write(), writer_loan(), writer_publish(), writer_flush(), reader_receive() and the calls of the sink are
 * timed. There a driver does what a well-written application of its middleware does and nothing more: no allocation, no
 * lock, no log line and no system call of its own. Counting is done with plain integers. The host stamps the time; a
 * driver never does.
 *
 *
 * 6. MATCHING
 *
 * A middleware with discovery finds peers by topic. One without (a bare socket) declares DDSMARK_FEATURE_LOCATORS: the
 * host then carries the text of reader_locator() to the peer's writer_connect(), and of writer_locator() to the peer's
 * reader_connect(), and the driver counts as matched what has been connected so.
 * A writer that is matched does not prove that its reader has matched back: the host asks both ends.
 * A peer that closes, or whose process is killed, is matched no more: with discovery at once, or when its lease ends.
 * Without, nobody tells, and the count may stay. A write to a peer that is gone is no failure.
 *
 *
 * 7. HONESTY
 *
 * - *_qos() reports what the middleware says is in force on the entity, read back from it, never what was asked for.
 *   The host compares, and a difference fails the run.
 * - participant_settings() and the like report what is in force (transport, addresses, buffer sizes as granted by the
 *   kernel, batching), read back wherever the middleware or the kernel can be asked.
 * - A policy that the driver cannot set is `unsupported`: asking for another value than the one that it has fails the
 *   open call with DDSMARK_UNSUPPORTED. One that the middleware takes and does nothing with is `ignored`. Neither is
 *   ever reported as in force.
 * - A counter that the middleware does not have is not valid: never 0.
 *
 *
 * 8. VERSIONS
 *
 * The first fields of every table are its ABI version or its size. Each side sets `struct_size` of what it makes;
 * what the host has made for the driver to fill (ddsmark_qos, ddsmark_counters) is filled no further than that size,
 * which is left as it is. Fields are only ever added at the end; a reader of a table looks at no field that lies beyond
 * the size given. `abi_version` changes when that is not enough; a host refuses one that it does not know.
 *
 * All structs use natural alignment on LP64; `reserved` fields are 0.
 */
#ifndef DDSMARK_DRIVER_H
#define DDSMARK_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DDSMARK_ABI_VERSION 1u

/* The one symbol that a driver exports, and its type. Returns the same table each time; starts nothing. */
#define DDSMARK_ENTRY_SYMBOL "ddsmark_driver_entry"
#define DDSMARK_EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------------------------------
 * Status
 */
typedef int32_t ddsmark_status;
enum {
  DDSMARK_OK = 0,
  DDSMARK_ERROR = 1,        /* anything not named below; last_error() tells */
  DDSMARK_TIMED_OUT = 2,    /* the middleware's or the call's time limit was reached; the sample was NOT accepted */
  DDSMARK_REFUSED = 3,      /* no room now (OUT_OF_RESOURCES, ENOBUFS); the sample was NOT accepted; try again */
  DDSMARK_UNSUPPORTED = 4,  /* this driver cannot do that, ever */
  DDSMARK_BAD_ARGUMENT = 5, /* a value out of range, an unknown option, a name that does not exist */
  DDSMARK_INCONSISTENT = 6, /* policies that contradict each other */
  DDSMARK_TOO_LARGE = 7     /* a sample over the size that was configured or that the transport carries */
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

/* What a driver does with a policy. */
enum {
  DDSMARK_SUPPORT_UNSUPPORTED = 0,   /* asking for anything but what happens anyway fails the open call */
  DDSMARK_SUPPORT_IGNORED = 1,       /* accepted, without effect */
  DDSMARK_SUPPORT_MATCHED_ONLY = 2,  /* only decides whether writer and reader match */
  DDSMARK_SUPPORT_HINT = 3,          /* may change how, not what, is delivered */
  DDSMARK_SUPPORT_NEEDS_SERVICE = 4, /* acts only with a further process or store */
  DDSMARK_SUPPORT_ENFORCED = 5       /* behaviour changes; a conformance probe sees it act */
};

typedef struct ddsmark_policy_support {
  uint32_t support; /* DDSMARK_SUPPORT_ */
  uint32_t reserved;
  const char *note; /* what is special about it, or NULL */
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

/* The QoS of one entity. A policy counts only if its bit, 1 << DDSMARK_POLICY_..., is set in `present`. Asked for: what
 * is not present is left at the middleware's default. Read back: present is what the middleware could tell.
 * A policy that DDS defines for publisher, subscriber, topic or participant is set there by the driver; one that it
 * does not define for this side (a reader's lifespan) is left out, and not present when read back. */
typedef struct ddsmark_qos {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t present;

  int32_t reliability;      /* DDSMARK_BEST_EFFORT, DDSMARK_RELIABLE */
  int32_t history;          /* DDSMARK_KEEP_LAST, DDSMARK_KEEP_ALL */
  uint64_t max_blocking_ns; /* reliability: how long a write may block; of writers. A reader has none: 0 */
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
 * What a driver is
 */
enum {
  DDSMARK_FEATURE_LOCATORS = 1u << 0,             /* no discovery: see 6 */
  DDSMARK_FEATURE_NATIVE_BATCHING = 1u << 1,      /* the middleware packs samples */
  DDSMARK_FEATURE_APPLICATION_BATCHING = 1u << 2, /* the driver concatenates samples itself */
  DDSMARK_FEATURE_WAIT_ACKED = 1u << 3,
  DDSMARK_FEATURE_WRITER_LOANS = 1u << 4,     /* writer_loan, writer_publish, writer_discard */
  DDSMARK_FEATURE_READER_LOANS = 1u << 5,     /* samples given to the sink are not copied on their way there */
  DDSMARK_FEATURE_ECHO_IN_LISTENER = 1u << 6, /* see 3 */
  DDSMARK_FEATURE_CONTENT_FILTER = 1u << 7,
  DDSMARK_FEATURE_INSTANCES = 1u << 8, /* writer_dispose, writer_unregister */
  DDSMARK_FEATURE_MULTICAST = 1u << 9,
  DDSMARK_FEATURE_ASYNC_WRITE = 1u << 10, /* a writer can hand over to a thread of the middleware's */
  DDSMARK_FEATURE_SIMULATED = 1u << 11, /* no middleware: what it does is configured. Measured only where it is named */
  DDSMARK_FEATURE_ONE_PROCESS = 1u << 12 /* writer and reader must be in one process, so it cannot be measured */
};

/* The types on the wire: one topic carries one of these. XCDR1, final, so that any DDS reads any other. */
enum {
  DDSMARK_TYPE_OCTETS = 0, /* struct Sample { sequence<octet> payload; } */
  DDSMARK_TYPE_KEYED = 1,  /* struct KeyedSample { @key unsigned long key; sequence<octet> payload; } */
  DDSMARK_TYPE_PLAIN = 2   /* a fixed-size array of octets, for loans */
};

/* How samples are received. */
enum {
  DDSMARK_RECEIVE_WAITSET = 0, /* the host calls reader_receive() with a time limit; it sleeps until there is data */
  DDSMARK_RECEIVE_POLLING = 1, /* the host calls reader_receive() with a time limit of 0, again and again */
  DDSMARK_RECEIVE_LISTENER = 2 /* the driver calls the sink from a thread of its own */
};

typedef struct ddsmark_transport_info {
  const char *name;           /* udp4, udp6, tcp4, shm, data_sharing ...; the first of the list is the default. What is
                                 called shm or data_sharing is taken to reach only ends of the same version */
  uint64_t max_payload_bytes; /* the largest payload that this transport carries through this driver */
  const char *note;           /* or NULL */
} ddsmark_transport_info;

typedef struct ddsmark_option_info {
  const char *name;
  const char *default_value; /* as text, or NULL where the middleware decides */
  const char *help;          /* one line: what it does, unit, range */
} ddsmark_option_info;

typedef struct ddsmark_description {
  uint32_t struct_size;
  uint32_t features; /* DDSMARK_FEATURE_ bits */
  const char *name;  /* as in the file name and on the command line */
  const char *driver_version;
  const char *middleware;         /* as its makers write it */
  const char *middleware_version; /* asked of the library at run time, else what it was built against; "not installed"
                                     where a library that is looked for at run time is not there: then
                                     participant_open() fails, and `build` and last_error() say why and what to do */
  const char *version_source;     /* which of these: "library", "headers" or "kernel" */
  const char *build;              /* build type and what else decides speed, or NULL where it cannot be known */
  const char *licence;            /* of the middleware; SPDX */
  uint32_t receive_modes;         /* bits: 1 << DDSMARK_RECEIVE_ */
  uint32_t type_kinds;            /* bits: 1 << DDSMARK_TYPE_; other transports than the first may refuse one */
  const ddsmark_transport_info *transports;
  const ddsmark_option_info *options;
  uint32_t transport_count; /* at least 1 */
  uint32_t option_count;
  ddsmark_policy_support policies[DDSMARK_POLICY_COUNT];
  /* Names of the threads that the middleware, once it has started them, keeps until its process ends: as
   * /proc/PID/task/TID/comm has them, of 1 to 15 bytes, each once. See 1. A description that ends before these fields
   * names none. */
  const char *const *kept_threads;
  uint32_t kept_thread_count;
  uint32_t reserved;
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
  uint32_t domain;               /* 1..100; writers and readers of one run share it */
  const char *run_name;          /* letters, digits and `-`; unique on this host while the run lasts */
  const char *transport;         /* one of the description's, or NULL for the default */
  const char *interface;         /* network interface to use, and no other, or NULL for the driver's default */
  const char *const *peers;      /* addresses of the hosts to discover on, for middlewares that can be told */
  const ddsmark_option *options; /* the driver's own; an unknown name is DDSMARK_BAD_ARGUMENT */
  uint32_t peer_count;
  uint32_t option_count;
  uint32_t multicast;         /* 1: data goes by multicast; only with DDSMARK_FEATURE_MULTICAST */
  uint32_t vendor_defaults;   /* 1: leave everything not asked for here as the vendor ships it */
  uint64_t send_buffer_bytes; /* of the sockets; 0: the driver's default */
  uint64_t receive_buffer_bytes;
  uint64_t send_queue_bytes; /* what any writer of this participant may hold back, in bytes as they are serialised: for
                                middlewares that bound bytes, and none else; others go by
                                DDSMARK_POLICY_RESOURCE_LIMITS of the writer. 0: the driver's default */
} ddsmark_participant_config;

typedef struct ddsmark_writer_config {
  uint32_t struct_size;
  uint32_t type_kind;         /* DDSMARK_TYPE_ */
  const char *topic;          /* letters, digits and `_` */
  const ddsmark_qos *qos;     /* or NULL: the middleware's defaults */
  uint64_t max_payload_bytes; /* no larger sample will be written, at least 1; with DDSMARK_TYPE_PLAIN the size
                                 of all */
  uint64_t batch_bytes;       /* 0: every sample leaves when written. Else samples may be held back until
                                 writer_flush(); the host flushes after floor(batch_bytes / size) samples at
                                 the latest */
  uint32_t async_write;       /* 1: publish from a thread of the middleware's */
  uint32_t loans;             /* 1: samples will be written through writer_loan() */
} ddsmark_writer_config;

typedef struct ddsmark_sample {
  const uint8_t *payload;
  uint64_t size;
  uint32_t key; /* with DDSMARK_TYPE_KEYED */
  uint32_t reserved;
  const void *token; /* the driver's, for reader_sample_intact() */
} ddsmark_sample;

/* Receives one sample. The payload is lent for the duration of the call. Samples without data (dispose and the like)
 * are not given to the sink. */
typedef void (*ddsmark_sink)(void *context, const ddsmark_sample *sample);

typedef struct ddsmark_reader_config {
  uint32_t struct_size;
  uint32_t type_kind;     /* DDSMARK_TYPE_ */
  const char *topic;      /* letters, digits and `_` */
  const ddsmark_qos *qos; /* or NULL: the middleware's defaults */
  uint64_t max_payload_bytes;
  uint32_t receive_mode; /* DDSMARK_RECEIVE_ */
  uint32_t batched;      /* 1: the writer, of the same driver, was opened with batch_bytes > 0 */
  ddsmark_sink sink;     /* with DDSMARK_RECEIVE_LISTENER: called for each sample; else NULL */
  void *sink_context;
  const char *content_filter; /* an SQL subset expression as in DDS 1.4 annex B, or NULL */
} ddsmark_reader_config;

/* Receives one setting that is in force: its name, and its value as text. */
typedef void (*ddsmark_visitor)(void *context, const char *name, const char *value);

/* ------------------------------------------------------------------------------------------------------------------
 * Counters, since the entity was opened. A value counts only if its bit is set in `valid`.
 */
enum {
  DDSMARK_COUNTER_WRITE_BLOCKED = 0,   /* writes that had to wait for room */
  DDSMARK_COUNTER_WRITE_TIMED_OUT = 1, /* writes that returned DDSMARK_TIMED_OUT */
  DDSMARK_COUNTER_WRITE_REFUSED = 2,   /* writes that returned DDSMARK_REFUSED */
  DDSMARK_COUNTER_RETRANSMITTED = 3,   /* samples sent again */
  DDSMARK_COUNTER_RETRANSMITTED_BYTES = 4,
  DDSMARK_COUNTER_PACKETS_SENT = 5, /* datagrams or segments handed to the transport */
  DDSMARK_COUNTER_BYTES_SENT = 6,   /* their bytes, without the headers of lower layers */
  DDSMARK_COUNTER_PACKETS_RECEIVED = 7,
  DDSMARK_COUNTER_BYTES_RECEIVED = 8,
  DDSMARK_COUNTER_SAMPLES_REJECTED = 9,     /* SAMPLE_REJECTED status of DDS */
  DDSMARK_COUNTER_SAMPLES_LOST = 10,        /* SAMPLE_LOST status of DDS */
  DDSMARK_COUNTER_BYTES_DISCARDED = 11,     /* received and thrown away by the middleware */
  DDSMARK_COUNTER_SAMPLES_OVERWRITTEN = 12, /* loans that changed while they were read */
  DDSMARK_COUNTER_DEADLINE_MISSED = 13,     /* OFFERED_ or REQUESTED_DEADLINE_MISSED */
  DDSMARK_COUNTER_LIVELINESS_LOST = 14,     /* LIVELINESS_LOST, or LIVELINESS_CHANGED to not alive */
  DDSMARK_COUNTER_INCOMPATIBLE_QOS = 15,    /* OFFERED_ or REQUESTED_INCOMPATIBLE_QOS */
  DDSMARK_COUNTER_WRITE_BLOCKED_NS = 16,    /* time spent so */
  DDSMARK_COUNTER_MALFORMED = 17,           /* received, and not what the driver's framing allows */
  DDSMARK_COUNTER_COUNT = 18
};

typedef struct ddsmark_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t valid; /* bits: 1 << DDSMARK_COUNTER_ */
  uint64_t values[DDSMARK_COUNTER_COUNT];
} ddsmark_counters;

/* ------------------------------------------------------------------------------------------------------------------
 * The table. A function may be NULL only where "may be NULL" stands.
 */
typedef struct ddsmark_driver {
  uint32_t abi_version; /* DDSMARK_ABI_VERSION; readable in every version to come */
  uint32_t struct_size; /* sizeof(ddsmark_driver) as the driver was built */

  /* What this driver is. Needs no participant, opens no socket, is quick. Never NULL. */
  const ddsmark_description *(*describe)(void);

  /* The text of the last failure on this thread, or "" (see 4). Never NULL. */
  const char *(*last_error)(void);

  /* -- participant ------------------------------------------------------------------------------------------------ */

  /* BAD_ARGUMENT: an unknown transport, interface or option. UNSUPPORTED: known, but not in this build; multicast,
   * where the driver, the transport or the interface has none. */
  ddsmark_status (*participant_open)(const ddsmark_participant_config *config, ddsmark_participant **out);

  /* All writers and readers have been closed. */
  ddsmark_status (*participant_close)(ddsmark_participant *participant);

  /* Calls `visit` for each setting in force. `transport` is always among them; `interface` and `address` where they
   * apply; `multicast` with DDSMARK_FEATURE_MULTICAST: `on`, `off`, or `unknown` where the middleware cannot be asked
   * which way data goes; the configuration text given to the middleware as `configuration`. */
  ddsmark_status (*participant_settings)(ddsmark_participant *participant, ddsmark_visitor visit, void *context);

  /* -- writer ----------------------------------------------------------------------------------------------------- */

  /* UNSUPPORTED: a policy, type or feature that the driver has not. INCONSISTENT: contradictory policies.
   * TOO_LARGE: max_payload_bytes over what the transport carries. */
  ddsmark_status (*writer_open)(ddsmark_participant *participant, const ddsmark_writer_config *config,
                                ddsmark_writer **out);

  /* Samples not yet acknowledged may be lost; call writer_wait_acked() first. */
  ddsmark_status (*writer_close)(ddsmark_writer *writer);

  /* How many readers this writer is matched with now. */
  ddsmark_status (*writer_matched)(ddsmark_writer *writer, uint32_t *count);

  /* The QoS in force, read back. The caller has set struct_size. */
  ddsmark_status (*writer_qos)(ddsmark_writer *writer, ddsmark_qos *out);

  /* Settings in force on this writer: `batching` (none, native, application), socket buffers as granted ... */
  ddsmark_status (*writer_settings)(ddsmark_writer *writer, ddsmark_visitor visit, void *context);

  /* The caller has set struct_size. */
  ddsmark_status (*writer_counters)(ddsmark_writer *writer, ddsmark_counters *out);

  /* Only with DDSMARK_FEATURE_LOCATORS; may be NULL. The locator of this writer, NUL-terminated, at most `capacity`
   * bytes; and a reader to send to. */
  ddsmark_status (*writer_locator)(ddsmark_writer *writer, char *buffer, uint64_t capacity);
  ddsmark_status (*writer_connect)(ddsmark_writer *writer, const char *reader_locator);

  /* Writes one sample. OK: accepted, and not to be written again. TIMED_OUT, REFUSED: not accepted.
   * Blocks no longer than max_blocking_ns, and only for want of room. `key` counts with DDSMARK_TYPE_KEYED. */
  ddsmark_status (*writer_write)(ddsmark_writer *writer, uint32_t key, const uint8_t *payload, uint64_t size);

  /* Only with DDSMARK_FEATURE_WRITER_LOANS; may be NULL. */
  ddsmark_status (*writer_loan)(ddsmark_writer *writer, uint64_t size, uint8_t **out);
  ddsmark_status (*writer_publish)(ddsmark_writer *writer, uint32_t key, uint8_t *loan, uint64_t size);
  ddsmark_status (*writer_discard)(ddsmark_writer *writer, uint8_t *loan);

  /* Sends what batching holds back. Without batching: OK at once. */
  ddsmark_status (*writer_flush)(ddsmark_writer *writer);

  /* Only with DDSMARK_FEATURE_WAIT_ACKED; may be NULL. Waits until every matched reliable reader has acknowledged all
   * that was written, for at most timeout_ns: OK or TIMED_OUT. */
  ddsmark_status (*writer_wait_acked)(ddsmark_writer *writer, uint64_t timeout_ns);

  /* Only with DDSMARK_FEATURE_INSTANCES; may be NULL. */
  ddsmark_status (*writer_dispose)(ddsmark_writer *writer, uint32_t key);
  ddsmark_status (*writer_unregister)(ddsmark_writer *writer, uint32_t key);

  /* Manual liveliness. May be NULL where liveliness is unsupported. */
  ddsmark_status (*writer_assert_liveliness)(ddsmark_writer *writer);

  /* -- reader ----------------------------------------------------------------------------------------------------- */

  /* As writer_open(). */
  ddsmark_status (*reader_open)(ddsmark_participant *participant, const ddsmark_reader_config *config,
                                ddsmark_reader **out);
  ddsmark_status (*reader_close)(ddsmark_reader *reader);
  ddsmark_status (*reader_matched)(ddsmark_reader *reader, uint32_t *count);
  ddsmark_status (*reader_qos)(ddsmark_reader *reader, ddsmark_qos *out);
  ddsmark_status (*reader_settings)(ddsmark_reader *reader, ddsmark_visitor visit, void *context);
  ddsmark_status (*reader_counters)(ddsmark_reader *reader, ddsmark_counters *out);

  /* As writer_locator() and writer_connect(). */
  ddsmark_status (*reader_locator)(ddsmark_reader *reader, char *buffer, uint64_t capacity);
  ddsmark_status (*reader_connect)(ddsmark_reader *reader, const char *writer_locator);

  /* Waits for at most timeout_ns until there is data (0: does not wait), then gives samples to `sink`, and sets
   * *taken to how many. `max_samples`, at least 1, is what the host would like to see in one call: a driver stops
   * there, except that it gives the rest of a packet that it has already begun. A driver gives what is there; it does
   * not wait for more.
   * Nothing came: OK with *taken = 0. Not with DDSMARK_RECEIVE_LISTENER; with DDSMARK_RECEIVE_POLLING it never waits.
   * A wait may return early with 0 samples; the host calls again. */
  ddsmark_status (*reader_receive)(ddsmark_reader *reader, uint64_t timeout_ns, uint32_t max_samples, ddsmark_sink sink,
                                   void *context, uint32_t *taken);

  /* May be NULL where a lent payload cannot change. Called in the sink after the payload was read:
   * 1 if it was whole all the time, 0 if it may have been overwritten. */
  uint32_t (*reader_sample_intact)(ddsmark_reader *reader, const ddsmark_sample *sample);
} ddsmark_driver;

DDSMARK_EXPORT const ddsmark_driver *ddsmark_driver_entry(void);

#ifdef __cplusplus
}
#endif

/* The layout, asserted here and, with the same figures, in the mirror of this header. */
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
DDSMARK_ASSERT_SIZE(ddsmark_description, 464);
DDSMARK_ASSERT_SIZE(ddsmark_option, 16);
DDSMARK_ASSERT_SIZE(ddsmark_participant_config, 88);
DDSMARK_ASSERT_SIZE(ddsmark_writer_config, 48);
DDSMARK_ASSERT_SIZE(ddsmark_sample, 32);
DDSMARK_ASSERT_SIZE(ddsmark_reader_config, 64);
DDSMARK_ASSERT_SIZE(ddsmark_counters, 160);
DDSMARK_ASSERT_SIZE(ddsmark_driver, 264);
#undef DDSMARK_ASSERT_SIZE
#endif

#endif
