// The door between symbolic code, which throws, and its callers, who get an Error. Shape rules have theirs in
// runShapeRule(); programs that run outside of one come through here.
#pragma once

#include <utility>

#include "engine/support/result.h"
#include "engine/symbolic/sym_int.h"

namespace kerf::inline ops {

/// What `body` returns; its SymbolicFailure as the Error.
template <class Body>
auto withoutThrowing(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (SymbolicFailure& failure) {
    return fail(std::move(failure.error));
  }
}

}  // namespace kerf::inline ops
