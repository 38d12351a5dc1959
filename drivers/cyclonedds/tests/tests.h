/* SPDX-License-Identifier: Apache-2.0
 *
 * tests.h: the tests of this driver, the environment variables to unset, and shared declarations.
 */
#include <stdbool.h>

#define UNWANTED "CYCLONEDDS_URI"

/* CMakeLists.txt reads the names from here, one per line. */
/* clang-format off */
#define TESTS(TEST) \
    TEST(describe) \
    TEST(policies_as_known) \
    TEST(one_symbol) \
    TEST(shared_domain) \
    TEST(participant_errors) \
    TEST(option_errors) \
    TEST(many_participants) \
    TEST(users_configuration) \
    TEST(writer_errors) \
    TEST(unsupported_writers) \
    TEST(reader_errors) \
    TEST(filters) \
    TEST(policy_errors) \
    TEST(policy_values) \
    TEST(older_host) \
    TEST(sizes) \
    TEST(settings) \
    TEST(multicast_settings) \
    TEST(thread_settings) \
    TEST(users_configuration_wins) \
    TEST(vendor_defaults) \
    TEST(writer_policies) \
    TEST(reader_policies) \
    TEST(group_policies) \
    TEST(unset_policies) \
    TEST(late_joiner) \
    TEST(receive_waitset) \
    TEST(receive_polling) \
    TEST(receive_listener) \
    TEST(receive_udp6) \
    TEST(receive_tcp4) \
    TEST(tcp) \
    TEST(tcp_errors) \
    TEST(receive_multicast) \
    TEST(receive_limits) \
    TEST(keys) \
    TEST(batching) \
    TEST(batching_mixed) \
    TEST(wait_acked) \
    TEST(back_pressure) \
    TEST(send_queue) \
    TEST(send_queue_settings) \
    TEST(counters) \
    TEST(liveliness_counter)
/* clang-format on */

/* Returns whether the library supports TCP; otherwise TCP is rejected. */
bool has_tcp(void);
