// Calls of higher-order ops: bodies are chains of pointwise ops over operands of one shape.
#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "tests/differential/fuzzgraph/generate.h"

namespace kerf::fuzzgraph {
namespace {

constexpr const char* unary[] = {"sin", "cos", "tanh", "sigmoid", "relu", "neg", "abs"};
constexpr const char* binary[] = {"add.Tensor", "sub.Tensor", "mul.Tensor", "maximum.default", "minimum.default"};

std::string plain(std::string_view op) { return std::string(op.substr(0, op.find('.'))); }

struct BodyGraph {
  GraphModule module;
  std::vector<NodeId> inputs;

  NodeId input(const Value& value) {
    inputs.push_back(module.graph.placeholder(fmt::format("arg{}_1", inputs.size())));
    module.graph.setValueMeta(inputs.back(), metaOf(value));
    return inputs.back();
  }
  NodeId call(const std::string& op, ArgumentList args) {
    return module.graph.callFunction("torch.ops.aten." + op, std::move(args), {}, plain(op));
  }
  /// A few calls over `operands`, all of one shape and dtype; the last one mentions the first operand.
  NodeId chain(Dice& dice, const std::vector<NodeId>& operands) {
    NodeId last = operands[0];
    for (std::int64_t i = dice.between(1, 4); i-- > 0;) {
      if (dice.chance(50))
        last = call(std::string(unary[dice.below(std::size(unary))]) + ".default", {last});
      else
        last = call(binary[dice.below(std::size(binary))], {last, operands[dice.below(operands.size())]});
    }
    return call("tanh.default", {last});  // what loops carry stays small, and dense
  }
  GraphModule finish(std::vector<NodeId> outputs) {
    module.graph.output(Argument::tuple(ArgumentList(outputs.begin(), outputs.end())));
    return std::move(module);
  }
};

class BodyCaller : public SubgraphCaller {
 public:
  explicit BodyCaller(const GraphModule& module) : m_module(module) {}
  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override {
    return Interpreter(*m_module.submodule(path)->graph, referenceOps()).run(args);
  }

 private:
  const GraphModule& m_module;
};

Operand listOperand(const std::vector<Operand>& operands) {
  Operand list;
  ArgumentList items;
  ValueList values;
  for (const Operand& operand : operands) {
    items.push_back(operand.argument);
    values.push_back(operand.value);
  }
  return {Argument::tuple(std::move(items)), Value(std::move(values))};
}

/// What a call of one of the ops is made from.
struct Operands {
  GraphBuilder& build;
  std::vector<Operand> tensors;  ///< of one shape and dtype

