#include "engine/passes/plant_faults.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/memory_writes.h"
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
  if (!tensor || !meta.tensor() || !isFloating(meta.tensor()->dtype)) return meta;
  const auto shape = inferShapes(plantedOp("accuracy.default"), {*tensor}, {});
  return shape ? metaOf(*shape) : meta;
}

/// Calls of ops, functions and tensor methods.
bool isPlantable(const Node& node) { return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod; }

/// Whether an accuracy fault can change a value: a floating or complex tensor, or nobody knows.
bool mayShift(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return isFloating(tensor->dtype) || isComplex(tensor->dtype);
  if (meta.list()) return std::ranges::any_of(*meta.list(), mayShift);
  return true;
}

/// The overload of a planted op for such a value: one that is compiled, or one that looks at what it gets.
std::string_view formFor(const ValueMeta& meta) {
  return meta.tensor() && isFloating(meta.tensor()->dtype) ? "default" : "any";
}

/// Plants in one graph.
class Planter {
 public:
  explicit Planter(Graph& graph) : m_graph(graph) {}

  void plant(const Fault& fault, NodeId id) {
    if (fault.kind != FaultKind::Accuracy && fault.kind != FaultKind::Flaky) return strikeBefore(fault, id, id);
    if (!returnsWhatItWrites(id)) shift(fault, id, {});
    shiftWritten(fault, id);
  }

  /// Adds 1, always or in some runs, to every floating tensor that the chosen users of a node read.
  void shift(const Fault& fault, NodeId id, const Users& users) {
    const ValueMeta meta = m_graph.node(id).meta().value;
    if (meta.list() && onlyItemsUsed(id)) return shiftItems(fault, id);
    if (mayShift(meta)) addShift(fault, id, formFor(meta), shiftedMeta(meta), users);
  }

  /// The call that fails, crashes or hangs; it speaks of `id`.
  void strikeBefore(const Fault& fault, NodeId place, NodeId id) {
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, place);
    ArgumentList args{Argument(m_graph.node(id).name())};
    if (fault.kind == FaultKind::Crash || fault.kind == FaultKind::Hang) args.emplace_back(plantingMark());
    m_graph.callFunction(plantedOp(faultKindName(fault.kind)) + ".default", std::move(args), {}, "planted");
  }

  /// What a call left in memory is wrong for whoever looks at that memory: "copy_" that copies something else. False
  /// where it writes no floats.
  bool shiftWritten(const Fault& fault, NodeId id) {
    bool shifted = false;
    for (const NodeId written : writtenBy(id, false)) {
      const ValueMeta meta = m_graph.node(written).meta().value;
      if (!mayShift(meta) || meta.list()) continue;
      ArgumentList args;
      if (fault.kind == FaultKind::Flaky) args.emplace_back(drawOf(fault.probability));
      args.emplace_back(written);
      const InsertionScope scope(m_graph, InsertionScope::Where::After, id);
      const NodeId planted =
          m_graph.callFunction(plantedOp(fmt::format("{}.{}", faultKindName(fault.kind), formFor(meta))),
                               std::move(args), {}, m_graph.node(id).name() + "_planted");
      describe(planted, id, shiftedMeta(meta));
      const InsertionScope after(m_graph, InsertionScope::Where::After, planted);
      describe(m_graph.callFunction("torch.ops.aten.copy_.default", {Argument(written), Argument(planted)}, {},
                                    m_graph.node(id).name() + "_planted"),
               id, meta);
      shifted = true;
    }
    return shifted;
  }

 private:
  /// The arguments that a call writes into; `returned` asks for those only that its result is.
  std::vector<NodeId> writtenBy(NodeId id, bool returned) const {
    std::vector<NodeId> written;
    forEachMemoryUse(m_graph.node(id), [&](const Argument& argument, bool writes, bool shares) {
      if (writes && (!returned || shares)) forEachNode(argument, [&](NodeId input) { written.push_back(input); });
    });
    return written;
  }
  bool returnsWhatItWrites(NodeId id) const { return !writtenBy(id, true).empty(); }

  /// A node made for `like`.
  void describe(NodeId made, NodeId like, ValueMeta value) {
    NodeMeta meta = m_graph.node(like).meta();
    meta.fromNodes = provenance(m_graph.node(like));
    meta.value = std::move(value);
    m_graph.setMeta(made, std::move(meta));
  }

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
    describe(planted, id, std::move(meta));
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

