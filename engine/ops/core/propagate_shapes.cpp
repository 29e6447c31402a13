// Shape propagation: the shape rules over a whole graph, on tensors without data.
#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>

#include "engine/ir/call_values.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/tensor_objects.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/shape_conflicts.h"

namespace kerf::inline ops {
namespace {

/// Shapes of nested graphs, by running them on tensors without data.
class NestedShapes : public SubgraphCaller {
 public:
  explicit NestedShapes(const GraphModule& module) : m_module(module) {}
  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override {
    KERF_TRY(const GraphModule* nested, prepared(path));
    const auto size = std::int64_t(nested->graph.size());
    if (size > m_budget) return fail(ErrorCode::TooLarge, "nested graphs of more than {} nodes were run", mostNodes);
    Interpreter interpreter(*nested, shapeOps());
    interpreter.limits.nodes = m_budget;
    auto result = interpreter.run(args);
    // A run that fails early has looked at the whole graph, too.
    m_budget = std::max<std::int64_t>(m_budget - std::max(interpreter.nodesRun(), size), 0);
    return result;
  }

 private:
  /// For the whole graph: a few seconds for graphs made to nest without end.
  static constexpr std::int64_t mostNodes = 500'000;

  /// The nested graph as it is run, made once.
  Result<const GraphModule*> prepared(std::string_view path) const {
    const auto known = m_prepared.find(path);
    if (known != m_prepared.end()) return &known->second;
    const Submodule* found = m_module.submodule(path);
    if (found == nullptr || !found->graph) return fail(ErrorCode::UnsupportedOp, "no nested graph '{}'", path);
    GraphModule& nested = m_prepared.emplace(path, *found->graph).first->second;
    useReshapedTensors(nested);
    return &nested;
  }

  const GraphModule& m_module;
  mutable std::int64_t m_budget = mostNodes;  ///< nodes that may still be run
  mutable std::map<std::string, GraphModule, std::less<>> m_prepared;
};

bool isHigherOrder(std::string_view target) { return target.starts_with("torch.ops.higher_order."); }

/// Objects that are passed on and have no shape: process groups, reductions, classes of C++.
bool isHandle(std::string_view path) {
  path.remove_prefix(path.rfind('.') + 1);
  return path.starts_with("_torchbind_obj") || path.starts_with("_opaque_obj");
}

class Propagation {
 public:
  /// `conflicts`: if given, hears where a recorded value is not what the op gives; recorded values stay then.
  Propagation(GraphModule& module, ShapeEnv& env, std::vector<ShapeConflict>* conflicts = nullptr)
      : m_module(module), m_env(env), m_objects(module.graph), m_conflicts(conflicts) {}

  Result<void> run() {
    const ShapeEnv::Scope scope(m_env);
    try {
      KERF_CHECK(visitAll());
      if (m_env.replacements().empty()) return {};
      restate();
      if (std::ranges::none_of(m_env.replacements(), isUnbacked, &ShapeEnv::Replacement::symbol)) return {};
      KERF_CHECK(visitAll());  // what was derived before a size from data was settled
      restate();
    } catch (SymbolicFailure& failure) {  // of what is no shape rule: the reading of an annotation
      return fail(std::move(failure.error.while_("propagating shapes")));
    }
    return {};
  }

 private:
  static bool isUnbacked(const std::string& symbol) { return symbol.starts_with('u'); }

  Result<void> visitAll() {
    const AutocastScope autocast;
    m_reshaped.clear();
    const auto order = m_module.graph.order();
    for (NodeId id : std::vector<NodeId>(order.begin(), order.end())) KERF_CHECK(visit(id));
    return {};
  }

  Result<void> visit(NodeId id) {
    const Node& node = m_module.graph.node(id);
    if (node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod) return visitCall(id);
    if (node.op() == Opcode::GetAttr) {
      const TensorAttribute* attribute = m_module.attribute(node.target());
      if (attribute && attribute->tensor.defined()) return store(id, attribute->tensor);
      if (m_module.submodule(node.target()) || isHandle(node.target())) m_values.emplace(id, Value(node.target()));
    }
    if (auto value = valueOf(node.meta().value)) m_values.emplace(id, numbered(*value, {}));
    return {};
  }

