/* sanitized.h: is this a build with a sanitizer? There runs take several times as long: tests that repeat one
 * check over many inputs make some of them there, and all of them in the release build. */
#ifndef HEDDLE_TESTS_SANITIZED_H
#define HEDDLE_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

#endif