/// Whether the graph calls all that a fault needs besides the op that it hits.
bool callsOthers(const Graph& graph, const Fault& fault) {
  return std::ranges::all_of(fault.others, [&](const std::string& other) {
    return std::ranges::any_of(graph.order(), [&](NodeId id) {
      return isPlantable(graph.node(id)) && namesTarget(other, graph.node(id).target());
    });
  });
}

Result<void> plantInCalls(GraphModule& module, const FaultPlan& plan) {
  std::vector<const Fault*> active;
  for (const Fault& fault : plan.faults)
    if (callsOthers(module.graph, fault)) active.push_back(&fault);
  std::vector<std::pair<const Fault*, NodeId>> hits;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    for (const Fault* fault : active)  // one call may have several
      if (isPlantable(node) && fault->hits(node.target())) hits.emplace_back(fault, id);
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

Result<void> refuse(GraphModule& module, const PassContext& context) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (!node.isCall("kerf.planted_compile_error.default"_op) || node.args().empty()) continue;
    const std::string* subject = node.args()[0].as<std::string>();
    std::string name = subject ? *subject : node.name();
    if (!context.path.empty()) name = fmt::format("{}/{}", context.path, name);
    return fail(Error(ErrorCode::CompileFailed, "planted compile error", {}, 0, std::move(name)));
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
  else  // a graph that returns nothing: what it writes is its result
    for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end()))
      if (planter.shiftWritten(fault, id)) break;
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
    if (isPlantable(module.graph.node(id))) targets.insert(module.graph.node(id).target());
  for (const auto& [name, submodule] : module.submodules)
    if (submodule.graph && depth < maxDepth) collectTargets(*submodule.graph, targets, depth + 1);
}

/// Whether some call that an accuracy fault hits has a result, or memory it writes, that the fault changes.
bool changesSomething(const GraphModule& module, const Fault& fault, int depth = 0) {
  constexpr int maxDepth = 100;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (!isPlantable(node) || !fault.hits(node.target())) continue;
    bool changes = mayShift(node.meta().value);
    forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool) {
      if (!writes) return;
      forEachNode(argument, [&](NodeId written) { changes |= mayShift(module.graph.node(written).meta().value); });
    });
    if (changes) return true;
  }
  return std::ranges::any_of(module.submodules, [&](const auto& entry) {
    return entry.second.graph && depth < maxDepth && changesSomething(*entry.second.graph, fault, depth + 1);
  });
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

Pass breakingPass(const Fault& fault) {
  const auto nothing = [](GraphModule&, const PassContext&) { return Result<void>(); };
  return broken({.name = "break_" + fault.subject,
                 .stage = PassStage::Lowering,
                 .description = "Plants the fault of a part of the compiler that is not a pass.",
                 .run = nothing},
                fault);
}

Result<void> checkFaults(const FaultPlan& plan, const GraphModule& module, std::span<const Pass> passes) {
  std::set<std::string> targets;
  collectTargets(module, targets);
  for (const Fault& fault : plan.faults) {
    const std::string text = FaultPlan{{fault}}.text();
    if (fault.onPass && std::ranges::find(passes, fault.subject, &Pass::name) == passes.end())
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: the passes that run are {}", text,
                  fmt::join(passes | std::views::transform(&Pass::name), ", "));
    const auto isCalled = [&](const std::string& op) {
      return std::ranges::any_of(targets, [&](const auto& target) { return namesTarget(op, target); });
    };
    if (!fault.onPass && (!isCalled(fault.subject) || !std::ranges::all_of(fault.others, isCalled)))
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: the graph that is compiled calls {}", text,
                  targets.empty() ? "nothing" : fmt::format("{}", fmt::join(targets, ", ")));
    const bool shifts = fault.kind == FaultKind::Accuracy || fault.kind == FaultKind::Flaky;
    if (!fault.onPass && shifts && !changesSomething(module, fault))
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: no call of it gives or writes floating-point numbers",
                  text);
  }
  return {};
}

}  // namespace kerf::inline passes
