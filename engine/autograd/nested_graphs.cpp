#include "engine/autograd/nested_graphs.h"

#include <algorithm>

#include "engine/autograd/aot_interpreter.h"
#include "engine/ir/submodules.h"
#include "engine/ir/value_meta.h"

namespace kerf::inline autograd {
namespace {

constexpr std::string_view keptCalls[] = {
    "cond",
    "while_loop",
    "scan",
    "map",
    "map_impl",
    "associative_scan",
    "while_loop_stack_output",
    "flex_attention",
    "flex_attention_backward",
    "triton_kernel_wrapper_functional",
    "triton_kernel_wrapper_mutation",
};

std::string_view shortName(std::string_view target) { return target.substr(target.rfind('.') + 1); }

/// A nested graph's own trace: its module, and the tracer while it runs.
struct Branch {
  GraphModule module;
  AotTracer tracer;
  ValueList operands;

  explicit Branch(bool differentiates) : tracer(module, {true, differentiates}) {}
};

Result<Value> operandPlaceholder(Branch& branch, std::size_t i, const Value& operand) {
  const NodeId node = branch.module.graph.placeholder(fmt::format("arg{}_1", i));
  branch.module.graph.setValueMeta(node, metaOf(operand));
  return branch.tracer.valueOfNode(node);
}

Result<void> finish(Branch& branch, const ValueList& outputs) {
  ArgumentList items;
  for (const Value& value : outputs) {
    KERF_TRY(Argument argument, branch.tracer.argumentOf(value));
    items.push_back(std::move(argument));
  }
  branch.module.graph.output(Argument::tuple(std::move(items)));
  return {};
}

Result<ValueList> runBranch(Branch& branch, AotInterpreter& interpreter) {
  KERF_TRY(const Value result, interpreter.run(branch.operands));
  KERF_TRY(const Value outputs, branch.tracer.current(result));
  return outputs.isList() ? outputs.list() : ValueList{outputs};
}

Result<std::shared_ptr<const GraphModule>> tracedBranch(const GraphModule& graph, const ValueList& operands) {
  Branch branch(false);
  for (const Value& operand : operands) {
    KERF_TRY(Value value, operandPlaceholder(branch, branch.operands.size(), operand));
    branch.operands.push_back(std::move(value));
  }
  const LiftedAttributes none;
  AotInterpreter interpreter(graph, branch.tracer, none);
  KERF_TRY(const ValueList outputs, runBranch(branch, interpreter));
  KERF_CHECK(finish(branch, outputs));
  return std::make_shared<const GraphModule>(std::move(branch.module));
}

/// A nested graph by its own placeholders; null where they are not described, or where it writes into one.
Result<std::shared_ptr<const GraphModule>> tracedAlone(const GraphModule& graph) {
  Branch branch(false);
  for (const NodeId id : graph.graph.placeholders()) {
    const ValueMeta& meta = graph.graph.node(id).meta().value;
    if (meta.tensor() == nullptr && meta.sym() == nullptr) return nullptr;
    const NodeId node = branch.module.graph.placeholder(fmt::format("arg{}_1", branch.operands.size()));
    branch.module.graph.setValueMeta(node, meta);
    KERF_TRY(Value value, branch.tracer.valueOfNode(node));
    branch.operands.push_back(std::move(value));
  }
  const LiftedAttributes none;
  AotInterpreter interpreter(graph, branch.tracer, none);
  KERF_TRY(const Value result, interpreter.run(branch.operands));
  for (const Value& operand : branch.operands) {
    KERF_TRY(const Value now, branch.tracer.current(operand));
    KERF_TRY(const Argument before, branch.tracer.argumentOf(operand));
    KERF_TRY(const Argument after, branch.tracer.argumentOf(now));
    if (before != after) return nullptr;
  }
  KERF_TRY(const Value outputs, branch.tracer.current(result));
  KERF_TRY(Argument output, branch.tracer.argumentOf(outputs));
  branch.module.graph.output(std::move(output));
  return std::make_shared<const GraphModule>(std::move(branch.module));
}

/// The branch's gradients: from its operands and the gradients of its outputs, for each tracked operand one tensor.
/// The forward part is computed again.
Result<std::shared_ptr<const GraphModule>> branchBackward(const GraphModule& graph, const ValueList& operands,
                                                          const std::vector<bool>& tracked, const ValueList& grads) {
  Branch branch(true);
  for (const Value& operand : operands) {
    KERF_TRY(Value value, operandPlaceholder(branch, branch.operands.size(), operand));
    if (tracked[branch.operands.size()]) branch.tracer.tape().addLeaf(value.tensor());
    branch.operands.push_back(std::move(value));
  }
  ValueList flows;
  for (const Value& grad : grads) {
    KERF_TRY(Value value, operandPlaceholder(branch, operands.size() + flows.size(), grad));
    flows.push_back(std::move(value));
  }
  const LiftedAttributes none;
  AotInterpreter interpreter(graph, branch.tracer, none);
  KERF_TRY(const ValueList outputs, runBranch(branch, interpreter));
  branch.tracer.beginBackward();
  const OpRunner run(branch.tracer);
  Gradients gradients(branch.tracer.tape().names());
  for (std::size_t i = 0; i < std::min(outputs.size(), flows.size()); ++i)
    if (branch.tracer.tape().tracksAny(outputs[i])) KERF_CHECK(gradients.add(outputs[i].tensor(), flows[i], run));
  KERF_CHECK(branch.tracer.tape().walkBack(gradients, run, [](NodeId) {}));
  ValueList results;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!tracked[i]) continue;
    Value gradient = gradients.of(branch.operands[i].tensor());
    if (gradient.isNone()) {
      KERF_TRY(gradient, run.value("aten.zeros_like.default"_op, {branch.operands[i]}));
    }
    results.push_back(std::move(gradient));
  }
  KERF_CHECK(finish(branch, results));
  return std::make_shared<const GraphModule>(std::move(branch.module));
}

