// What lowering may ask of sizes that are expressions without deciding anything: no answer here becomes a guard.
#pragma once

#include <algorithm>

#include "engine/symbolic/shape_env.h"

namespace kerf::inline loops {

/// Equal whatever the symbols are.
inline bool sameSize(SymInt a, SymInt b) {
  return a.isIdentical(b) || ((a.isSymbolic() || b.isSymbolic()) && staticallyKnown(a == b));
}
inline bool sameSizes(const SymSizes& a, const SymSizes& b) {
  return a.isIdentical(b) || std::equal(a.begin(), a.end(), b.begin(), b.end(), sameSize);
}
inline bool isOne(SymInt size) { return sameSize(size, 1); }
/// Written as 0: what must not change the form of an expression asks for no more.
inline bool isZero(SymInt number) { return number.isIdentical(0); }
/// The number of the example that the graph was captured with, for choices that are right either way.
inline std::int64_t exampleOf(SymInt size) {
  return size.isSymbolic() ? ShapeEnv::current()->hint(size).value_or(1) : size.bits();
}

}  // namespace kerf::inline loops
