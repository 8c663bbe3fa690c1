/* SPDX-License-Identifier: Apache-2.0 */
/* sanitized.h: does this run under the address sanitizer, of GCC or of clang? */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED 1
#endif
#endif
#ifndef CHECK_SANITIZED
#define CHECK_SANITIZED 0
#endif
#endif
