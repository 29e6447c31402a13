// What the functions of a Lowering are given: one element of a result, or one reduced element, and the builder for it.
#pragma once

#include <functional>
#include <span>

#include "engine/loops/expr_builder.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// One element of an element-wise result, and the builder that its expression goes into.
struct PointwiseCall {
  ExprBuilder& b;
  const BoundArguments& bound;    ///< tensors in it have no storage
  DType dtype;                    ///< of the result
  std::span<const int> operands;  ///< converted to `compute` (or Bool for a condition); -1: a missing optional
  DType compute;                  ///< promoted type in which arithmetic happens
  IndexMap map;                   ///< index of the element, per dimension of the result

  int x(std::size_t i) const { return operands[i]; }
  int number(double value) const { return b.constant(value, compute); }
};

/// A reduction: the element expression goes in, one value comes out.
struct ReductionCall {
  ExprBuilder& b;
  const BoundArguments& bound;
  DType dtype;        ///< of the result
  int item;           ///< which result of a tuple is wanted
  int element;        ///< in its stored type
  SymInt count;       ///< of the elements that are reduced into one
  bool reduces;       ///< false: every reduced dimension has size 1
  Affine index = {};  ///< where the element is along the one dimension of a scan or of a reduction
  /// `count` as a float64.
  int elements() const { return b.size(count, DType::Float64); }
  int reduce(ExprOp op, int value) const { return reduces ? b.reduce(op, value) : value; }
};

/// A place in one dimension of a tensor: an affine index, and beside it an int64 expression where that is not -1.
struct Place {
  Affine affine;
  int computed = -1;
};

/// The index itself, in every dimension.
inline std::vector<Place> affinePlaces(const IndexMap& map) {
  std::vector<Place> places;
  for (const Affine& index : map) places.push_back({index});
  return places;
}

/// Elements of operands that are in memory. `argument` counts in the schema, `item` in a list of tensors.
class ElementReader {
 public:
  virtual ~ElementReader() = default;
  /// The element in its stored type; `places` has one for each dimension, within its bounds.
  virtual int at(std::size_t argument, std::size_t item, std::span<const Place> places) = 0;
  /// The same where `condition` holds; elsewhere no memory is read, and the element is 0.
  virtual int atWhere(std::size_t argument, std::size_t item, const IndexMap& map, int condition) = 0;
  /// What an element of a tensor of indices says of dimension `dim`, whose size is `size`: int64 and, if it may be
  /// negative and is, counted from the end. All of the tensor are checked before the kernel runs.
  struct IndexUse {
    SymInt size;
    std::int64_t dim = 0;
    bool mayBeNegative = false;
  };
  virtual int index(std::size_t argument, std::size_t item, const IndexMap& map, const IndexUse& use) = 0;
};

/// One element of a result that is some element of an operand.
struct ElementCall {
  ExprBuilder& b;
  const BoundArguments& bound;  ///< tensors in it have no storage
  DType dtype;                  ///< of the result
  const IndexMap& map;          ///< index of the element, per dimension of the result
  ElementReader& operands;
  int item = 0;  ///< which result of a tuple is wanted

  int number(std::int64_t value) const { return b.integer(value, DType::Int64); }
  int size(SymInt value) const { return b.size(value, DType::Int64); }
};

/// One write of an op that writes at computed places.
struct WriteCall {
  ExprBuilder& b;
  const BoundArguments& bound;  ///< tensors in it have no storage
  DType dtype;                  ///< of the result
  const IndexMap& map;          ///< per loop of its WriteLoops
  ElementReader& operands;

  int size(SymInt value) const { return b.size(value, DType::Int64); }
};

/// `value(there)` is stored at `places` of the result, where `there` is what the result holds by then, both in the type
/// in which the result's is computed.
struct Write {
  std::vector<Place> places;
  std::function<int(int there)> value;
  bool needsThere = true;
};

}  // namespace kerf::inline ops