  /// A value whose tensors have that number as Tensor::traced: of the memory that they look at, so that the checks of calls
  /// know what is written and read (checkReadOfWritten). Those that have one keep it.
  Value numbered(const Value& value, std::optional<int> memory) {
    if (value.isTensor() && value.tensor().traced < 0) {
      Tensor tensor = value.tensor();
      tensor.traced = memory ? *memory : ++m_memories;
      return tensor;
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back(numbered(item, memory));
    return items;
  }

  /// The memory that a call's result looks at: an argument's of views and writes; else none has that number yet.
  std::optional<int> memoryOf(const Node& node) {
    const OpInfo* op = findOp(node);
    for (std::size_t i = 0; op != nullptr && i < op->schema.arguments.size(); ++i) {
      if (!resultLooksAt(*op, i)) continue;
      const Argument* argument = boundArgument(node, *op, i);
      const NodeId* id = argument != nullptr ? argument->as<NodeId>() : nullptr;
      const auto known = id != nullptr ? m_values.find(*id) : m_values.end();
      const bool isKnown = known != m_values.end() && known->second.isTensor();
      if (isKnown && op->id != "aten.reshape.default"_op) return known->second.tensor().traced;
    }
    return {};
  }

  Result<void> visitCall(NodeId id) {
    const Node& node = m_module.graph.node(id);
    m_env.setAsker(node.name(), node.meta().sourceFile, node.meta().sourceLine);
    ValueList args;
    KeywordValues kwargs;
    bool known = true;
    for (const Argument& argument : node.args()) known = known && append(argument, args);
    for (const auto& [name, argument] : node.kwargs()) {
      ValueList single;
      known = known && append(argument, single);
      if (known) kwargs.emplace_back(name, std::move(single[0]));
    }
    if (!known || foreignCall(node)) return keep(id);
    keepListIndex(node, args);
    const ShapeEnv::Mark before = m_env.mark();
    auto result = call(node, args, kwargs);
    // What depends on values was recorded with PyTorch's own symbols.
    const bool fromData =
        isKnownFromData(node) || (node.meta().value.known() && m_env.symbols().size() > before.symbols);
    if (fromData && (!result || fits(node.meta().value, metaOf(*result)))) {
      forgetSymbols(before, result.has_value());
      return keep(id);
    }
    if (result) {
      *result = numbered(*result, memoryOf(node));
      if (m_objects.any()) keepReshaped(node, *result);
      return store(id, *result);
    }
    // Of ops in the table an error is the graph's; elsewhere it may be the guess at a Python function's arguments.
    const bool certain = findOp(node) != nullptr && result.error().code != ErrorCode::UnsupportedOp;
    if (m_conflicts != nullptr) return keep(id);
    return certain ? Result<void>(failAt(node, std::move(result).error())) : keep(id);
  }

  /// Rolls back, but keeps what the call asked of the sizes of inputs: masks must still fit at other sizes.
  void forgetSymbols(const ShapeEnv::Mark& before, bool ran) {
    const std::vector<ShapeGuard> asked(m_env.guards().begin() + std::ptrdiff_t(before.guards), m_env.guards().end());
    m_env.rollBack(before);
    if (!ran) return;
    for (const ShapeGuard& guard : asked) {
      const bool isKnown = std::ranges::all_of(guard.expression.symbols(), [&](const std::string& name) {
        const ShapeSymbol* symbol = m_env.findSymbol(name);
        return symbol != nullptr && symbol->hint;
      });
      if (!isKnown || guard.deferred) continue;
      try {
        m_env.decide(guard.expression);
      } catch (const SymbolicFailure&) {  // what it was replaced by has no number yet
      }
    }
  }

  /// Nodes that come after see the tensors that a call reshaped as it left them.
  void keepReshaped(const Node& node, const Value& result) {
    const std::span<const NodeId> operands = m_objects.reshapedBy(node.id());
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool isItem = result.isList() && k < result.list().size();
      const Value& now = isItem ? result.list()[k] : result;
      if (!now.isTensor()) continue;
      m_reshaped.insert_or_assign(m_objects.first(operands[k]), now);
    }
  }

