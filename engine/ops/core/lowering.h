// Lowering: how an op becomes loop IR: one expression per element, or per reduced element. An op without one runs as an
// extern kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/symbolic/sym_sizes.h"

namespace kerf::inline ops {

struct BoundArguments;
struct ElementCall;
struct PointwiseCall;
struct ReductionCall;
struct WriteCall;
struct Write;

/// Which types of operands a lowering is right for.
enum class OperandTypes : std::uint8_t {
  Any,      ///< floats, integers and bool, in the promoted type
  Numbers,  ///< floats and integers
  Floats,
  Integers,  ///< integers and bool
  Raw,       ///< operands keep their own (compute) types
};

/// The loops over what an op writes, and which of them may write to one place again: those run in order.
struct WriteLoops {
  SymSizes sizes;
  std::vector<bool> serial;
};

/// How an op that writes at computed places becomes two nests of loops: one fills its result, one writes into it.
struct WriteLowering {
  bool (*covers)(const BoundArguments&);
  int (*fill)(const ElementCall&);  ///< an element of the result before anything is written
  WriteLoops (*loops)(const BoundArguments&);
  Write (*write)(const WriteCall&);
  std::uint32_t elements = 0;  ///< bits: arguments that are read at affine places only, so that they need no memory
};

struct Lowering {
  int (*pointwise)(const PointwiseCall&) = nullptr;  ///< one of these, or none: no lowering
  int (*reduction)(const ReductionCall&) = nullptr;
  int (*element)(const ElementCall&) = nullptr;     ///< reads its operands at places of its own
  int (*scan)(const ReductionCall&) = nullptr;      ///< what the elements up to one, along `dim`, make
  const WriteLowering* writes = nullptr;            ///< beside or instead of `element`, for the calls that it covers
  bool (*covers)(const BoundArguments&) = nullptr;  ///< which calls the lowering is right for; null: all
  /// Right only if this takes every step, back to one whose second item is used, that made argument `place`'s values;
  /// `next`: the step before, null for the one whose result the call takes. Null: any values do.
  bool (*madeBy)(const BoundArguments& call, const BoundArguments& step, const BoundArguments* next) = nullptr;
  int place = -1;
  OperandTypes types = OperandTypes::Any;
  int cost = 0;                  ///< of a pointwise one, as ExprOpInfo::cost
  int items = 1;                 ///< of a reduction: 1, or the length of the tuple it returns
  bool keepsDimensions = false;  ///< of a reduction whose schema has no `keepdim`

  explicit operator bool() const { return pointwise || reduction || element || scan || writes; }
};

}  // namespace kerf::inline ops
