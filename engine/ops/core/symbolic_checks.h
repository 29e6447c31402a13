// What shape rules and programs say of symbolic sizes beside computing them: torch._check, and the door between
// symbolic code, which throws, and its callers, who get an Error.
#pragma once

#include <utility>

#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {

/// What `body` returns; its SymbolicFailure as the Error. Shape rules have this door in runShapeRule(); programs that
/// run outside of one come through here.
template <class Body>
auto withoutThrowing(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (SymbolicFailure& failure) {
    return fail(std::move(failure.error));
  }
}

/// torch._check(a relation b): false where that is wrong. What only running the graph tells is assumed from then on, as
/// PyTorch asserts it at run time.
inline bool checked(const SymBool& condition, std::string_view relation, SymInt a, SymInt b) {
  if (!guardOrTrue(condition)) return false;
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr || guardOrFalse(condition)) return true;
  const auto expression = Symbolic::call(relation, {env->expression(a), env->expression(b)});
  return expression && env->assume(*expression).has_value();
}
inline bool checkEqual(SymInt a, SymInt b) { return checked(a == b, "Eq", a, b); }
inline bool checkAtMost(SymInt a, SymInt b) { return checked(a <= b, "Le", a, b); }

}  // namespace kerf::inline ops
