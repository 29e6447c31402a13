#include "engine/pipeline/pass_checker.h"

#include <algorithm>

#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/random/state.h"
#include "engine/passes/node_facts.h"
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

/// Whether a pass left a node as it was; it keeps the id of what it does not make anew.
bool isUntouched(const Graph& before, const Node& node) {
  const Node& was = before.node(node.id());
  return was.name() == node.name() && was.target() == node.target() && was.args() == node.args() &&
         was.kwargs() == node.kwargs();
}

/// Values of the pure calls with which both graphs begin: no need to compute them again.
Environment sharedBeginning(const Graph& before, const Graph& after, const Environment& values) {
  Environment known;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const NodeId id = after.order()[i];
    const Node& node = after.node(id);
    if (before.order()[i] != id || !isUntouched(before, node) || !values.contains(id)) break;
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr) continue;
    if (!isPureCall(node)) break;
    if (!mayGiveView(node)) known.emplace(id, values.at(id));  // a view looks at memory of the run's own
  }
  return known;
}

const OutputVerdict* firstDifference(const SameReport& report) {
  for (const OutputVerdict& row : report.outputs)
    if (!row.same) return &row;
  return nullptr;
}

}  // namespace

PassChecker::PassChecker(ValueList inputs, double tolerance, std::vector<PassStage> stages)
    : m_inputs(std::move(inputs)), m_stages(std::move(stages)) {
  m_options.tolerance = tolerance;
  m_options.equalNan = true;
  m_options.exactSpecials = true;
}

Result<Value> PassChecker::run(const GraphModule& module, bool inFloat64) const {
  KERF_TRY(const GraphModule own, withOwnAttributes(module, writtenAttributes(module)));
  KERF_TRY(ValueList inputs, cloneInputs(m_inputs, false));
  CastGraph cast;
  if (inFloat64) {
    KERF_TRY(cast, castGraph(own, inputs, DType::Float64));
    inputs = cast.inputs;
  }
  const RandomScope random;
  Interpreter interpreter(inFloat64 ? cast.module : own, referenceOps());
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

bool PassChecker::checks(const Pass& pass) const {
  return m_failure.empty() && !m_first &&
         (m_stages.empty() || std::ranges::find(m_stages, pass.stage) != m_stages.end());
}

/// A pass that is not checked may have changed the graph since.
void PassChecker::beforePass(const Pass& pass, const GraphModule& module) {
  if (checks(pass) && module.revision() != m_before.revision()) beforePipeline(module);
}

void PassChecker::afterPass(const Pass& pass, const GraphModule& module) {
  if (!checks(pass) || module.revision() == m_before.revision()) return;
  compare(pass, module);
  m_before = module;
}

void PassChecker::compare(const Pass& pass, const GraphModule& module) {
  ++m_checked;
  auto values = run(module, false);
  if (!values) {
    m_first =
        ChangedValues{.pass = pass.name, .result = {}, .node = values.error().node, .reason = values.error().text()};
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

Result<Environment> PassChecker::nodeValues(const GraphModule& module, const Environment& known) const {
  KERF_TRY(const GraphModule own, withOwnAttributes(module, writtenAttributes(module)));
  KERF_TRY(const ValueList inputs, cloneInputs(m_inputs, false));
  const RandomScope random;
  Interpreter interpreter(own, referenceOps());
  Environment values = known, given;
  for (const auto& [id, value] : known) given.emplace(id, copyOf(value));  // the run may write into it
  interpreter.onNode = [&](const Node& node, const Value& value) { values[node.id()] = copyOf(value); };
  interpreter.start(inputs, {}, given);
  for (bool more = true; more;) {
    KERF_TRY(more, interpreter.step());
  }
  return values;
}

std::string PassChecker::firstDifferentNode(const GraphModule& module) const {
  const auto before = nodeValues(m_before);
  if (!before) return {};
  const auto after = nodeValues(module, sharedBeginning(m_before.graph, module.graph, *before));
  if (!after) return {};
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const auto twin = m_before.graph.find(node.name());
    if (node.op() == Opcode::Output || !twin || !before->contains(*twin) || !after->contains(id)) continue;
    if (!same(before->at(*twin), after->at(id), {}, m_options).same) return node.name();
  }
  return {};
}

}  // namespace kerf::inline pipeline
