/* SPDX-License-Identifier: Apache-2.0
 *
 * tests.h: the tests with Connext itself, and the condition for running them.
 */
#define UNWANTED "NDDS_QOS_PROFILES"
#define CONSENT "DDSMARK_ACCEPT_LICENCE"

/* CMakeLists.txt reads the names from here, one per line. */
/* clang-format off */
#define TESTS(TEST) \
    TEST(found) \
    TEST(receive_udp4) \
    TEST(receive_shm) \
    TEST(receive_polling) \
    TEST(shm_is_shm) \
    TEST(options_in_force) \
    TEST(batching) \
    TEST(batch_flush_delay) \
    TEST(turbo_mode) \
    TEST(auto_throttle) \
    TEST(asynchronous) \
    TEST(fixed_rate) \
    TEST(token_bucket) \
    TEST(base_profile) \
    TEST(turbo_and_batching) \
    TEST(vendor_defaults) \
    TEST(unknown_profile) \
    TEST(killed)
/* clang-format on */
