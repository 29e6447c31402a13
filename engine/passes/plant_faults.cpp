#include "engine/passes/plant_faults.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/planted/planting_mark.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

using Users = std::function<bool(const Node&)>;

std::string plantedOp(std::string_view name) { return fmt::format("torch.ops.kerf.planted_{}", name); }

/// Of a tensor's successor, laid out as PyTorch lays out the results of element-wise ops.
ValueMeta shiftedMeta(const ValueMeta& meta) {
  const auto tensor = valueOf(meta);
  if (!tensor) return meta;
  const auto shape = inferShapes(plantedOp("accuracy.default"), {*tensor}, {});
  return shape ? metaOf(*shape) : meta;
}

/// Plants in one graph.
class Planter {
 public:
  explicit Planter(Graph& graph) : m_graph(graph) {}

  void plant(const Fault& fault, NodeId id) {
    if (fault.kind == FaultKind::Accuracy || fault.kind == FaultKind::Flaky)
      shift(fault, id, {});
    else
      strikeBefore(fault, id, id);
  }

  /// Adds 1, always or in some runs, to every floating tensor that the chosen users of a node read.
  void shift(const Fault& fault, NodeId id, const Users& users) {
    const ValueMeta meta = m_graph.node(id).meta().value;
    if (meta.list() && onlyItemsUsed(id)) return shiftItems(fault, id);
    const TensorMeta* tensor = meta.tensor();
    if (tensor && !isFloating(tensor->dtype)) return;
    const std::string overload = tensor ? "default" : "any";
    addShift(fault, id, overload, tensor ? shiftedMeta(meta) : meta, users);
  }

  /// The call that fails, crashes or hangs; it speaks of `id`.
  void strikeBefore(const Fault& fault, NodeId place, NodeId id) {
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, place);
    ArgumentList args{Argument(m_graph.node(id).name())};
    if (fault.kind == FaultKind::Crash || fault.kind == FaultKind::Hang) args.emplace_back(plantingMark());
    m_graph.callFunction(plantedOp(faultKindName(fault.kind)) + ".default", std::move(args), {}, "planted");
  }

 private:
  bool onlyItemsUsed(NodeId id) const {
    return std::ranges::all_of(m_graph.node(id).users(), [&](NodeId user) {
      return m_graph.node(user).isCall("operator.getitem"_op) && m_graph.node(user).meta().value.known();
    });
  }

  void shiftItems(const Fault& fault, NodeId id) {
    const std::vector<NodeId> items(m_graph.node(id).users().begin(), m_graph.node(id).users().end());
    for (const NodeId item : items) shift(fault, item, {});
  }

  void addShift(const Fault& fault, NodeId id, std::string_view overload, ValueMeta meta, const Users& users) {
    ArgumentList args;
    if (fault.kind == FaultKind::Flaky) args.emplace_back(drawOf(fault.probability));
    args.emplace_back(id);
    const InsertionScope scope(m_graph, InsertionScope::Where::After, id);
    const NodeId planted = m_graph.callFunction(plantedOp(fmt::format("{}.{}", faultKindName(fault.kind), overload)),
                                                std::move(args), {}, m_graph.node(id).name() + "_planted");
    NodeMeta planned = m_graph.node(id).meta();
    planned.fromNodes = provenance(m_graph.node(id));
    planned.value = std::move(meta);
    m_graph.setMeta(planted, std::move(planned));
    m_graph.replaceAllUsesWith(id, planted,
                               [&](const Node& user) { return user.id() != planted && (!users || users(user)); });
  }

  /// One draw a run decides for all calls that share a fault.
  NodeId drawOf(double probability) {
    const auto [known, isNew] = m_draws.try_emplace(probability);
    if (!isNew) return known->second;
    const auto first =
        std::ranges::find_if(m_graph.order(), [&](NodeId id) { return m_graph.node(id).op() != Opcode::Placeholder; });
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, *first);
    known->second = m_graph.callFunction(plantedOp("draw.default"), {Argument(probability)}, {}, "planted_draw");
    TensorMeta meta;
    meta.dtype = DType::Bool;
    m_graph.setValueMeta(known->second, {meta});
    return known->second;
  }

  Graph& m_graph;
  std::map<double, NodeId> m_draws;  ///< by probability
};

