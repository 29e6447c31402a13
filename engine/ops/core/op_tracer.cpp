#include "engine/ops/core/op_tracer.h"

#include <algorithm>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/invented_numbers.h"
#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/symbolic_numbers.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

bool holdsTensor(const Value& value) {
  return value.isTensor() || (value.isList() && std::ranges::any_of(value.list(), holdsTensor));
}

/// "torch.ops.aten.add.Tensor"; Python's own functions stay as they are.
std::string targetOf(const OpInfo& op) {
  const std::string name = op.schema.qualifiedName();
  const bool python = name.starts_with("operator.") || name.starts_with("torch.") || name.starts_with("math.");
  return python ? name : "torch.ops." + name;
}

/// "add" of "aten::add", as AOTAutograd names nodes.
std::string_view hintOf(const OpInfo& op) {
  const std::string_view name = op.schema.name;
  return name.substr(std::min(name.size(), name.rfind(':') + 1));
}

struct AttributeName {
  const GraphModule& module;
  std::string next() const {
    for (int i = 0;; ++i)
      if (std::string name = fmt::format("_tensor_constant{}", i); !module.attribute(name)) return name;
  }
};

}  // namespace

bool isComposite(const OpInfo& op) { return op.composite != nullptr; }

Value OpTracer::tag(const Value& value, NodeId node, int item) const {
  if (value.isTensor()) {
    Tensor tensor = value.tensor();
    tensor.traced = int(m_values.size());
    m_values.push_back({node, item});
    for (std::int64_t d = 0; tensor.isSymbolic() && d < tensor.dim(); ++d)
      if (tensor.symSize(d).isSymbolic()) m_sources.try_emplace(tensor.symSize(d).bits(), SizeSource{tensor, d});
    return tensor;
  }
  if (const auto* number = value.as<SymNumber>(); number && item < 0) m_numbers.try_emplace(number->value.bits(), node);
  if (!value.isList() || item >= 0) return value;
  ValueList items;
  for (const Value& part : value.list()) items.push_back(tag(part, node, int(items.size())));
  return items;
}

Tensor OpTracer::sameValue(const Tensor& tensor) const {
  Tensor other = tensor;
  other.traced = int(m_values.size());
  m_values.push_back(m_values[std::size_t(tensor.traced)]);
  return other;
}

Result<Value> OpTracer::valueOfNode(NodeId node) {
  const auto value = valueOf(m_module.graph.node(node).meta().value);
  if (value) return tag(*value, node, -1);
  return fail(ErrorCode::UnsupportedOp, "nothing is known of the value of '{}'", m_module.graph.node(node).name());
}

Result<Value> OpTracer::placeholder(std::string_view name, const Value& example) {
  if (example.isList()) {
    ValueList items;
    for (const Value& item : example.list()) {
      KERF_TRY(Value value, holdsTensor(item) ? placeholder(fmt::format("{}_{}", name, items.size()), item) : item);
      items.push_back(std::move(value));
    }
    return Value(std::move(items));
  }
  if (!example.isTensor()) return example;
  const NodeId node = m_module.graph.placeholder(name);
  m_module.graph.setValueMeta(node, metaOf(example));
  return valueOfNode(node);
}

Result<Argument> OpTracer::argumentOf(const Tensor& tensor) const {
  Graph& graph = m_module.graph;
  if (tensor.traced < 0) {
    if (!tensor.defined()) return fail(ErrorCode::Internal, "a program made a tensor that no op gave");
    const std::string name = AttributeName{m_module}.next();
    m_module.attributes.add(name, TensorAttribute{tensor});
    const NodeId node = graph.getAttr(name);
    graph.setValueMeta(node, {metaOf(tensor)});
    return Argument(node);
  }
  Traced& traced = m_values[std::size_t(tensor.traced)];
  if (traced.item >= 0) {
    NodeId& item = m_items[{traced.node.index, traced.item}];
    if (!item.valid() || !graph.contains(item)) {
      item = graph.callFunction("operator.getitem", {Argument(traced.node), Argument(traced.item)}, {}, "getitem");
      graph.setValueMeta(item, {metaOf(tensor)});
    }
    traced = {item, -1};
  }
  return Argument(traced.node);
}

Result<Argument> OpTracer::argumentOf(const SymNumber& number) const {
  const std::int64_t key = number.value.bits();
  if (const auto found = m_numbers.find(key); found != m_numbers.end()) return Argument(found->second);
  const auto source = m_sources.find(key);
  if (source == m_sources.end()) {
    const ValueMeta meta = metaOf(Value(number));
    return Argument(meta.sym()->expr);
  }
  KERF_TRY(Argument tensor, argumentOf(source->second.tensor));
  const NodeId node = m_module.graph.callFunction("torch.ops.aten.sym_size.int",
                                                  {std::move(tensor), Argument(source->second.dim)}, {}, "sym_size");
  m_module.graph.setValueMeta(node, metaOf(Value(number)));
  m_numbers.emplace(key, node);
  return Argument(node);
}