  Result<Value> call(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
    if (node.op() == Opcode::CallMethod) return shapeOps().call("method." + node.target(), args, kwargs);
    if (isHigherOrder(node.target())) return shapeOps().callHigherOrder(node.target(), args, kwargs, m_nested);
    return shapeOps().call(OpTarget(node.opId(), node.target()), args, kwargs);
  }

  std::unexpected<Error> failAt(const Node& node, Error error) {
    error.atNode(node.name());
    error.while_("propagating shapes");
    std::string assumed;
    for (const ShapeSymbol& symbol : m_env.symbols())
      if (symbol.isHintAssumed)
        assumed += fmt::format("{}{} = {}", assumed.empty() ? "" : ", ", symbol.name, *symbol.hint);
    if (!assumed.empty())
      error.while_(fmt::format("with {}, as no values are recorded", assumed)).advise(Advice::GiveSizes);
    return fail(std::move(error));
  }

  /// What the node had stays, and counts for the nodes that use it.
  Result<void> keep(NodeId id) {
    addUnbackedSizes(m_module.graph.node(id).meta().value);
    if (auto value = valueOf(m_module.graph.node(id).meta().value)) m_values.emplace(id, std::move(*value));
    return {};
  }

  /// Unbacked symbols of a recorded annotation: the node that is annotated makes them, and sizes are at least 0.
  void addUnbackedSizes(const ValueMeta& meta) {
    if (const auto* list = meta.list())
      for (const ValueMeta& item : *list) addUnbackedSizes(item);
    const auto add = [&](const SymExpr& number, const ValueRange& range) {
      const bool unbacked = number.text.size() > 1 && number.text[0] == 'u' &&
                            number.text.find_first_not_of("0123456789", 1) == std::string::npos;
      if (unbacked) m_env.addSymbol({.name = number.text, .range = range, .source = std::string(m_env.asker())});
    };
    if (const TensorMeta* tensor = meta.tensor())
      for (const Dim& size : tensor->sizes) add(size, {0, ValueRange::greatest});
    if (const SymMeta* number = meta.sym()) add(number->expr, {});
  }

  /// Whether a recorded annotation has the form of the derived one: tensors of its ranks and types. At a size that
  /// guards tell apart it may have another (squeeze).
  static bool fits(const ValueMeta& recorded, const ValueMeta& derived) {
    const auto *list = recorded.list(), *other = derived.list();
    if (list != nullptr && other != nullptr) return std::ranges::equal(*list, *other, fits);
    const TensorMeta *tensor = recorded.tensor(), *made = derived.tensor();
    return tensor == nullptr || made == nullptr ||
           (tensor->dtype == made->dtype && tensor->sizes.size() == made->sizes.size());
  }

  static bool isKnownFromData(const Node& node) {
    if (!node.meta().value.known()) return false;
    const OpInfo* op = findOp(node);
    return op != nullptr && has(op->traits, OpTrait::DataDependent);
  }

  /// Metas once more, with the symbols that guards have settled since they were made.
  void restate() {
    for (const NodeId id : m_stored) {
      const auto value = m_values.find(id);
      if (value == m_values.end()) continue;
      ValueMeta meta = metaOf(value->second);
      if (!(meta == m_module.graph.node(id).meta().value)) m_module.graph.setValueMeta(id, std::move(meta));
    }
  }

  Result<void> store(NodeId id, const Value& value) {
    if (value.isNone()) return {};
    m_values.insert_or_assign(id, value);
    ValueMeta meta = metaOf(value);
    const ValueMeta& old = m_module.graph.node(id).meta().value;
    if (isConflict(id, old, meta)) return {};
    if (!meta.known() || saysAsMuch(old, meta)) return {};
    m_module.graph.setValueMeta(id, std::move(meta));
    m_stored.push_back(id);
    return {};
  }

