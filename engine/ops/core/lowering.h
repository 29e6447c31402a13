// Lowering: how an op becomes loop IR: one expression per element, or per reduced element. An op without one runs as an
// extern kernel.
#pragma once

#include <cstdint>

namespace kerf::inline ops {

struct BoundArguments;
struct ElementCall;
struct PointwiseCall;
struct ReductionCall;

/// Which types of operands a lowering is right for.
enum class OperandTypes : std::uint8_t {
  Any,      ///< floats, integers and bool, in the promoted type
  Numbers,  ///< floats and integers
  Floats,
  Integers,  ///< integers and bool
  Raw,       ///< operands keep their own (compute) types
};

struct Lowering {
  int (*pointwise)(const PointwiseCall&) = nullptr;  ///< one of the three, or none: no lowering
  int (*reduction)(const ReductionCall&) = nullptr;
  int (*element)(const ElementCall&) = nullptr;    ///< reads its operands at places of its own
  bool (*covers)(const BoundArguments&) = nullptr;  ///< which calls `element` is right for; null: all
  /// Right only if this takes every step, back to one whose second item is used, that made argument `place`'s values;
  /// `next`: the step before, null for the one whose result the call takes. Null: any values do.
  bool (*madeBy)(const BoundArguments& call, const BoundArguments& step, const BoundArguments* next) = nullptr;
  int place = -1;
  OperandTypes types = OperandTypes::Any;
  int cost = 0;   ///< of a pointwise one, as ExprOpInfo::cost
  int items = 1;  ///< of a reduction: 1, or the length of the tuple it returns
  bool keepsDimensions = false;  ///< of a reduction whose schema has no `keepdim`

  explicit operator bool() const { return pointwise || reduction || element; }
};

}  // namespace kerf::inline ops