/// Dynamo's names of nested graphs, and AOTAutograd's.
constexpr std::pair<std::string_view, std::string_view> kTracedNames[] = {
    {"cond_fn", "while_loop_cond_graph"},
    {"body_fn", "while_loop_body_graph"},
    {"map_body", "body_graph"},
    {"scan_combine_fn", "scan_combine_graph"},
    {"associative_scan_combine_fn", "associative_scan_combine_graph"},
};

/// "cond_fn_0" → "while_loop_cond_graph": the name of the trace of a nested graph; empty where it keeps its own.
std::string_view tracedName(std::string_view path) {
  const std::string_view base = path.substr(0, path.find_last_not_of("0123456789") + 1);
  const auto* row = std::ranges::find_if(kTracedNames, [base](const auto& each) {
    return base.size() == each.first.size() + 1 && base.starts_with(each.first) && base.ends_with('_');
  });
  return row == std::end(kTracedNames) ? std::string_view() : row->second;
}

/// Adds a nested graph under the first free name of name_0, name_1, …, and the node that names it. A name that has a
/// number is taken as it is, if it is free.
Result<NodeId> addGraph(GraphModule& module, std::string_view name, Submodule submodule) {
  std::string path(name);
  const bool isNumbered = !name.empty() && name.back() >= '0' && name.back() <= '9';
  for (int i = 0; module.submodule(path) != nullptr || (i == 0 && !isNumbered); ++i)
    path = fmt::format("{}_{}", name, i);
  KERF_CHECK(addSubmodule(module, path, std::move(submodule)));
  return module.graph.getAttr(path);
}

ValueMeta metaOfOutputs(const GraphModule& graph) {
  std::vector<ValueMeta> items;
  const Argument& output = graph.graph.node(graph.graph.outputNode()).args()[0];
  for (const Argument& item : output.asList()->items) {
    const NodeId* node = item.as<NodeId>();
    items.push_back(node != nullptr ? graph.graph.node(*node).meta().value : ValueMeta{});
  }
  return {std::move(items)};
}

const GraphModule* nestedGraph(const GraphModule& module, const Value& value) {
  const auto* path = value.as<std::string>();
  const Submodule* found = path ? module.submodule(*path) : nullptr;
  return found != nullptr ? found->graph.get() : nullptr;
}

/// cond(predicate, true graph, false graph, operands).
class CondCall {
 public:
  explicit CondCall(const GraphCall& call) : m_call(call) {}

  Result<Value> trace() {
    const Value* operands = m_call.args.size() > 3 ? &m_call.args[3] : nullptr;
    m_branches = {nestedGraph(m_call.module, m_call.args[1]), nestedGraph(m_call.module, m_call.args[2])};
    if (operands == nullptr || !operands->isList())
      return fail(ErrorCode::ShapeMismatch, "cond needs a condition, two graphs and a list of operands");
    for (std::size_t i = 0; i < m_branches.size(); ++i)
      if (m_branches[i] == nullptr)
        return fail(ErrorCode::UnsupportedOp, "the capture does not hold the nested graph '{}'",
                    m_call.args[i + 1].as<std::string>() ? *m_call.args[i + 1].as<std::string>() : "?");
    KERF_TRY(m_predicate, m_call.tracer.current(m_call.args[0]));
    KERF_TRY(const Value now, m_call.tracer.current(*operands));
    m_operands = now.list();
    std::vector<std::shared_ptr<const GraphModule>> traced;
    for (const GraphModule* branch : m_branches) {
      KERF_TRY(auto graph, tracedBranch(*branch, m_operands));
      traced.push_back(std::move(graph));
    }
    KERF_TRY(const NodeId node, addNode({"true_graph", "false_graph"}, traced, m_operands));
    const ValueMeta meta = m_call.node.meta().value.list() ? m_call.node.meta().value : metaOfOutputs(*traced.front());
    return m_call.tracer.addCall(node, meta, m_operands,
                                 [*this](const ValueList& grads, const OpRunner& run) { return backward(grads, run); });
  }

