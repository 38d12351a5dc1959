/* SPDX-License-Identifier: Apache-2.0
 *
 * tests.h: the tests of this driver, and the environment variables to unset.
 */
#define UNWANTED                                                                                                       \
  "ROS_DISCOVERY_SERVER", "ROS2_EASY_MODE", "ROS_SUPER_CLIENT", "FASTDDS_BUILTIN_TRANSPORTS",                          \
      "FASTDDS_ENVIRONMENT_FILE", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"

/* CMakeLists.txt reads the names from here, one per line. */
/* clang-format off */
#define TESTS(TEST) \
    TEST(describe) \
    TEST(policies_as_known) \
    TEST(one_symbol) \
    TEST(participant_errors) \
    TEST(option_errors) \
    TEST(many_participants) \
    TEST(foreign_variables) \
    TEST(unreachable) \
    TEST(no_socket_buffers) \
    TEST(writer_errors) \
    TEST(unsupported_writers) \
    TEST(reader_errors) \
    TEST(policy_errors) \
    TEST(policy_values) \
    TEST(settings) \
    TEST(options_in_force) \
    TEST(extra_samples) \
    TEST(vendor_defaults) \
    TEST(profiles) \
    TEST(profiles_not_loaded) \
    TEST(profiles_of_nothing) \
    TEST(profiles_of_another_transport) \
    TEST(profiles_of_another_variable) \
    TEST(receive_udp4) \
    TEST(receive_udp6) \
    TEST(receive_tcp4) \
    TEST(tcp_turn) \
    TEST(tcp_late) \
    TEST(tcp_numbers) \
    TEST(receive_shm) \
    TEST(receive_data_sharing) \
    TEST(receive_builtin) \
    TEST(receive_async) \
    TEST(receive_large_data) \
    TEST(large_data) \
    TEST(own_server) \
    TEST(users_server) \
    TEST(tcp_one_connects) \
    TEST(flow_limit) \
    TEST(thread_settings) \
    TEST(batches) \
    TEST(batches_data_sharing) \
    TEST(batches_refused) \
    TEST(no_batches) \
    TEST(keys) \
    TEST(udp_is_udp) \
    TEST(shared_files_are_listed) \
    TEST(list_of_shared_files_is_first_and_last) \
    TEST(shared_files_after_a_kill) \
    TEST(loans_udp4) \
    TEST(loans_shm) \
    TEST(loans_data_sharing) \
    TEST(octets_as_plain_shm) \
    TEST(octets_as_plain_data_sharing) \
    TEST(generated_udp4) \
    TEST(generated_data_sharing) \
    TEST(octets_to_generated_udp4) \
    TEST(octets_to_generated_data_sharing) \
    TEST(generated_to_octets_udp4) \
    TEST(generated_to_octets_data_sharing) \
    TEST(generated_keyed) \
    TEST(octets_to_generated_keyed) \
    TEST(generated_refused) \
    TEST(batches_generated) \
    TEST(batches_generated_data_sharing) \
    TEST(writer_policies) \
    TEST(reader_policies) \
    TEST(unset_policies)
/* clang-format on */
