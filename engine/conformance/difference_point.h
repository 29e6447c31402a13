// DifferencePoint: a call of an op in float64 (or complex128) at a point where it can be differentiated by differences.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "engine/ops/core/composite.h"

namespace kerf::inline conformance {

/// What floating-point arguments become.
enum class NumberField { Real, Complex };

/// Where the arguments lie: the recorded values, each moved a little off ties and kinks, or random ones.
enum class PointKind { Nudged, Inside, Above, Around };

/// A floating-point tensor among the arguments, or the item of a list of them.
struct DifferenceLeaf {
  std::size_t argument;
  int item;  ///< -1: the argument itself
};

/// A call's arguments with another tensor for one of them.
BoundArguments replacedTensor(BoundArguments args, DifferenceLeaf leaf, const Tensor& tensor);

class DifferencePoint {
 public:
  /// The call with its floating-point tensors as 64-bit numbers of `field`. `row` is what is called: the op itself, or
  /// the op that it is a form of.
  DifferencePoint(const OpInfo& row, const BoundArguments& call, NumberField field);
  /// Moves the arguments.
  void moveTo(PointKind kind, std::mt19937& random);

  NumberField field() const { return m_field; }
  /// The floating-point tensors that may have a gradient.
  const std::vector<DifferenceLeaf>& leaves() const { return m_leaves; }
  const BoundArguments& arguments() const { return m_args; }
  const Tensor& tensorOf(DifferenceLeaf leaf) const;
  BoundArguments with(DifferenceLeaf leaf, const Tensor& tensor) const;
  /// A random tensor like an argument; symmetric where the argument must stay so.
  Tensor direction(DifferenceLeaf leaf, std::mt19937& random) const;
  /// What the call gives, one Value per schema return. Arguments are copied first: some ops write into them. Random ops
  /// draw the same numbers every time.
  Result<ValueList> run(const BoundArguments& args, const OpCaller& ops) const;

 private:
  const OpInfo& m_row;
  BoundArguments m_args;
  NumberField m_field;
  std::vector<DifferenceLeaf> m_numbers;  ///< all floating-point tensors
  std::vector<DifferenceLeaf> m_leaves;
};

/// Tensors of floating-point or complex numbers among results, in order; those of the results for which `flows` says no
/// are left out.
std::vector<Tensor> numberTensors(const ValueList& results, const std::vector<bool>& flows);
/// A random tensor like this one, elements in (-1, 1).
Tensor randomLike(const Tensor& tensor, std::mt19937& random);
/// Elements as doubles, two for a complex one.
std::vector<double> numbersOf(const Tensor& tensor);
std::vector<double> numbersOf(const std::vector<Tensor>& tensors);
/// tensor + factor · direction
Tensor movedAlong(const Tensor& tensor, const Tensor& direction, double factor);

}  // namespace kerf::inline conformance
