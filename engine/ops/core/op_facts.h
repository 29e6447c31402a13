// Lines of columns for the op table: of all overloads of an op, or of one, whose rows stand in another table.
#pragma once

#include "engine/ops/core/gradient.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

constexpr OpFacts pointwiseLowering(const char* op, OperandTypes types, int (*build)(const PointwiseCall&), int cost) {
  return {.op = op, .lowering = {.pointwise = build, .types = types, .cost = cost}};
}
constexpr OpFacts reductionLowering(const char* op, OperandTypes types, int (*build)(const ReductionCall&), int items,
                                    bool keepsDimensions = false) {
  return {.op = op,
          .lowering = {.reduction = build, .types = types, .items = items, .keepsDimensions = keepsDimensions}};
}
/// A lowering for the calls that `covers` says.
constexpr OpFacts loweringWhere(bool (*covers)(const BoundArguments&), OpFacts facts) {
  facts.lowering.covers = covers;
  return facts;
}
constexpr OpFacts elementLowering(const char* op, int (*build)(const ElementCall&),
                                  bool (*covers)(const BoundArguments&) = nullptr) {
  return {.op = op, .lowering = {.element = build, .covers = covers, .types = OperandTypes::Raw, .cost = 4}};
}
constexpr OpFacts writeLowering(const char* op, const WriteLowering& writes) {
  return {.op = op, .lowering = {.writes = &writes}};
}
constexpr OpFacts scanLowering(const char* op, OperandTypes types, int (*build)(const ReductionCall&), int items) {
  return {.op = op, .lowering = {.scan = build, .types = types, .items = items}};
}
/// Gradient and jvp of an element-wise op.
template <Slope slope>
constexpr OpFacts slopeOf(const char* op) {
  return {.op = op, .gradient = elementGradient<slope>, .jvp = elementJvp<slope>};
}
/// Of an op through which no gradient flows.
constexpr OpFacts notDifferentiable(const char* op) { return {.op = op, .gradient = nothingFlows, .jvp = noTangent}; }
/// Of an op that PyTorch does not differentiate although it could be: asking for it is UnsupportedOp.
constexpr OpFacts withoutDerivative(const char* op) {
  return {.op = op, .gradient = noDerivative, .jvp = noDerivativeTangent};
}
/// Gradient of an op that is linear in each of its tensors.
constexpr OpFacts linearGradient(const char* op, Gradient gradient) {
  return {.op = op, .gradient = gradient, .jvp = multilinearJvp};
}

}  // namespace kerf::inline ops
