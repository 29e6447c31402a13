#include "tests/differential/seededchanges/change_graph.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "engine/ir/printer.h"
#include "engine/ir/value_meta.h"

namespace kerf::seededchanges {
namespace {

using fuzzgraph::Dice;
using Found = std::optional<std::string>;

struct OtherOp {
  std::string_view op, other;
};
constexpr OtherOp otherOps[] = {
    {"aten.add.Tensor", "aten.sub.Tensor"},
    {"aten.sub.Tensor", "aten.add.Tensor"},
    {"aten.mul.Tensor", "aten.add.Tensor"},
    {"aten.div.Tensor", "aten.mul.Tensor"},
    {"aten.relu.default", "aten.tanh.default"},
    {"aten.sigmoid.default", "aten.tanh.default"},
    {"aten.tanh.default", "aten.sigmoid.default"},
    {"aten.exp.default", "aten.expm1.default"},
    {"aten.cos.default", "aten.sin.default"},
    {"aten.sin.default", "aten.cos.default"},
    {"aten.rsqrt.default", "aten.sqrt.default"},
    {"aten.le.Scalar", "aten.ge.Scalar"},
    {"aten.ge.Scalar", "aten.lt.Scalar"},
    {"aten.gt.Scalar", "aten.lt.Scalar"},
    {"aten.maximum.default", "aten.minimum.default"},
    {"aten.amax.default", "aten.amin.default"},
    {"aten.sum.dim_IntList", "aten.mean.dim"},
    {"aten.neg.default", "aten.alias.default"},
    {"torch.relu", "torch.tanh"},
    {"torch.add", "torch.sub"},
};

Found changeOp(Graph& graph, const Node& node, Dice&) {
  const auto known =
      std::ranges::find_if(otherOps, [&](const OtherOp& row) { return node.target().ends_with(row.op); });
  if (known == std::end(otherOps)) return {};
  std::string target = node.target();
  target.replace(target.size() - known->op.size(), std::string::npos, known->other);
  graph.setTarget(node.id(), target);
  return fmt::format("{} → {}", known->op, known->other);
}

/// Another number or dtype in the place of this one.
Argument changed(const Argument& argument, Dice& dice, bool& done) {
  if (const ListArgument* list = argument.asList()) {
    ListArgument copy = *list;
    if (!copy.items.empty() && !done) {
      Argument& item = copy.items[dice.below(copy.items.size())];
      item = changed(item, dice, done);
    }
    return copy;
  }
  done = true;
  if (const auto* real = argument.as<double>()) return *real == 0 ? 0.01 : *real * 1.01;
  if (const auto* integer = argument.as<std::int64_t>()) return *integer + (dice.chance(50) ? 1 : -1);
  if (const auto* flag = argument.as<bool>()) return !*flag;
  if (const auto* dtype = argument.as<DType>()) return *dtype == DType::Float32 ? DType::BFloat16 : DType::Float32;
  done = false;
  return argument;
}

Found changeArgument(Graph& graph, const Node& node, Dice& dice) {
  ArgumentList args = node.args();
  if (args.empty()) return {};
  const std::size_t at = dice.below(args.size());
  const std::string before = printArgument(graph, args[at], ArgumentStyle::GraphText);
  bool done = false;
  args[at] = changed(args[at], dice, done);
  if (!done) return {};
  graph.setArgs(node.id(), args);
  return fmt::format("argument {}: {} → {}", at, before, printArgument(graph, args[at], ArgumentStyle::GraphText));
}

Found swapOperands(Graph& graph, const Node& node, Dice& dice) {
  ArgumentList args = node.args();
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].as<NodeId>() != nullptr) nodes.push_back(i);
  if (nodes.size() < 2) return {};
  const std::size_t first = dice.below(nodes.size() - 1);
  if (args[nodes[first]] == args[nodes[first + 1]]) return {};
  std::swap(args[nodes[first]], args[nodes[first + 1]]);
  graph.setArgs(node.id(), args);
  return fmt::format("arguments {} and {} exchanged", nodes[first], nodes[first + 1]);
}

/// The nodes before `node` whose values have the same annotation as that of `like`.
std::vector<NodeId> alike(const Graph& graph, NodeId node, NodeId like) {
  std::vector<NodeId> found;
  const std::string text = printAnnotation(graph.node(like).meta(), true, true);
  if (text.empty()) return found;
  for (const NodeId id : graph.order()) {
    if (id == node) break;
    if (id != like && printAnnotation(graph.node(id).meta(), true, true) == text) found.push_back(id);
  }
  return found;
}

Found otherOperand(Graph& graph, const Node& node, Dice& dice) {
  ArgumentList args = node.args();
  if (args.empty()) return {};
  const std::size_t at = dice.below(args.size());
  const NodeId* operand = args[at].as<NodeId>();
  if (operand == nullptr) return {};
  const auto others = alike(graph, node.id(), *operand);
  if (others.empty()) return {};
  const NodeId chosen = dice.pick(others);
  const std::string text =
      fmt::format("argument {}: {} → {}", at, graph.node(*operand).name(), graph.node(chosen).name());
  args[at] = chosen;
  graph.setArgs(node.id(), args);
  return text;
}

Found leaveOut(Graph& graph, const Node& node, Dice&) {
  const std::string text = printAnnotation(node.meta(), true, true);
  for (const NodeId input : node.inputs())
    if (!text.empty() && printAnnotation(graph.node(input).meta(), true, true) == text && !node.users().empty()) {
      const std::string what = "left out: " + node.name() + " → " + graph.node(input).name();
      graph.replaceAllUsesWith(node.id(), input);
      return what;
    }
  return {};
}

constexpr Found (*kinds[])(Graph&, const Node&, Dice&) = {changeOp, changeArgument, swapOperands, otherOperand,
                                                          leaveOut};

}  // namespace

std::optional<GraphChange> changeGraph(GraphModule& module, Dice& dice) {
  std::vector<NodeId> calls;
  for (const NodeId id : module.graph.order()) {
    const Opcode op = module.graph.node(id).op();
    if (op == Opcode::CallFunction || op == Opcode::CallMethod) calls.push_back(id);
  }
  if (calls.empty()) return {};
  const NodeId chosen = dice.pick(calls);
  const std::string name = module.graph.node(chosen).name();
  const auto kind = kinds[dice.below(std::size(kinds))];
  if (auto what = kind(module.graph, module.graph.node(chosen), dice)) return GraphChange{name, std::move(*what)};
  return {};
}

}  // namespace kerf::seededchanges
