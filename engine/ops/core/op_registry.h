// The op table: one row per ATen overload with schema, traits, shape rule and kernel. Everything asks this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"
#include "engine/ops/core/lowering.h"
#include "engine/ops/core/sharding.h"
#include "engine/support/result.h"

namespace kerf::inline symbolic {
class ShapeEnv;
}

namespace kerf::inline ops {

/// Bit set of op properties that passes, fusion and partitioning ask for.
enum class OpTrait : std::uint32_t {
  None = 0,
  Pointwise = 1u << 0,  ///< output element i depends on (broadcast) input elements i only
  Reduction = 1u << 1,
  View = 1u << 2,     ///< output aliases the first tensor argument
  Inplace = 1u << 3,  ///< mutates an argument
  Random = 1u << 4,
  Impure = 1u << 5,         ///< must not be removed or merged (asserts, collectives, mutation)
  DataDependent = 1u << 6,  ///< output shape depends on values
  Matmul = 1u << 7,         ///< compute-heavy: GEMM, attention
  Convolution = 1u << 8,
  Instrument = 1u << 9,  ///< put into graphs by Kerf; users are shown the node whose result it takes (instruments.h)
};
constexpr OpTrait operator|(OpTrait a, OpTrait b) { return OpTrait(std::uint32_t(a) | std::uint32_t(b)); }
constexpr bool has(OpTrait set, OpTrait trait) { return (std::uint32_t(set) & std::uint32_t(trait)) != 0; }

struct SchemaArgument {
  std::string name;
  std::string type;  ///< as in the schema: "Tensor", "int[2]", "Scalar?", "ScalarType?"
  std::optional<Argument> defaultValue;
  bool keywordOnly = false;
  std::string alias;  ///< "a" or "a!" from Tensor(a) / Tensor(a!), empty if none
};

struct OpSchema {
  std::string name;      ///< "aten::add"
  std::string overload;  ///< "Tensor", "" is "default"
  std::vector<SchemaArgument> arguments;
  std::vector<std::string> returns;
  std::string text;
  /// "aten.add.Tensor", "aten.relu.default"
  std::string qualifiedName() const;
};

Result<OpSchema> parseSchema(std::string_view text);

/// Arguments of one call after binding to the schema: one Value per schema argument, defaults filled in.
struct BoundArguments;
class OpRunner;
struct CallRecord;

using Kernel = Result<Value> (*)(const BoundArguments&);
/// Sizes, strides, offset and dtype of the results: tensors without storage, as PyTorch's meta functions give them.
/// Arguments may lack storage too. UnsupportedOp where the shape depends on values.
using ShapeRule = Result<Value> (*)(const BoundArguments&);
/// An op as a program over other ops (composite.h).
using Composite = Result<Value> (*)(const BoundArguments&, const OpRunner&);

/// Floating point operations of one call (cost.h).
using FlopFormula = double (*)(const BoundArguments&, const ValueList& results);

struct OpRow;

struct OpInfo {
  OpId id;
  OpSchema schema;
  OpTrait traits = OpTrait::None;
  Kernel kernel = nullptr;
  ShapeRule shape = nullptr;
  Composite composite = nullptr;      ///< the op is this program: run, shaped and decomposed by it
  Composite decomposition = nullptr;  ///< `composite`, or what a trace may write in place of an op with a kernel
  Lowering lowering;
  Result<ValueList> (*gradient)(const CallRecord&, const ValueList&, const OpRunner&) = nullptr;  ///< gradient.h
  Result<Value> (*jvp)(const CallRecord&, const ValueList&, const OpRunner&) = nullptr;           ///< gradient.h
  FlopFormula flops = nullptr;
  ShardingRule sharding;
  OpId base;                                   ///< the op that this row is another form of; OpId{} for most
  const OpRow* row = nullptr;                  ///< the table line it was made from
  std::vector<std::optional<Value>> defaults;  ///< per schema argument
};

/// The row of an op; null if the table has none. Texts may be "torch.ops.aten.add.Tensor", "aten.add.Tensor",
/// "aten.relu" or "operator.getitem".
const OpInfo* findOp(OpId op);
const OpInfo* findOp(const OpTarget& target);
/// The row that a call_function node calls; null for other opcodes.
const OpInfo* findOp(const Node& node);
/// All rows, sorted by qualified name.
std::span<const OpInfo> allOps();

/// Result metas of one call from the metas of its arguments (tensors without storage will do); computes no data.
Result<Value> inferShapes(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs);

/// The OpCaller over this table: binds arguments, checks them, runs the kernel on CPU tensors.
const OpCaller& referenceOps();
/// The OpCaller that only computes shapes: every op's shape rule, on tensors without data.
const OpCaller& shapeOps();

/// Fills node.meta().value of every node from the placeholders' metas, by the shape rules (exact strides as PyTorch).
/// Nodes of unknown ops, and what depends on them, keep what they had. Errors name the node.
Result<void> propagateShapes(GraphModule& module);
/// The same with the placeholders' symbols in `env`, which has the guards afterwards.
Result<void> propagateShapes(GraphModule& module, ShapeEnv& env);

}  // namespace kerf::inline ops
