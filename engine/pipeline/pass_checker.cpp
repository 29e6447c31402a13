#include "engine/pipeline/pass_checker.h"

#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/dtype_module.h"

namespace kerf::inline pipeline {

namespace {

/// Results of a run, then its inputs as it left them.
constexpr std::size_t outputPart = 0;

std::vector<std::string> writtenAttributes(const GraphModule& module) {
  std::vector<std::string> paths;
  for (const auto& [path, answer] : memoryWrites(module).attributes)
    if (module.attribute(path)) paths.push_back(path);
  return paths;
}

Value copyOf(const Value& value) {
  if (!value.isTensor() || !value.tensor().defined()) return value;
  auto copy = value.tensor().clonePreservingStrides();
  return copy ? Value(std::move(*copy)) : value;
}

const OutputVerdict* firstDifference(const SameReport& report) {
  for (const OutputVerdict& row : report.outputs)
    if (!row.same) return &row;
  return nullptr;
}

}  // namespace

PassChecker::PassChecker(ValueList inputs, double tolerance) : m_inputs(std::move(inputs)) {
  m_options.tolerance = tolerance;
  m_options.equalNan = true;
}

Result<Value> PassChecker::run(const GraphModule& module, bool inFloat64, NodeValues* nodes) const {
  KERF_TRY(const GraphModule own, withOwnAttributes(module, writtenAttributes(module)));
  KERF_TRY(ValueList inputs, cloneInputs(m_inputs, false));
  CastGraph cast;
  if (inFloat64) {
    KERF_TRY(cast, castGraph(own, inputs, DType::Float64));
    inputs = cast.inputs;
  }
  const RandomScope random;
  Interpreter interpreter(inFloat64 ? cast.module : own, referenceOps());
  if (nodes) interpreter.onNode = [&](const Node& node, const Value& value) { (*nodes)[node.name()] = copyOf(value); };
  KERF_TRY(Value outputs, interpreter.run(inputs));
  return Value(ValueList{std::move(outputs), Value(std::move(inputs))});
}

void PassChecker::beforePipeline(const GraphModule& module) {
  m_before = module;
  auto values = run(module, false);
  if (!values) {
    m_failure = values.error().text();
    return;
  }
  m_values = std::move(*values);
  if (auto exact = run(module, true)) m_float64 = std::move(*exact);
}

void PassChecker::afterPass(const Pass& pass, const GraphModule& module) {
  if (!m_failure.empty() || m_first || module.revision() == m_before.revision()) return;
  compare(pass, module);
  m_before = module;
}

void PassChecker::compare(const Pass& pass, const GraphModule& module) {
  ++m_checked;
  auto values = run(module, false);
  if (!values) {
    m_first = ChangedValues{.pass = pass.name, .result = {}, .node = values.error().node,
                            .reason = values.error().text()};
    return;
  }
  for (std::size_t part = 0; part < 2; ++part) {
    const Value exact = m_float64.isList() ? m_float64.list()[part] : Value();
    const SameReport report = same(m_values.list()[part], values->list()[part], exact, m_options);
    const OutputVerdict* row = firstDifference(report);
    if (!row) continue;
    const std::string result = part == outputPart ? row->name : "in" + row->name.substr(std::string_view("out").size());
    m_first = ChangedValues{pass.name, result, firstDifferentNode(module), row->reason, row->maxAbsError};
    return;
  }
  m_values = std::move(*values);
}

std::string PassChecker::firstDifferentNode(const GraphModule& module) const {
  NodeValues before, after;
  if (!run(m_before, false, &before) || !run(module, false, &after)) return {};
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const auto was = before.find(node.name());
    const auto is = after.find(node.name());
    if (node.op() == Opcode::Output || was == before.end() || is == after.end()) continue;
    if (!same(was->second, is->second, {}, m_options).same) return node.name();
  }
  return {};
}

}  // namespace kerf::inline pipeline
