// withinMemory(): memory, or a thread, that the system refuses anywhere below is an error of the call.
//
//     KERF_TRY(const Answer answer, withinMemory([&] { return work(); }))      →      TooLarge instead of
//     std::bad_alloc
#pragma once

#include <new>
#include <system_error>

#include "engine/support/result.h"

namespace kerf::inline support {

/// TooLarge, with the limit that `ulimit -v` set if one is.
Error outOfMemory();
/// Environment: what the system did not give, and why.
Error refusedBySystem(const std::system_error& problem);

/// Whether nobody limited what this process may map.
bool addressSpaceIsFree();
/// Whether a limited address space (ulimit -v) holds `threads` threads more, of a library that maps a buffer of 128 MiB
/// for each.
bool spaceHoldsThreads(int threads);

/// What `call`, which returns a Result, returns.
template <class Call>
auto withinMemory(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(outOfMemory());
  } catch (const std::system_error& problem) {
    return fail(refusedBySystem(problem));
  }
}

}  // namespace kerf::inline support