  /// Tells of a recorded value that the op does not give; it stays, for the node and for those that use it.
  bool isConflict(NodeId id, const ValueMeta& recorded, const ValueMeta& derived) {
    if (m_conflicts == nullptr) return false;
    const Node& node = m_module.graph.node(id);
    auto what = contradictionOf(recorded, derived);
    const bool free = choosesStrides(node);
    if (!what && !free) return false;
    const OpInfo* op = findOp(node);
    const bool chosen = free && what && *what == "stride" && !(givesPacked(makerOf(node)) && !isPacked(recorded));
    if (what && !chosen)
      m_conflicts->push_back({node.name(), op != nullptr ? op->schema.qualifiedName() : node.target(), std::move(*what),
                              recorded, derived});
    auto value = valueOf(recorded);
    if (value) m_values.insert_or_assign(id, std::move(*value));
    return what || value.has_value();
  }

  /// Ops whose kernels choose the layout of what they give, each device its own, and what is taken out of their results.
  bool choosesStrides(const Node& node) const {
    constexpr std::string_view marks[] = {
        "convolution", "conv1d", "conv2d", "conv3d", "conv_",         "attention",  "batch_norm",  "cudnn",
        "miopen",      "mkldnn", "rnn",    "lstm",   "gru",           "linalg",     "fft",         "matmul",
        "linear",      "einsum", "empty",  "scaled", "instance_norm", "group_norm", "higher_order"};
    const Node& maker = makerOf(node);
    const std::string& target = maker.target();
    return (maker.op() != Opcode::CallFunction && maker.op() != Opcode::CallMethod) ||
           std::ranges::any_of(marks, [&](std::string_view mark) { return target.find(mark) != std::string::npos; });
  }

  /// The call whose results the node takes one of; else the node itself.
  const Node& makerOf(const Node& node) const {
    if (node.op() != Opcode::CallFunction || !node.target().ends_with("operator.getitem") || node.inputs().empty())
      return node;
    const Node& source = m_module.graph.node(node.inputs()[0]);
    return source.meta().value.tensor() == nullptr ? makerOf(source) : node;
  }

  /// Ops that choose among layouts that leave no hole and share no element.
  static bool givesPacked(const Node& node) {
    constexpr std::string_view marks[] = {"aten.convolution.", "aten.conv2d.", "aten.linear.",         "aten.matmul.",
                                          "batch_norm",        "_nn.linear",   "nn.functional.linear", "torch.matmul",
                                          "torch.conv2d",      "fft_"};
    return std::ranges::any_of(marks,
                               [&](std::string_view mark) { return node.target().find(mark) != std::string::npos; });
  }
  /// Also where it is not known in numbers.
  static bool isPacked(const ValueMeta& meta) {
    const TensorMeta* tensor = meta.tensor();
    if (tensor == nullptr || tensor->sizes.size() != tensor->strides.size()) return true;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
    for (std::size_t i = 0; i < tensor->sizes.size(); ++i) {
      if (!tensor->sizes[i].hint || !tensor->strides[i].hint || *tensor->sizes[i].hint == 0) return true;
      if (*tensor->sizes[i].hint > 1) steps.emplace_back(*tensor->strides[i].hint, *tensor->sizes[i].hint);
    }
    std::ranges::sort(steps);
    std::int64_t expected = 1;
    for (const auto& [stride, size] : steps) {
      if (stride != expected) return false;
      expected *= size;
    }
    return true;
  }

  /// Whether the old meta says the same, and in symbols (as they were recorded) wherever the new one does.
  static bool saysAsMuch(const ValueMeta& old, const ValueMeta& meta) {
    if (const TensorMeta* a = old.tensor()) {
      const TensorMeta* b = meta.tensor();
      return b && a->dtype == b->dtype && a->device == b->device && a->storageOffset == b->storageOffset &&
             saysAsMuch(a->sizes, b->sizes) && saysAsMuch(a->strides, b->strides);
    }
    const SymMeta* a = old.sym();
    const SymMeta* b = meta.sym();
    return a && b && saysAsMuch(a->expr, b->expr);
  }
  static bool saysAsMuch(const std::vector<Dim>& old, const std::vector<Dim>& dims) {
    return std::ranges::equal(old, dims, [](const Dim& a, const Dim& b) { return saysAsMuch(a, b); });
  }
  static bool saysAsMuch(const SymExpr& old, const SymExpr& number) {
    return old.hint == number.hint && (!old.text.empty() || number.text.empty());
  }

