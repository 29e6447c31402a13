// BitRule: how the bits of one op's results are settled, and how generated code of one kind treats them.
#pragma once

#include <string_view>

#include "engine/ir/graph.h"

namespace kerf::inline pipeline {

enum class BitRule : unsigned char {
  Exact,      ///< no rounding, and rounding its operands before or behind it is the same: views, relu, max, where
  Steps,      ///< no rounding, but a rounding before it shows: floor, sign, remainder
  Rounded,    ///< one operation of IEEE 754, correctly rounded: add, mul, a conversion
  Divided,    ///< division and square root: correctly rounded where the code asks for it
  Functions,  ///< elementary functions, whose last bits are those of a library
  Several,    ///< several roundings in one op: addcmul, lerp, add with alpha
  Sums,       ///< sums of several values, in some order
  Products,   ///< products of matrices, convolutions, attention
  Atomics,    ///< sums by atomic additions
  Random,     ///< draws random numbers
  Unknown,    ///< nothing is known of the op
};
constexpr BitRule lastOf(BitRule) { return BitRule::Unknown; }

/// Of a call. Ops on integers and bools alone are exact. Needs the metas of its results; without them a float is assumed.
BitRule bitRule(const Graph& graph, const Node& node);

/// Whether its result is a floating-point tensor of at most 16 bits.
bool isNarrowFloat(const Node& node);

/// What the authors of code let it do with floats.
struct CodeRules {
  std::string_view name;      ///< "Triton"; empty: an existing function
  bool generated = true;      ///< not the function that eager mode calls
  bool contracts = false;     ///< a product and a sum in one kernel may become one fused multiply-add
  bool approximates = false;  ///< division and square root are not correctly rounded
  bool keepsWide = false;     ///< 16-bit values stay float32 between the ops of a kernel
};

/// Of a recorded kernel, by its name: Triton's fuse multiply and add (enable_fp_fusion) and divide by div.full, C++
/// kernels are compiled with -ffp-contract=off; both keep float32 (emulate_precision_casts is off by default).
const CodeRules& recordedCode(std::string_view kernel);
/// Of Kerf's own kernels, which round after every op.
const CodeRules& ownCode();
/// Of steps that call an existing function.
const CodeRules& existingCode();

}  // namespace kerf::inline pipeline
