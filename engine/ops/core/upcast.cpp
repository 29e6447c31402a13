#include "engine/ops/core/upcast.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "engine/ir/interpreter.h"
#include "engine/mathlib/exact_sums.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/written_operands.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using TensorMap = std::function<Result<Tensor>(const Tensor&)>;

/// The value with every tensor replaced.
Result<Value> mapTensors(const Value& value, const TensorMap& map) {
  if (value.isTensor()) {
    KERF_TRY(Tensor mapped, map(value.tensor()));
    return Value(std::move(mapped));
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value mapped, mapTensors(item, map));
    items.push_back(std::move(mapped));
  }
  return Value(std::move(items));
}

DType widened(DType dtype) {
  if (isComplex(dtype)) return DType::Complex128;
  return isFloating(dtype) ? DType::Float64 : dtype;
}

/// Keeps strides, so that what views see stays where it was.
Result<Tensor> converted(const Tensor& tensor, DType dtype) {
  if (!tensor.defined() || dtype == tensor.dtype()) return tensor;
  if (tensor.isContiguous()) return tensor.to(dtype);
  KERF_TRY(Tensor result, Tensor::zerosStrided(dtype, tensor.sizes(), tensor.strides()));
  KERF_CHECK(copyElements(tensor, result));
  result.setDevice(tensor.device());
  return result;
}

Result<Tensor> widen(const Tensor& tensor) { return converted(tensor, widened(tensor.dtype())); }
Result<Tensor> narrow(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  return converted(tensor, dtype == DType::Float64      ? DType::Float32
                           : dtype == DType::Complex128 ? DType::Complex64
                                                        : dtype);
}

Value wideDType(const Value& value) {
  const auto* dtype = value.as<DType>();
  return dtype ? Value(widened(*dtype)) : value;
}

/// Ops that only convert: to them a narrow dtype argument is a rounding.
constexpr std::array<std::string_view, 4> conversions = {"prims.convert_element_type", "aten._to_copy", "aten.to.",
                                                         "aten.type_as"};

bool isConversion(std::string_view target) {
  return std::ranges::any_of(conversions,
                             [&](std::string_view name) { return target.find(name) != std::string_view::npos; });
}

std::optional<DType> narrowDTypeOf(const ValueList& args, const KeywordValues& kwargs) {
  std::optional<DType> found;
  const auto look = [&](const Value& value) {
    if (const auto* dtype = value.as<DType>(); dtype && isFloating(*dtype) && *dtype != DType::Float64) found = *dtype;
  };
  for (const Value& value : args) look(value);
  for (const auto& [name, value] : kwargs) look(value);
  return found;
}

class UpcastOps : public OpCaller {
 public:
  explicit UpcastOps(bool keepRounding) : m_keepRounding(keepRounding) {}

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const OpInfo* op = findOp(target);
    const bool random = op && has(op->traits, OpTrait::Random);
    if (random) return callNarrow(op, target, args, kwargs);
    auto result = callWith(target, args, kwargs, widen, true);
    if (result) return m_keepRounding && isConversion(target.text) ? rounded(*result, args, kwargs) : result;
    // Some ops take no fp64 at all; the graph's own run tells whether it was that.
    auto native = callNarrow(op, target, args, kwargs);
    return native ? native : result;
  }

 private:
  /// What the op writes to narrow copies goes back to what they are copies of.
  static Result<Value> callNarrow(const OpInfo* op, const OpTarget& target, const ValueList& args,
                                  const KeywordValues& kwargs) {
    std::vector<std::pair<Tensor, Tensor>> copies;  // wide, narrow
    const TensorMap narrowed = [&](const Tensor& tensor) -> Result<Tensor> {
      KERF_TRY(Tensor copy, narrow(tensor));
      if (tensor.defined() && copy.storage() != tensor.storage()) copies.emplace_back(tensor, copy);
      return copy;
    };
    KERF_TRY(const Value result, callWith(target, args, kwargs, narrowed, false));
    if (op != nullptr && !writesArguments(*op)) return result;
    for (const auto& [wide, copy] : copies) KERF_CHECK(copyElements(copy, wide));
    return result;
  }

  /// Runs the op on mapped tensors; the results are wide.
  static Result<Value> callWith(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const TensorMap& map, bool wideDTypes) {
    ValueList mappedArgs;
    for (const Value& value : args) {
      KERF_TRY(Value mapped, mapTensors(value, map));
      mappedArgs.push_back(wideDTypes ? wideDType(mapped) : std::move(mapped));
    }
    KeywordValues mappedKwargs;
    for (const auto& [name, value] : kwargs) {
      KERF_TRY(Value mapped, mapTensors(value, map));
      mappedKwargs.emplace_back(name, wideDTypes ? wideDType(mapped) : std::move(mapped));
    }
    KERF_TRY(const Value result, referenceOps().call(target, mappedArgs, mappedKwargs));
    return mapTensors(result, widen);
  }

  static Result<Value> rounded(const Value& wide, const ValueList& args, const KeywordValues& kwargs) {
    const auto dtype = narrowDTypeOf(args, kwargs);
    if (!dtype) return wide;
    return mapTensors(wide, [&](const Tensor& tensor) -> Result<Tensor> {
      if (tensor.dtype() != DType::Float64) return tensor;
      KERF_TRY(const Tensor narrowed, converted(tensor, *dtype));
      return widen(narrowed);
    });
  }

  bool m_keepRounding;
};

