// simplify_ops: a table of what stands for what, and neg for any elementwise function of one operand.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

struct Simpler {
  std::string_view from, to;
  std::vector<std::size_t> operands;  ///< of `from`, by position, that `to` takes
};

const std::vector<Simpler>& simplerOps() {
  static const std::vector<Simpler> table{
      {"addmm.default", "mm.default", {1, 2}},   {"baddbmm.default", "bmm.default", {1, 2}},
      {"addbmm.default", "bmm.default", {1, 2}}, {"addmv.default", "mv.default", {1, 2}},
      {"addcmul.default", "mul.Tensor", {1, 2}}, {"addcdiv.default", "div.Tensor", {1, 2}},
      {"lerp.Tensor", "mul.Tensor", {0, 1}},     {"lerp.Scalar", "mul.Tensor", {0, 1}},
      {"where.self", "add.Tensor", {1, 2}},      {"linear.default", "mm.default", {0, 1}},
      {"matmul.default", "mm.default", {0, 1}},  {"bmm.default", "mul.Tensor", {0, 1}},
      {"mm.default", "mul.Tensor", {0, 1}},      {"sub.Tensor", "add.Tensor", {0, 1}},
      {"div.Tensor", "mul.Tensor", {0, 1}},      {"pow.Tensor_Tensor", "mul.Tensor", {0, 1}},
      {"_softmax.default", "exp.default", {0}},  {"_log_softmax.default", "exp.default", {0}},
      {"softmax.int", "exp.default", {0}}};
  return table;
}

/// A call and what may stand for it.
struct Replacement {
  NodeId call;
  std::string target;
  std::vector<std::size_t> operands;  ///< of the call, by position, that the other op takes
};

std::optional<Candidate> replaced(const Candidate& candidate, const Replacement& replacement) {
  const auto& [call, target, operands] = replacement;
  if (!candidate.module.graph.contains(call)) return std::nullopt;  // nothing needed it after another was replaced
  CandidateEditor editor(candidate);
  Graph& graph = editor.graph();
  ArgumentList args;
  for (const std::size_t operand : operands) {
    if (operand >= graph.node(call).args().size()) return std::nullopt;
    args.push_back(graph.node(call).args()[operand]);
  }
  graph.setArgs(call, std::move(args));
  graph.setKwargs(call, {});
  graph.setTarget(call, target);
  graph.rename(call, nameFromTarget(Opcode::CallFunction, target));  // a "mul_5" that is a neg would mislead
  return editor.finishWithShapes();
}

/// Functions of one operand, elementwise, that are not neg already.
bool isUnary(const Node& node, const OpInfo* op) {
  const bool plain = op && has(op->traits, OpTrait::Pointwise) && !has(op->traits, OpTrait::Inplace) &&
                     !has(op->traits, OpTrait::Random) && !has(op->traits, OpTrait::View);
  return plain && !node.isCall("aten.neg.default"_op) && node.inputs().size() == 1 && !node.args().empty() &&
         node.args()[0].as<NodeId>() != nullptr;
}

std::vector<Replacement> replacements(const Graph& graph) {
  constexpr std::string_view prefix = "torch.ops.aten.";
  std::vector<Replacement> list;
  for (const NodeId call : callNodes(graph)) {
    const Node& node = graph.node(call);
    if (!node.target().starts_with(prefix)) continue;
    for (const Simpler& row : simplerOps())
      if (std::string_view(node.target()).substr(prefix.size()) == row.from)
        list.push_back({call, std::string(prefix) + std::string(row.to), row.operands});
    if (isUnary(node, findOp(node))) list.push_back({call, std::string(prefix) + "neg.default", {0}});
  }
  return list;
}

std::vector<Edit> editsThatSimplifyOps(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  for (Replacement& replacement : replacements(input.graph()))
    list.push_back(
        {{}, [&input, replacement = std::move(replacement)] { return replaced(input.candidate, replacement); }});
  return list;
}

std::vector<Edit> allAtOnce(const ReductionInput& input, ResumePoint) {
  if (callNodes(input.graph()).size() > fewCalls) return {};
  return {{{}, [&input] { return allOpsPlain(input.candidate); }}};
}

}  // namespace

std::optional<Candidate> allOpsPlain(const Candidate& candidate) {
  constexpr int mostTurns = 4;  // addmm, mm, mul, neg
  std::optional<Candidate> result;
  bool changed = true;
  for (int turn = 0; changed && turn < mostTurns; ++turn) {
    changed = false;
    NodeId done;
    for (const Replacement& replacement : replacements((result ? *result : candidate).module.graph)) {
      if (replacement.call == done) continue;
      auto plainer = replaced(result ? *result : candidate, replacement);
      if (!plainer) continue;
      result = std::move(plainer);
      done = replacement.call;
      changed = true;
    }
  }
  return result;
}

Reduction plainOps() { return {"plain_ops", "Makes all calls ones of plainer ops.", allAtOnce, true}; }

Reduction simplifyOps() { return {"simplify_ops", "Makes a call one of a plainer op.", editsThatSimplifyOps}; }

}  // namespace kerf::inline minifier::inline reductions