  bool append(const Argument& argument, ValueList& values) {
    auto value = resolve(argument);
    if (!value) return false;
    values.push_back(std::move(*value));
    return true;
  }

  std::optional<Value> resolveList(const ArgumentList& arguments) {
    ValueList items;
    for (const Argument& item : arguments)
      if (!append(item, items)) return {};
    return Value(std::move(items));
  }

  /// As a list of pairs.
  std::optional<Value> resolveDict(const DictArgument& dict) {
    ValueList items;
    for (const auto& [key, argument] : dict.items) {
      auto value = resolve(argument);
      if (!value) return {};
      items.emplace_back(ValueList{Value(key), std::move(*value)});
    }
    return Value(std::move(items));
  }

  std::optional<Value> resolve(const Argument& argument) {
    if (argument.isNone()) return Value();
    if (const auto* id = argument.as<NodeId>()) {
      if (const auto now = m_reshaped.find(m_objects.first(*id)); now != m_reshaped.end()) return now->second;
      const auto found = m_values.find(*id);
      return found == m_values.end() ? std::nullopt : std::optional(found->second);
    }
    if (const auto* list = argument.asList()) return resolveList(list->items);
    if (const auto* slice = argument.asSlice()) {
      auto value = resolveList(slice->items);
      if (!value) return {};
      ValueList items = value->list();
      items.insert(items.begin(), Value(std::string("slice")));
      return Value(std::move(items));
    }
    if (const auto* dict = argument.asDict()) return resolveDict(*dict);
    if (const auto* path = argument.as<SubgraphRef>()) return Value(path->path);
    if (const auto* name = argument.as<PythonName>()) return Value(name->text);
    if (argument.as<Ellipsis>()) return Value(std::string("..."));
    if (const auto* sym = argument.as<SymExpr>()) return valueOf(ValueMeta{SymMeta{*sym}});
    if (const auto* value = argument.as<bool>()) return Value(*value);
    if (const auto* value = argument.as<std::int64_t>()) return Value(*value);
    if (const auto* value = argument.as<double>()) return Value(*value);
    if (const auto* value = argument.as<std::string>()) return Value(*value);
    if (const auto* value = argument.as<DType>()) return Value(*value);
    if (const auto* value = argument.as<Device>()) return Value(*value);
    if (const auto* value = argument.as<Layout>()) return Value(*value);
    if (const auto* value = argument.as<MemoryFormat>()) return Value(*value);
    return {};
  }

  GraphModule& m_module;
  ShapeEnv& m_env;
  const TensorObjects m_objects;
  std::vector<ShapeConflict>* m_conflicts = nullptr;
  std::vector<NodeId> m_stored;
  const NestedShapes m_nested{m_module};
  std::unordered_map<NodeId, Value> m_values;
  int m_memories = 0;  ///< that have numbers
  std::unordered_map<NodeId, Value>
      m_reshaped;  ///< by TensorObjects::first(): what a call gave other sizes, as it is now
};

}  // namespace

Result<void> propagateShapes(GraphModule& module, ShapeEnv& env) {
  addGraphSymbols(module, env);
  return Propagation(module, env).run();
}

Result<void> propagateShapes(GraphModule& module) {
  ShapeEnv env;
  return propagateShapes(module, env);
}

std::vector<ShapeConflict> shapeConflicts(const GraphModule& module) {
  std::vector<ShapeConflict> conflicts;
  GraphModule copy = module;
  ShapeEnv env;
  addGraphSymbols(copy, env);
  (void)Propagation(copy, env, &conflicts).run();  // as far as it comes
  for (const auto& [path, submodule] : module.submodules) {
    if (!submodule.graph) continue;
    for (ShapeConflict& nested : shapeConflicts(*submodule.graph)) {
      nested.node = path + "/" + nested.node;
      conflicts.push_back(std::move(nested));
    }
  }
  return conflicts;
}

}  // namespace kerf::inline ops
