// The lowering tables: one row per op that becomes loop IR. An op without a row runs as an extern kernel.
#pragma once

#include <span>
#include <string_view>

#include "engine/lower/expr_builder.h"
#include "engine/lower/value_table.h"

namespace kerf::inline lower {

/// Operands of one element, and the builder they live in.
struct PointwiseCall {
  ExprBuilder& b;
  const ValueInfo& info;
  std::span<const int> operands;  ///< converted to `compute` (or Bool for a condition); -1: a missing optional
  DType compute;                  ///< promoted type in which arithmetic happens
  IndexMap map;                   ///< index of the element, per dimension of the result

  int x(std::size_t i) const { return operands[i]; }
  int number(double value) const { return b.constant(value, compute); }
};

enum class OperandTypes : std::uint8_t {
  Any,       ///< computes in the promoted type, floats or integers
  Floats,    ///< only float computation is lowered
  Integers,  ///< only integer and bool computation
  Raw,       ///< operands keep their own (compute) types
};

struct PointwiseLowering {
  std::string_view op;  ///< "aten::add": all overloads
  OperandTypes types;
  int (*build)(const PointwiseCall&);
  int cost;  ///< as ExprOpInfo::cost
};

/// A reduction: the element expression goes in, one value comes out. `count` elements are reduced into one.
struct ReductionCall {
  ExprBuilder& b;
  const ValueInfo& info;
  int element;  ///< in its stored type
  double count;
  bool reduces;  ///< false: every reduced dimension has size 1
  int reduce(ExprOp op, int value) const { return reduces ? b.reduce(op, value) : value; }
};

struct ReductionLowering {
  std::string_view op;  ///< "aten::sum"
  int (*build)(const ReductionCall&);
  int items;  ///< 1, or the length of the tuple it returns
};

/// Null when the op has no row, or its arguments or types are not covered.
const PointwiseLowering* findPointwiseLowering(const ValueInfo& info);
const ReductionLowering* findReductionLowering(const ValueInfo& info);
/// The type in which a pointwise op computes (float32 for half types).
DType computeTypeOf(const ValueInfo& info);
/// Schema positions of the element operands (tensors and numbers), in order.
std::vector<std::size_t> elementOperands(const ValueInfo& info);
/// Dimensions that a reduction removes.
Result<std::vector<bool>> reducedDimensions(const ValueInfo& info, std::size_t rank);
bool keepsDimensions(const ValueInfo& info);

std::span<const PointwiseLowering> arithmeticLowerings();
std::span<const PointwiseLowering> activationLowerings();
std::span<const PointwiseLowering> creationLowerings();
std::span<const ReductionLowering> reductionLowerings();

}  // namespace kerf::inline lower
