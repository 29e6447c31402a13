#include "engine/autograd/aot_interpreter.h"

#include <algorithm>

#include "engine/autograd/nested_graphs.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline autograd {
namespace {

bool holdsTensor(const Value& value) {
  return value.isTensor() || (value.isList() && std::ranges::any_of(value.list(), holdsTensor));
}

/// Nested graphs that stay calls, and functions with a backward of their own.
bool isOpaqueToLevels(std::string_view target) {
  return callsGraphs(target) || target == "torch.ops.higher_order.autograd_function_apply";
}

}  // namespace

Result<Value> AotInterpreter::callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  m_tracer.setSource(&node);
  const std::string_view target = node.target();
  if (auto done = m_tracer.levels().call(target, args, kwargs)) return std::move(*done);
  if (target.starts_with("torch.ops.higher_order.")) {
    if (m_tracer.levels().isInside() && isOpaqueToLevels(target))
      return fail(ErrorCode::UnsupportedOp, "{} inside a transform of torch.func", target);
    if (callsGraphs(target)) return callWithGraphs(node, args, kwargs);
    return m_tracer.callHigherOrder(OpTarget(node.opId(), target), args, kwargs, *this);
  }
  const std::string onTensors = tensorOperator(target);
  if (!onTensors.empty() && std::ranges::any_of(args, holdsTensor)) return m_tracer.call(onTensors, args, kwargs);
  return m_tracer.call(OpTarget(node.opId(), target), args, kwargs);
}

Result<Value> AotInterpreter::callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  m_tracer.setSource(&node);
  return Interpreter::callMethod(node, args, kwargs);
}

Result<Value> AotInterpreter::callModule(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  m_tracer.setSource(&node);
  const Submodule* found = module().submodule(node.target());
  ValueList operands = args;
  for (const auto& [key, value] : kwargs) operands.push_back(value);
  if (found != nullptr && !found->graph)
    return m_tracer.call(fmt::format("module:{}={}", node.target(), found->repr), operands,
                         parametersOf(node.target()));
  return callSubgraph(node.target(), operands);
}

KeywordValues AotInterpreter::parametersOf(std::string_view module) const {
  KeywordValues found;
  for (const std::string_view name : parametersOfModules)
    if (const auto lifted = m_lifted.find(fmt::format("{}.{}", module, name)); lifted != m_lifted.end())
      found.emplace_back(name, lifted->second);
  return found;
}

Result<Value> AotInterpreter::getAttr(const Node& node) {
  if (const auto lifted = m_lifted.find(node.target()); lifted != m_lifted.end()) return lifted->second;
  if (const auto known = m_constants.find(node.target()); known != m_constants.end()) return known->second;
  m_tracer.setSource(&node);
  KERF_TRY(Value value, Interpreter::getAttr(node));
  if (value.isTensor()) {
    KERF_TRY(value, m_tracer.constant(node.target(), value.tensor()));
  }
  return m_constants.emplace(node.target(), std::move(value)).first->second;
}

Result<Value> AotInterpreter::callSubgraph(std::string_view path, const ValueList& args) const {
  const Submodule* found = module().submodule(path);
  if (found == nullptr || !found->graph) return fail(ErrorCode::NotFound, "there is no nested graph '{}'", path);
  if (m_nested.size() >= std::size_t(limits.depth) * 100)
    return fail(ErrorCode::TooLarge, "more than {} nested graphs are called", limits.depth * 100);
  static const LiftedAttributes none;
  m_nested.push_back(std::make_unique<AotInterpreter>(*found->graph, m_tracer, none));
  AotInterpreter& nested = *m_nested.back();
  nested.limits = limits;
  nested.limits.depth = limits.depth - 1;
  if (limits.depth <= 0) return fail(ErrorCode::TooLarge, "graphs are nested too deeply");
  return nested.run(args);
}

Result<Value> AotInterpreter::callWithGraphs(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  return traceWithGraphs({node, module(), m_tracer, args, kwargs});
}

}  // namespace kerf::inline autograd
