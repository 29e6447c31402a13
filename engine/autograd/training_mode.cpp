#include "engine/autograd/training_mode.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline autograd {
namespace {

/// Where the training flag stands among the arguments, as in the schema.
struct Flag {
  std::string_view op;
  std::size_t position;
  std::string_view name;
};
constexpr Flag flags[] = {
    {"aten::batch_norm", 5, "training"},
    {"aten::native_batch_norm", 5, "training"},
    {"aten::cudnn_batch_norm", 5, "training"},
    {"aten::dropout", 2, "train"},
    {"aten::dropout_", 2, "train"},
    {"aten::feature_dropout", 2, "train"},
    {"aten::alpha_dropout", 2, "train"},
    {"aten::feature_alpha_dropout", 2, "train"},
    {"aten::instance_norm", 5, "use_input_stats"},
    {"aten::rrelu", 3, "training"},
};

bool setFlag(Graph& graph, NodeId id, const Flag& flag, bool training) {
  const Node& node = graph.node(id);
  const auto isOther = [&](const Argument& argument) {
    const bool* value = argument.as<bool>();
    return value != nullptr && *value != training;
  };
  if (node.args().size() > flag.position) {
    if (!isOther(node.args()[flag.position])) return false;
    ArgumentList args = node.args();
    args[flag.position] = training;
    graph.setArgs(id, std::move(args));
    return true;
  }
  KeywordArguments kwargs = node.kwargs();
  const auto found = std::ranges::find(kwargs, flag.name, &KeywordArguments::value_type::first);
  if (found == kwargs.end() || !isOther(found->second)) return false;
  found->second = training;
  graph.setKwargs(id, std::move(kwargs));
  return true;
}

/// (input, weight, bias, running_mean, running_var, momentum, eps) as the form without statistics takes them.
void takeBatchStatistics(Graph& graph, NodeId id) {
  const ArgumentList& old = graph.node(id).args();
  ArgumentList args{old[0], old[1], old[2], true, old[5], old[6]};
  graph.setTarget(id, "torch.ops.aten._native_batch_norm_legit.no_stats");
  graph.setArgs(id, std::move(args));
}

}  // namespace

std::size_t setTrainingMode(GraphModule& module, bool training) {
  Graph& graph = module.graph;
  std::size_t changed = 0;
  for (const NodeId id : std::vector<NodeId>(graph.order().begin(), graph.order().end())) {
    const OpInfo* op = findOp(graph.node(id));
    if (op == nullptr) continue;
    const bool isFixed = op->id == "aten._native_batch_norm_legit_no_training.default"_op;
    if (isFixed && training && graph.node(id).args().size() == 7) {
      takeBatchStatistics(graph, id);
      ++changed;
    }
    const auto* flag = std::ranges::find(flags, op->schema.name, &Flag::op);
    if (flag != std::end(flags) && setFlag(graph, id, *flag, training)) ++changed;
  }
  return changed;
}

}  // namespace kerf::inline autograd