Result<Argument> OpTracer::argumentOf(const Value& value) const {
  if (value.isTensor()) return argumentOf(value.tensor());
  if (const auto* number = value.as<SymNumber>()) return argumentOf(*number);
  if (value.isList()) {
    ArgumentList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Argument argument, argumentOf(item));
      items.push_back(std::move(argument));
    }
    return Argument::list(std::move(items));
  }
  return std::visit(
      []<class T>(const T& held) -> Argument {
        if constexpr (std::is_constructible_v<Argument, T>) return Argument(held);
        return {};
      },
      value.variant());
}

Result<Value> OpTracer::record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const Value shape, inferShapes(op.id, args, kwargs));
  const bool isKnown = !holdsTensor(shape) && !has(op.traits, OpTrait::Impure | OpTrait::DataDependent);
  if (isKnown) return shape;  // a number
  ArgumentList arguments;
  for (const Value& value : args) {
    KERF_TRY(Argument argument, argumentOf(value));
    arguments.push_back(std::move(argument));
  }
  KeywordArguments keywords;
  for (const auto& [name, value] : kwargs) {
    KERF_TRY(Argument argument, argumentOf(value));
    keywords.emplace_back(name, std::move(argument));
  }
  const NodeId node = m_module.graph.callFunction(targetOf(op), std::move(arguments), std::move(keywords), hintOf(op));
  m_module.graph.setValueMeta(node, metaOf(shape));
  return tag(shape, node, -1);
}

Result<Value> OpTracer::decompose(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  return replace(op, true, args, kwargs);
}

Result<Value> OpTracer::replace(const OpInfo& op, const Replacement& by, const ValueList& args,
                                const KeywordValues& kwargs) const {
  KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
  if (op.composite == nullptr) {  // a program may rely on what the op itself accepts
    const auto shape = inferShapes(op.id, args, kwargs);
    if (!shape && shape.error().code != ErrorCode::UnsupportedOp) return std::unexpected(shape.error());
  } else {
    KERF_CHECK(checkOperands(bound));
  }
  if (by.applies != nullptr && !by.applies(bound)) return record(op, args, kwargs);
  if (inventsNumbers(bound, args, kwargs))
    return fail(ErrorCode::UnsupportedOp, "{}: a number of a program is a tensor's element", op.schema.qualifiedName());
  const Composite program = by.program != nullptr ? by.program : op.decomposition;
  return withoutThrowing([&] { return program(bound, OpRunner(*this)); });
}

Result<Value> OpTracer::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  if (ShapeEnv::current() != nullptr && holdsSymbolic(args))
    if (auto result = callOnSymbols(target, args, kwargs)) return std::move(*result);
  const OpInfo* op = findOp(target);
  if (!op) {
    if (callsWithoutRow().isPython(target.text)) return callsWithoutRow().python(target.text, args, kwargs, *this);
    return fail(ErrorCode::UnsupportedOp, "no op {} to trace", target.text);
  }
  if (op->id == "operator.getitem"_op && !args.empty()) {
    if (args[0].isList()) return referenceOps().call(op->id, args, kwargs);
    return callsWithoutRow().python("operator.getitem", args, kwargs, *this);
  }
  if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
  const Replacement by = m_decomposes(*op);
  if (by.replaces && (by.program != nullptr || op->decomposition != nullptr)) return replace(*op, by, args, kwargs);
  return record(*op, args, kwargs);
}

Result<Value> OpTracer::callHigherOrder(const OpTarget& target, const ValueList&, const KeywordValues&,
                                        const SubgraphCaller&) const {
  return fail(ErrorCode::UnsupportedOp, "{} calls graphs and cannot be traced", target.text);
}

Result<GraphModule> traceCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                              const Decomposes& decomposes) {
  KERF_TRY(BoundArguments bound, bindArguments(op, args, kwargs));
  GraphModule module;
  OpTracer tracer(module, decomposes);
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    KERF_TRY(bound.values[i], tracer.placeholder(op.schema.arguments[i].name, bound.values[i]));
  }
  Result<Value> result = fail(ErrorCode::UnsupportedOp, "{} has no decomposition", op.schema.qualifiedName());
  if (op.decomposition) result = withoutThrowing([&] { return op.decomposition(bound, OpRunner(tracer)); });
  KERF_CHECK(result);
  KERF_TRY(Argument output, tracer.argumentOf(*result));
  module.graph.output(std::move(output));
  KERF_CHECK(module.graph.lint());
  return module;
}

}  // namespace kerf::inline ops
