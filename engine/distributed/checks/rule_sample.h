// RuleSample: a recorded call that a sharding rule is proved with, what it gives on whole tensors, and what ranks have of
// its operands under any placements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/conformance/recorded_call.h"
#include "engine/distributed/group/device_mesh.h"
#include "engine/distributed/sharding/placement.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline distributed::inline checks {

/// Tensors that were floating are float64: rounding hides nothing then.
struct RuleSample {
  std::int64_t id = 0;
  bool isComplex = false;  ///< floating tensors were made complex128
  const OpInfo* op = nullptr;
  ValueList args;
  KeywordValues kwargs;
  std::vector<Tensor> tensors;  ///< of args and kwargs, in order
  ValueList plain;              ///< results on whole tensors: tensors and numbers, in order
  std::vector<Tensor> after;    ///< `tensors` after the call, of ops that write; else empty

  /// Arguments with these tensors in place of its own.
  std::pair<ValueList, KeywordValues> with(const std::vector<Tensor>& others) const;
  std::int64_t elements() const;
};

/// Why an overload cannot be proved by its calls at all; empty where it can. Shown to users.
std::string unprovable(const OpInfo& op);
/// The call in float64 or complex128. BadInput, saying why as users are shown, for calls that prove nothing.
Result<RuleSample> ruleSample(const RecordedCall& call, const OpInfo& op, bool isComplex);

/// What an operand may be placed like along one dimension of a mesh. Wide: stripes, products and masks too.
std::vector<Placement> placementOptions(const Tensor& tensor, bool isWide);
/// What one rank has: its part, and placements of its own where they have a mask.
struct RulePart {
  Tensor local;
  Placements placements;
};
/// Parts of sums that cannot cancel (weights of changing signs, exact in float64); under a mask other rows hold what is
/// nobody's value.
Result<RulePart> partUnder(const Placements& placements, const Tensor& whole, const DeviceMesh& mesh,
                           const Sizes& coordinate);

/// The tensors and numbers of a result, in order.
void collectResults(const Value& value, ValueList& out);
/// What differs beyond rounding in float64; empty: nothing. Sizes, dtypes and values of tensors, values of numbers.
std::string resultDifference(const Value& own, const Value& whole);

}  // namespace kerf::inline distributed::inline checks
