// Which sanitizers the code is built with: they reserve address space, keep what was freed and make everything slower.
#pragma once

namespace kerf::inline support {

#if defined(__has_feature)  // clang's way; GCC defines a macro for each
#if __has_feature(address_sanitizer)
#define KERF_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define KERF_THREAD_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(KERF_ADDRESS_SANITIZER)
constexpr bool addressSanitizer = true;
#else
constexpr bool addressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || defined(KERF_THREAD_SANITIZER)
constexpr bool threadSanitizer = true;
#else
constexpr bool threadSanitizer = false;
#endif

#undef KERF_ADDRESS_SANITIZER
#undef KERF_THREAD_SANITIZER

}  // namespace kerf::inline support