Result<void> plantInCalls(GraphModule& module, const FaultPlan& plan) {
  std::vector<std::pair<const Fault*, NodeId>> hits;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const Fault* fault = node.op() == Opcode::CallFunction ? plan.forTarget(node.target()) : nullptr;
    if (fault) hits.emplace_back(fault, id);
  }
  Planter planter(module.graph);
  for (const auto& [fault, id] : hits) planter.plant(*fault, id);
  return {};
}

Pass plantingPass(const FaultPlan& plan) {
  return {.name = "plant_faults",
          .stage = PassStage::PostGrad,
          .description = "Plants the faults that were asked for.",
          .run = [plan](GraphModule& module, const PassContext&) { return plantInCalls(module, plan); }};
}

Result<void> refuse(GraphModule& module, const PassContext&) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (!node.isCall("kerf.planted_compile_error.default"_op) || node.args().empty()) continue;
    const std::string* subject = node.args()[0].as<std::string>();
    Error error{ErrorCode::CompileFailed, "planted compile error", {}, 0, subject ? *subject : node.name(), {}};
    return fail(std::move(error));
  }
  return {};
}

Pass refusingPass() {
  return {.name = "refuse_planted",
          .stage = PassStage::Lowering,
          .description = "Fails where a compile error was planted.",
          .run = refuse};
}

/// First output whose value may be floating; invalid if there is none.
NodeId firstFloatOutput(const Graph& graph) {
  if (!graph.outputNode().valid()) return {};
  for (const NodeId id : graph.node(graph.outputNode()).inputs()) {
    const TensorMeta* meta = graph.node(id).meta().value.tensor();
    if (meta && isFloating(meta->dtype)) return id;
  }
  return {};
}

Result<void> plantInResult(GraphModule& module, const Fault& fault) {
  if (fault.kind == FaultKind::CompileError)
    return fail(ErrorCode::CompileFailed, "planted compile error in pass {}", fault.subject);
  const NodeId target = firstFloatOutput(module.graph), output = module.graph.outputNode();
  Planter planter(module.graph);
  if (fault.kind != FaultKind::Accuracy && fault.kind != FaultKind::Flaky)
    planter.strikeBefore(fault, output, target.valid() ? target : output);
  else if (target.valid())
    planter.shift(fault, target, [&](const Node& user) { return user.id() == output; });
  return {};
}

/// A pass that breaks what it leaves.
Pass broken(Pass pass, const Fault& fault) {
  pass.run = [run = std::move(pass.run), fault](GraphModule& module, const PassContext& context) -> Result<void> {
    KERF_CHECK(run(module, context));
    return context.path.empty() ? plantInResult(module, fault) : Result<void>();
  };
  return pass;
}

/// The names of the ops that a module calls, nested graphs included.
void collectTargets(const GraphModule& module, std::set<std::string>& targets, int depth = 0) {
  constexpr int maxDepth = 100;
  for (const NodeId id : module.graph.order())
    if (module.graph.node(id).op() == Opcode::CallFunction) targets.insert(module.graph.node(id).target());
  for (const auto& [name, submodule] : module.submodules)
    if (submodule.graph && depth < maxDepth) collectTargets(*submodule.graph, targets, depth + 1);
}

}  // namespace

std::vector<Pass> withFaults(std::vector<Pass> passes, const FaultPlan& plan) {
  if (plan.empty()) return passes;
  for (Pass& pass : passes)
    if (const Fault* fault = plan.forPass(pass.name)) pass = broken(std::move(pass), *fault);
  const auto lowering = std::ranges::find(passes, PassStage::Lowering, &Pass::stage);
  passes.insert(lowering, plantingPass(plan));
  passes.push_back(refusingPass());
  return passes;
}

Result<void> checkFaults(const FaultPlan& plan, const GraphModule& module, std::span<const Pass> passes) {
  std::set<std::string> targets;
  collectTargets(module, targets);
  for (const Fault& fault : plan.faults) {
    const std::string text = FaultPlan{{fault}}.text();
    if (fault.onPass && std::ranges::find(passes, fault.subject, &Pass::name) == passes.end())
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: the passes that run are {}", text,
                  fmt::join(passes | std::views::transform(&Pass::name), ", "));
    if (!fault.onPass && std::ranges::none_of(targets, [&](const auto& target) { return fault.hits(target); }))
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: the graph that is compiled calls {}", text,
                  targets.empty() ? "nothing" : fmt::format("{}", fmt::join(targets, ", ")));
  }
  return {};
}

}  // namespace kerf::inline passes
