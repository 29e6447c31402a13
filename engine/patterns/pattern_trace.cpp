// Tracing of pattern functions by AOTAutograd's stages.
#include "engine/patterns/pattern_trace.h"

#include <algorithm>
#include <set>

#include "engine/autograd/aot_graph.h"
#include "engine/autograd/decompose.h"
#include "engine/ops/core/op_registry.h"
#include "engine/passes/dce.h"
#include "engine/passes/remove_noop_ops.h"

namespace kerf::inline patterns {

namespace {

Result<void> runPass(const Pass& pass, GraphModule& module) { return pass.run(module, {pass.options, ""}); }

/// Placeholders in the order of the tensors among `inputs`, tangents behind them.
void namePlaceholders(Graph& graph, const PatternInputs& inputs) {
  std::vector<std::string> names;
  for (const PatternInput& input : inputs)
    if (input.tensor) names.push_back(input.name);
  const auto placeholders = graph.placeholders();
  for (std::size_t i = names.size(); i < placeholders.size(); ++i)
    names.push_back(fmt::format("tangents_{}", i - names.size() + 1));
  for (const NodeId id : graph.order()) {  // none of a call may be in the way
    const Node& node = graph.node(id);
    if (node.op() != Opcode::Placeholder && std::ranges::find(names, node.name()) != names.end())
      graph.rename(id, node.name() + "_call");
  }
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (graph.node(placeholders[i]).name() != names[i]) graph.rename(placeholders[i], names[i]);
}

}  // namespace

PatternArguments::PatternArguments(Tracer& tracer, const PatternInputs& inputs) : m_tracer(tracer), m_inputs(inputs) {
  for (const PatternInput& input : inputs)
    if (input.tensor) m_nodes.emplace_back(input.name, tracer.placeholder(input.name, ValueMeta{*input.tensor}).node());
}

const PatternInput* PatternArguments::find(std::string_view name) const {
  const auto found =
      std::ranges::find(m_inputs, name, [](const PatternInput& one) -> std::string_view { return one.name; });
  return found == m_inputs.end() ? nullptr : &*found;
}

Argument PatternArguments::operator[](std::string_view name) const {
  const auto node = std::ranges::find(m_nodes, name, &std::pair<std::string_view, NodeId>::first);
  if (node != m_nodes.end()) return node->second;
  const PatternInput* input = find(name);
  return input == nullptr ? Argument() : input->value;
}

Proxy PatternArguments::tensor(std::string_view name) const {
  const Argument value = (*this)[name];
  if (const NodeId* node = value.as<NodeId>()) return {m_tracer, *node};
  return m_tracer.aten("full.default", {Argument::list({}), value});
}

TensorMeta PatternArguments::meta(std::string_view name) const {
  const PatternInput* input = find(name);
  return input == nullptr || !input->tensor ? TensorMeta() : *input->tensor;
}

std::int64_t PatternArguments::size(std::string_view name, int dim) const {
  const TensorMeta tensor = meta(name);
  const int at = dim < 0 ? dim + int(tensor.sizes.size()) : dim;
  if (at < 0 || at >= int(tensor.sizes.size())) return 0;
  return tensor.sizes[std::size_t(at)].hint.value_or(0);
}

double PatternArguments::number(std::string_view name) const {
  const Argument value = (*this)[name];
  if (const auto* real = value.as<double>()) return *real;
  const auto* integer = value.as<std::int64_t>();
  return integer == nullptr ? 0.0 : double(*integer);
}

Result<TracedPattern> tracePattern(const PatternFunction& function, const PatternInputs& inputs, PatternTrace trace,
                                   DecompositionTable table) {
  std::size_t results = 0;
  KERF_TRY(GraphModule module, traceFunction([&](Tracer& tracer) {
             ArgumentList outputs;
             for (const Proxy& result : function(PatternArguments(tracer, inputs))) outputs.push_back(result.node());
             results = outputs.size();
             tracer.output(Argument::tuple(std::move(outputs)));
           }));
  if (results == 0) return fail(ErrorCode::BadUsage, "the pattern returns nothing");
  KERF_CHECK(propagateShapes(module));

  std::set<std::string> trained;
  for (const PatternInput& input : inputs)
    if (input.tensor && input.tensor->requiresGrad) trained.insert(input.name);
  AotOptions options{.stage = trace == PatternTrace::JointFwdBwd ? AotStage::Joint : AotStage::Functional};
  options.requiresGrad = [&trained](const AotInput& input) { return trained.contains(input.source); };
  KERF_TRY(AotGraph traced, aotTrace(module, plainInputs(module), options));
  KERF_TRY(GraphModule flat, decomposeGraph(traced.module, table));
  KERF_CHECK(runPass(removeNoopOpsPass(), flat));
  KERF_CHECK(runPass(dcePass(), flat));
  namePlaceholders(flat.graph, inputs);
  return TracedPattern{std::move(flat), traced.userOutputs};
}

}  // namespace kerf::inline patterns