/// Widens what comes in, so that later nodes that write into inputs write into what others read.
class UpcastInterpreter : public Interpreter {
 public:
  using Interpreter::Interpreter;

 protected:
  Result<Value> placeholder(const Node& node, const Value& input) override {
    KERF_TRY(const Value value, Interpreter::placeholder(node, input));
    return mapTensors(value, widen);
  }
  Result<Value> getAttr(const Node& node) override {
    KERF_TRY(const Value value, Interpreter::getAttr(node));
    return mapTensors(value, widen);
  }
  Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    KERF_TRY(Value result, Interpreter::callFunction(node, args, kwargs));
    return copiedAsRecorded(module().graph, node, args, std::move(result));
  }
  Result<Value> callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    KERF_TRY(Value result, Interpreter::callMethod(node, args, kwargs));
    return copiedAsRecorded(module().graph, node, args, std::move(result));
  }
};

/// Methods that give the tensor itself where it has the dtype already.
constexpr std::string_view dtypeMethods[] = {"double", "float", "half", "bfloat16", "type", "type_as"};
bool convertsOnDemand(const Node& node) {
  return node.op() == Opcode::CallMethod && node.args().size() < 3 && node.kwargs().empty() &&
         std::ranges::find(dtypeMethods, node.target()) != std::end(dtypeMethods);
}

/// The floating dtype that was recorded of a node.
std::optional<DType> recordedFloatOf(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  return meta != nullptr && isFloating(meta->dtype) ? std::optional(meta->dtype) : std::nullopt;
}

/// Tensors without data that have the dtypes of a node's meta.
Value dtypesOf(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return Tensor(nullptr, tensor->dtype, {}, {});
  if (!meta.list()) return {};
  ValueList items;
  for (const ValueMeta& item : *meta.list()) items.push_back(dtypesOf(item));
  return Value(std::move(items));
}

/// The dtypes of `like` for the tensors of `value`.
Result<Value> withDTypesOf(const Value& value, const Value& like) {
  if (value.isList() && like.isList() && value.list().size() == like.list().size()) {
    ValueList items;
    for (std::size_t i = 0; i < value.list().size(); ++i) {
      KERF_TRY(Value item, withDTypesOf(value.list()[i], like.list()[i]));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }
  if (!value.isTensor() || !like.isTensor()) return value;
  KERF_TRY(Tensor narrowed, converted(value.tensor(), like.tensor().dtype()));
  return Value(std::move(narrowed));
}

}  // namespace

std::unique_ptr<OpCaller> upcastOps(bool keepRounding) { return std::make_unique<UpcastOps>(keepRounding); }

Result<Value> widened(const Value& value) { return mapTensors(value, widen); }

Result<Value> copiedAsRecorded(const Graph& graph, const Node& node, const ValueList& args, Value result) {
  const NodeId* operand = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  if (operand == nullptr || args.empty() || !args[0].isTensor() || !result.isTensor()) return result;
  const Tensor& made = result.tensor();
  const auto from = recordedFloatOf(graph.node(*operand)), to = recordedFloatOf(node);
  if (!made.defined() || !from || !to || node.isCall("aten.view.dtype"_op)) return result;
  if (*from == *to) return convertsOnDemand(node) ? args[0] : result;
  if (made.storage() != args[0].tensor().storage()) return result;
  KERF_TRY(Tensor copy, made.clonePreservingStrides());
  return Value(std::move(copy));
}

Result<Value> runUpcast(const GraphModule& module, const ValueList& inputs, const UpcastOptions& options,
                        std::stop_token stop) {
  const UpcastOps ops(options.keepRounding);
  KERF_TRY(Value result, UpcastInterpreter(module, ops).run(inputs, stop));
  if (!options.roundOutputs) return result;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() != Opcode::Output || node.args().empty()) continue;
    std::map<std::uint32_t, Value> metas;
    for (const NodeId input : node.inputs()) metas[input.index] = dtypesOf(module.graph.node(input).meta().value);
    KERF_TRY(const Value like,
             argumentToValue(node.args().front(), [&](NodeId input) -> const Value& { return metas[input.index]; }));
    return withDTypesOf(result, like);
  }
  return result;
}

Result<Value> runWithExactSums(const GraphModule& module, const ValueList& inputs, std::stop_token stop) {
  const ExactSums scope;
  return Interpreter(module, referenceOps()).run(inputs, stop);
}

}  // namespace kerf::inline ops