  Dice& dice() const { return build.dice; }
  const Tensor& tensor() const { return tensors[0].value.tensor(); }
  std::vector<NodeId> enter(BodyGraph& body) const {
    std::vector<NodeId> nodes;
    for (const Operand& operand : tensors) nodes.push_back(body.input(operand.value));
    return nodes;
  }
  /// The same, of one row each.
  std::vector<NodeId> enterRows(BodyGraph& body) const {
    std::vector<NodeId> nodes;
    for (const Operand& operand : tensors) {
      const Tensor& whole = operand.value.tensor();
      SymSizes sizes, strides;
      for (std::int64_t d = 1; d < whole.dim(); ++d) {
        sizes.push_back(whole.size(d));
        strides.push_back(whole.stride(d));
      }
      nodes.push_back(body.input(Value(whole.viewAs(sizes, strides, whole.offset()))));
    }
    return nodes;
  }
};

std::optional<PlannedCall> cond(const Operands& from) {
  std::vector<Operand> branches;
  for (const char* name : {"true_graph", "false_graph"}) {
    BodyGraph body;
    const auto inputs = from.enter(body);
    branches.push_back(from.build.nested(name, body.finish({body.chain(from.dice(), inputs)})));
  }
  const Operand condition = from.build.fresh(DType::Bool, {}, {}, true);
  return PlannedCall{
      "torch.ops.higher_order.cond", "cond", {condition, branches[0], branches[1], listOperand(from.tensors)}, {}};
}

std::optional<PlannedCall> whileLoop(const Operands& from) {
  const Tensor counter = Tensor::scalarInt(0, DType::Int64);
  if (!from.tensor().isContiguous()) return {};
  BodyGraph test, body;
  const NodeId tested = test.input(Value(counter));
  from.enter(test);
  test.module.graph.output(Argument(test.call("lt.Scalar", {tested, from.dice().between(0, 4)})));
  const NodeId count = body.call("add.Tensor", {body.input(Value(counter)), 1});
  const auto inputs = from.enter(body);
  // Placeholders come first: the counter's sum was written between them.
  body.module.graph.moveBefore(inputs.front(), count);
  for (std::size_t i = 1; i < inputs.size(); ++i) body.module.graph.moveBefore(inputs[i], count);
  const NodeId next = body.chain(from.dice(), inputs);
  const Operand start = from.build.fresh(counter);
  const std::vector<Operand> rest(from.tensors.begin() + 1, from.tensors.end());
  const Operand condition = from.build.nested("cond_fn", std::move(test.module));
  const Operand step = from.build.nested("body_fn", body.finish({count, next}));
  return PlannedCall{"torch.ops.higher_order.while_loop",
                     "while_loop",
                     {condition, step, listOperand({start, from.tensors[0]}), listOperand(rest)},
                     {}};
}

std::optional<PlannedCall> map(const Operands& from) {
  if (from.tensor().dim() == 0 || from.tensor().size(0) == 0) return {};
  BodyGraph body;
  const auto inputs = from.enterRows(body);
  const Operand graph = from.build.nested("body_graph", body.finish({body.chain(from.dice(), inputs)}));
  return PlannedCall{
      "torch.ops.higher_order.map_impl", "map_impl", {graph, listOperand(from.tensors), listOperand({})}, {}};
}

std::optional<PlannedCall> scan(const Operands& from) {
  const Tensor& xs = from.tensor();
  if (xs.dim() == 0 || xs.size(0) == 0) return {};
  BodyGraph body;
  Sizes row(xs.sizes().begin() + 1, xs.sizes().end());
  const Operand init = from.build.fresh(xs.dtype(), row, {-1, 1}, true);
  std::vector<NodeId> inputs{body.input(init.value)};
  for (const NodeId id : from.enterRows(body)) inputs.push_back(id);
  const NodeId carry = body.chain(from.dice(), inputs);
  const NodeId out = body.chain(from.dice(), {carry, inputs.back()});
  const Operand graph = from.build.nested("scan_combine_graph", body.finish({carry, out}));
  return PlannedCall{"torch.ops.higher_order.scan",
                     "scan",
                     {graph, listOperand({init}), listOperand(from.tensors), listOperand({})},
                     {}};
}

std::optional<PlannedCall> invoke(const Operands& from) {
  BodyGraph body;
  const auto inputs = from.enter(body);
  const NodeId one = body.chain(from.dice(), inputs);
  const Operand graph = from.build.nested("repeated_subgraph", body.finish({one, body.chain(from.dice(), {one})}));
  PlannedCall call{"torch.ops.higher_order.invoke_subgraph",
                   "invoke_subgraph",
                   {graph, {Argument("subgraph_0"), Value(std::string("subgraph_0"))}},
                   {}};
  call.positional.insert(call.positional.end(), from.tensors.begin(), from.tensors.end());
  return call;
}

constexpr std::optional<PlannedCall> (*calls[])(const Operands&) = {cond, whileLoop, map, scan, invoke};

bool isSuitable(const KnownTensor& known) {
  return isFloating(known.tensor.dtype()) && known.tensor.numel() > 0 && spreadOf(known.tensor).allFinite;
}

}  // namespace

bool growHigherOrder(GraphBuilder& build) {
  build.forgetFresh();
  std::vector<const KnownTensor*> suitable;
  for (const KnownTensor& known : build.tensors())
    if (isSuitable(known)) suitable.push_back(&known);
  if (suitable.empty() || build.theme.symbolic) return false;
  Operands from{build, {GraphBuilder::operandOf(*build.dice.pick(suitable))}};
  for (const KnownTensor* other : suitable)
    if (from.tensors.size() < 3 && other->tensor.sizes() == from.tensor().sizes() &&
        other->tensor.dtype() == from.tensor().dtype() && build.dice.chance(40))
      from.tensors.push_back(GraphBuilder::operandOf(*other));
  const auto call = calls[build.dice.below(std::size(calls))](from);
  if (!call) return false;
  ValueList args;
  for (const Operand& operand : call->positional) args.push_back(operand.value);
  const BodyCaller bodies(build.module);
  const auto result = referenceOps().callHigherOrder(call->target, args, {}, bodies);
  if (!result) return false;
  build.write(*call, *result, true);
  ++build.kept[call->target.substr(std::string_view("torch.ops.").size())];
  return true;
}

}  // namespace kerf::fuzzgraph
