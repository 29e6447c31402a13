// Complexity: how plain the parts of a candidate are that do not count as nodes: dtypes, values, arguments.
#pragma once

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// 0 for float32, int64 and bool, 1 for the others.
int dtypeComplexity(DType dtype);
/// Of more elements nobody reads the values, unless they are all the same.
inline constexpr std::int64_t mostReadableElements = 1 << 16;
/// 0: all zeros (or nothing). 1: all ones. 2: at most mostReadableElements integers between -9 and 9. 3: anything else.
int valueComplexity(const Value& value);
/// 0 for neg, add and mul, 1 for other elementwise ops, 2 for matrix products, 3 for what is left; of all calls, nested
/// ones not counted.
std::size_t opComplexity(const Graph& graph);
/// What the arguments of all calls, nested ones not counted, add up to: operands 4 each, strings and the like 1,
/// numbers 1 or, above 1, 2; defaults of the schema and None nothing.
std::size_t argumentComplexity(const Graph& graph);

}  // namespace kerf::inline minifier::inline core