 private:
  Result<NodeId> addNode(const std::array<std::string_view, 2>& names,
                         const std::vector<std::shared_ptr<const GraphModule>>& graphs,
                         const ValueList& operands) const {
    GraphModule& module = m_call.tracer.target();
    KERF_TRY(Argument predicate, m_call.tracer.argumentOf(m_predicate));
    KERF_TRY(Argument list, m_call.tracer.argumentOf(Value(operands)));
    KERF_TRY(const NodeId first, addGraph(module, names[0], {graphs[0], {}}));
    KERF_TRY(const NodeId second, addGraph(module, names[1], {graphs[1], {}}));
    ArgumentList items = list.asList()->items;
    return module.graph.callFunction(
        "torch.ops.higher_order.cond",
        {std::move(predicate), Argument(first), Argument(second), Argument::tuple(std::move(items))}, {}, "cond");
  }

  Result<ValueList> backward(const ValueList& grads, const OpRunner& run) const {
    std::vector<bool> tracked;
    for (const Value& operand : m_operands)
      tracked.push_back(operand.isTensor() && m_call.tracer.tape().tracks(operand.tensor()));
    ValueList operands = m_operands, flows;
    for (std::size_t i = 0; i < grads.size(); ++i) flows.push_back(grads[i]);
    for (Value& flow : flows)
      if (flow.isNone()) return fail(ErrorCode::UnsupportedOp, "an output of cond has no gradient");
    std::vector<std::shared_ptr<const GraphModule>> graphs;
    for (const GraphModule* branch : m_branches) {
      KERF_TRY(auto graph, branchBackward(*branch, m_operands, tracked, flows));
      graphs.push_back(std::move(graph));
    }
    operands.insert(operands.end(), flows.begin(), flows.end());
    KERF_TRY(const NodeId node, addNode({"true_graph_backward", "false_graph_backward"}, graphs, operands));
    const Value result = m_call.tracer.addCall(node, metaOfOutputs(*graphs.front()));
    ValueList all(m_operands.size());
    for (std::size_t i = 0, next = 0; i < all.size(); ++i)
      if (tracked[i]) all[i] = result.list()[next++];
    static_cast<void>(run);
    return all;
  }

  GraphCall m_call;
  std::array<const GraphModule*, 2> m_branches{};
  Value m_predicate;
  ValueList m_operands;
};

}  // namespace

bool callsGraphs(std::string_view target) {
  return std::ranges::find(keptCalls, shortName(target)) != std::end(keptCalls);
}

bool tracesBranches(std::string_view target) { return shortName(target) == "cond"; }

Result<Value> traceWithGraphs(const GraphCall& call) {
  if (tracesBranches(call.node.target()) && call.args.size() > 2) return CondCall(call).trace();
  GraphModule& module = call.tracer.target();
  ValueList inputs;
  const auto argumentOf = [&](const Value& value) -> Result<Argument> {
    if (nestedGraph(call.module, value) != nullptr) {
      const std::string& path = *value.as<std::string>();
      const std::string_view name = tracedName(path);
      const auto traced = name.empty() ? Result<std::shared_ptr<const GraphModule>>(nullptr)
                                       : tracedAlone(*nestedGraph(call.module, value));
      const bool isTraced = traced && *traced != nullptr;
      KERF_TRY(const NodeId graph, addGraph(module, isTraced ? name : path,
                                            isTraced ? Submodule{*traced, {}} : *call.module.submodule(path)));
      return Argument(graph);
    }
    KERF_TRY(const Value now, call.tracer.current(value));
    inputs.push_back(now);
    return call.tracer.argumentOf(now);
  };
  ArgumentList args;
  for (const Value& value : call.args) {
    KERF_TRY(Argument argument, argumentOf(value));
    args.push_back(std::move(argument));
  }
  KeywordArguments kwargs;
  for (const auto& [name, value] : call.kwargs) {
    KERF_TRY(Argument argument, argumentOf(value));
    kwargs.emplace_back(name, std::move(argument));
  }
  const std::string target = call.node.target();
  const NodeId node = module.graph.callFunction(target, std::move(args), std::move(kwargs), shortName(target));
  const auto refuse = [target](const ValueList&, const OpRunner&) -> Result<ValueList> {
    return fail(ErrorCode::UnsupportedOp, "{} has no gradient rule", target);
  };
  return call.tracer.addCall(node, call.node.meta().value, inputs, refuse);
}

}  // namespace kerf::inline autograd
