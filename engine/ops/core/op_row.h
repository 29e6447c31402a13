// OpRow: one line of an op family's table, with all columns of an overload or with those that stand beside its kernel.
// A new op is a new line in one of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

struct PointwiseCall;
struct PointwiseSpec;

/// The columns that follow kernel and shape rule: of one row, or of the overloads of an op whose rows stand elsewhere.
struct OpFacts {
  const char* op = nullptr;  ///< "aten::add": every overload; "aten::add.Scalar": that one; null: the row's own
  Lowering lowering = {};
  Composite decomposition = nullptr;  ///< of an op that has a kernel of its own
  Result<ValueList> (*gradient)(const CallRecord&, const ValueList&, const OpRunner&) = nullptr;  ///< gradient.h
  Result<Value> (*jvp)(const CallRecord&, const ValueList&, const OpRunner&) = nullptr;           ///< gradient.h
  FlopFormula flops = nullptr;
  ShardingRule sharding = {};
};

struct OpRow {
  const char* schema;  ///< ATen schema text
  OpTrait traits = OpTrait::None;
  ShapeRule shape = nullptr;
  Kernel kernel = nullptr;
  const PointwiseSpec* pointwise = nullptr;  ///< element function of pointwise rows
  const char* base = nullptr;                ///< qualified name of the op that this row is another form of
  Composite composite = nullptr;  ///< the row as a program: gives kernel and shape rule where those are not set
  OpFacts facts = {};

  // The same row with one column more: pointwiseRow("aten::mish(Tensor self) -> Tensor",
  // real<Mish>).decomposition(mish)

  /// Of an element-wise op: the expression of one element, for operands of these types, and what it costs.
  constexpr OpRow lowering(OperandTypes types, int (*build)(const PointwiseCall&), int cost) const {
    return lowering({.pointwise = build, .types = types, .cost = cost});
  }
  constexpr OpRow lowering(const Lowering& lowering) const {
    OpRow row = *this;
    row.facts.lowering = lowering;
    return row;
  }
  constexpr OpRow decomposition(Composite program) const {
    OpRow row = *this;
    row.facts.decomposition = program;
    return row;
  }
  /// Gradient and jvp: `slope<mish>`, `differentiable<prelu, preluTangent>`, `notDifferentiable` (gradient_rules.h).
  constexpr OpRow derivative(OpFacts (*columns)(const char* op)) const {
    OpRow row = *this;
    const OpFacts derivatives = columns(nullptr);
    row.facts.gradient = derivatives.gradient;
    row.facts.jvp = derivatives.jvp;
    return row;
  }
  constexpr OpRow flops(FlopFormula formula) const {
    OpRow row = *this;
    row.facts.flops = formula;
    return row;
  }
  constexpr OpRow sharding(ShardingRule rule) const {
    OpRow row = *this;
    row.facts.sharding = rule;
    return row;
  }
};

using OpRows = std::span<const OpRow>;
using OpFactRows = std::span<const OpFacts>;

/// The rows of every file, file by file.
std::vector<OpRows> opFamilies();
/// The columns that files have for rows of other files.
std::vector<OpFactRows> opFactTables();
/// Rows that stand in for those of the same schema when an argument is complex.
std::vector<OpRows> complexFamilies();
/// The folder that an op's row stands in: "pointwise".
std::string_view folderOf(const OpInfo& op);

}  // namespace kerf::inline ops
