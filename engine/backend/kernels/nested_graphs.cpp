#include "engine/backend/kernels/nested_graphs.h"

#include <algorithm>

#include "engine/backend/kernels/nested_operands.h"
#include "engine/ir/call_values.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/python/python_level.h"
#include "engine/support/log.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline backend {
namespace {

/// Nodes of nested graphs that are looked at to find the shapes of one call.
constexpr std::int64_t shapeBudget = 5'000'000;

bool isHigherOrder(const Node& node) {
  return node.op() == Opcode::CallFunction && node.target().starts_with("torch.ops.higher_order.");
}

bool callsGraph(const GraphModule& module, const Node& node) {
  if (isHigherOrder(node)) return true;
  if (node.op() != Opcode::CallModule) return false;
  const Submodule* found = module.submodule(node.target());
  return found != nullptr && found->graph;
}

bool isKnownOp(const Node& node) {
  return node.op() != Opcode::CallFunction || findOp(node) || isHigherOrder(node) || runsAsPython(node.target());
}

/// "body_fn/add_3" for an error at add_3.
Error within(std::string_view path, Error error) {
  error.node = error.node.empty() ? std::string(path) : fmt::format("{}/{}", path, error.node);
  return error;
}

/// Calls whose meaning depends on where in its storage a tensor lies.
bool looksAtOffsets(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const std::string& target = graph.node(id).target();
    return target.find("as_strided") != std::string::npos || target.find("storage_offset") != std::string::npos;
  });
}

void addPaths(const Argument& argument, std::set<std::string>& paths) {
  if (const auto* graph = argument.as<SubgraphRef>()) paths.insert(graph->path);
  if (const auto* list = argument.asList())
    for (const Argument& item : list->items) addPaths(item, paths);
}

/// Paths that nodes mention, of nested graphs and of tensors.
std::set<std::string> namedPaths(const Graph& graph) {
  std::set<std::string> paths;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::GetAttr || node.op() == Opcode::CallModule) paths.insert(node.target());
    for (const Argument& argument : node.args()) addPaths(argument, paths);
  }
  return paths;
}

void addPrefix(std::string_view path, std::vector<std::string>& names) {
  for (std::string& name : names) name = fmt::format("{}/{}", path, name);
}

}  // namespace

/// Compiles the graphs that an op calls while its shapes are found.
class NestedGraphs::Recorder : public SubgraphCaller {
 public:
  Recorder(NestedGraphs& graphs, const std::stop_token& stop) : m_graphs(graphs), m_stop(stop) {}

  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override {
    KERF_TRY(Body* const body, m_graphs.find(path));
    if (body->variants.empty()) KERF_CHECK(compile(path, *body, args));
    Interpreter shapes(*body->graph, shapeOps());
    shapes.limits.nodes = m_budget;
    auto result = shapes.run(args);
    m_budget = std::max<std::int64_t>(m_budget - shapes.nodesRun(), 0);
    return result;
  }

  /// The error that ends the compilation.
  std::optional<Error> error() const { return m_error; }

 private:
  /// Ops without code and planted errors are final; with other operands than shape rules tell the rest may work.
  Result<void> compile(std::string_view path, Body& body, const ValueList& args) const {
    const auto compiled = m_graphs.addVariant(body, args, m_stop);
    if (compiled) return {};
    Error error = within(path, compiled.error());
    logAt(LogCategory::Compile, LogLevel::Debug, "not compiled ahead: {}", error.text());
    const ErrorCode code = error.code;
    if (code != ErrorCode::UnsupportedOp && code != ErrorCode::CompileFailed && code != ErrorCode::Cancelled) return {};
    if (!m_error) m_error = error;
    return fail(std::move(error));
  }

  NestedGraphs& m_graphs;
  const std::stop_token& m_stop;
  mutable std::int64_t m_budget = shapeBudget;
  mutable std::optional<Error> m_error;
};

bool NestedGraphs::areCalledBy(const GraphModule& module) {
  return std::ranges::any_of(module.graph.order(),
                             [&](NodeId id) { return callsGraph(module, module.graph.node(id)); });
}

Result<NestedGraphs::Body*> NestedGraphs::find(std::string_view path) {
  if (const auto known = m_bodies.find(path); known != m_bodies.end()) return &known->second;
  const Submodule* found = m_owner->submodule(path);
  if (found == nullptr) return fail(ErrorCode::NotFound, "there is no submodule '{}'", path);
  if (!found->graph)
    return fail(ErrorCode::UnsupportedOp, "submodule '{}' ({}) has no graph to run", path, found->repr);
  Body body{.graph = found->graph};
  body.usesOuterSymbols = hasSymbolicArguments(*body.graph);
  body.usesOffsets = looksAtOffsets(body.graph->graph);
  return &m_bodies.emplace(std::string(path), std::move(body)).first->second;
}

Result<void> NestedGraphs::compileAll(const std::stop_token& stop) {
  for (const NodeId id : m_owner->graph.order()) {
    const Node& node = m_owner->graph.node(id);
    if (!callsGraph(*m_owner, node)) continue;
    ShapeEnv* const env = ShapeEnv::current();
    const auto before = env ? std::optional(env->mark()) : std::nullopt;
    auto done = compileCalledBy(node, stop);
    if (env) env->rollBack(*before);
    if (!done) return done;
  }
  for (const std::string& path : namedPaths(m_owner->graph))
    if (const Submodule* named = m_owner->submodule(path); named && named->graph && !m_bodies.contains(path))
      KERF_CHECK(checkOps(path));
  return {};
}

Result<void> NestedGraphs::compileCalledBy(const Node& node, const std::stop_token& stop) {
  bool known = true;
  Value current;
  const auto lookup = [&](NodeId id) -> const Value& {
    const Node& input = m_owner->graph.node(id);
    const bool isPath = input.op() == Opcode::GetAttr && m_owner->submodule(input.target());
    auto value = isPath ? Value(input.target()) : valueOf(input.meta().value);
    known = known && value;
    return current = value.value_or(Value());
  };
  KERF_TRY(CallValues call, callValues(node, lookup));
  if (!known) return {};
  const Recorder recorder(*this, stop);
  if (node.op() == Opcode::CallModule) {
    for (auto& [key, value] : call.kwargs) call.args.push_back(std::move(value));
    (void)recorder.callSubgraph(node.target(), call.args);
  } else {
    (void)shapeOps().callHigherOrder(node.target(), call.args, call.kwargs, recorder);
  }
  if (recorder.error()) return fail(*recorder.error());
  return {};
}

/// Of a graph that nothing has called yet.
Result<void> NestedGraphs::checkOps(const std::string& path) const {
  const GraphModule& graph = *m_owner->submodule(path)->graph;
  for (const NodeId id : graph.graph.order()) {
    const Node& node = graph.graph.node(id);
    if (isKnownOp(node)) continue;
    const std::string message = fmt::format("no kernel, shape rule or lowering knows {}", node.target());
    return fail(within(path, Error(ErrorCode::UnsupportedOp, message, {}, 0, node.name())));
  }
  return {};
}

/// The graph of a body with its operands on the placeholders and shapes everywhere.
Result<GraphModule> NestedGraphs::described(const Body& body, const ValueList& operands) const {
  GraphModule graph = *body.graph;
  const auto placeholders = graph.graph.placeholders();
  if (operands.size() > placeholders.size())
    return fail(ErrorCode::BadInput, "the graph takes {} inputs but {} were given", placeholders.size(),
                operands.size());
  // A graph that was compiled often already is guarded on its integers: then they are any number.
  const bool symbolicIntegers = body.compilations < int(maximumVariants);
  for (std::size_t i = 0; i < operands.size(); ++i)
    graph.graph.setValueMeta(placeholders[i], operandMeta(operands[i], i, symbolicIntegers));
  if (body.usesOuterSymbols && !m_symbols.empty()) {
    KERF_TRY(graph, withExample(graph, m_symbols));
  }
  if (!InputSymbols(graph).any()) {
    KERF_TRY(graph, withoutSymbols(graph));
  }
  KERF_CHECK(propagateShapes(graph));
  return graph;
}

Result<void> NestedGraphs::addVariant(Body& body, const ValueList& operands, const std::stop_token& stop) {
  KERF_TRY(GraphModule graph, described(body, operands));
  const bool hasSymbols = InputSymbols(graph).any();
  auto shared = std::make_shared<const GraphModule>(std::move(graph));
  auto code = m_compile(shared, stop);
  if (!code && hasSymbols && code.error().code != ErrorCode::Cancelled) {  // for these numbers alone
    KERF_TRY(GraphModule fixed, withoutSymbols(*shared));
    shared = std::make_shared<const GraphModule>(std::move(fixed));
    if (auto retried = m_compile(shared, stop)) code = std::move(retried);
  }
  if (!code) return fail(std::move(code).error());
  ++body.compilations;
  if (body.variants.size() >= maximumVariants) body.variants.pop_back();
  InputSymbols inputSymbols(*shared);
  SymbolBindings outer = body.usesOuterSymbols ? m_symbols : SymbolBindings();
  body.variants.insert(body.variants.begin(),
                       Variant{std::move(shared), std::move(inputSymbols), std::move(outer), std::move(*code)});
  return {};
}

bool NestedGraphs::fits(const Body& body, const Variant& variant, const ValueList& args) const {
  const auto placeholders = variant.graph->graph.placeholders();
  if (args.size() > placeholders.size()) return false;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!fitsOperand(variant.graph->graph.node(placeholders[i]).meta().value, args[i], body.usesOffsets)) return false;
  const bool anySymbols = variant.inputSymbols.any();
  if (!anySymbols && body.usesOuterSymbols && variant.outerSymbols != m_symbols) return false;
  return !anySymbols || variant.inputSymbols.bind(variant.inputSymbols.numbers(args));
}

Result<Executable*> NestedGraphs::codeFor(Body& body, const ValueList& args, const std::stop_token& stop) {
  for (std::size_t v = 0; v < body.variants.size(); ++v) {
    if (!fits(body, body.variants[v], args) || body.variants[v].code->violated(args)) continue;
    std::rotate(body.variants.begin(), body.variants.begin() + std::ptrdiff_t(v),
                body.variants.begin() + std::ptrdiff_t(v) + 1);
    return body.variants.front().code.get();
  }
  KERF_CHECK(addVariant(body, args, stop));
  return body.variants.front().code.get();
}

Result<Value> NestedGraphs::run(std::string_view path, const ValueList& args, std::stop_token stop) {
  KERF_TRY(Body* const body, find(path));
  auto code = codeFor(*body, args, stop);
  if (!code) return fail(within(path, std::move(code).error()));
  auto result = (*code)->run(args, std::move(stop));
  if (!result) return fail(within(path, std::move(result).error()));
  return result;
}

std::vector<KernelInfo> NestedGraphs::kernels() const {
  std::vector<KernelInfo> result;
  for (const auto& [path, body] : m_bodies) {
    if (body.variants.empty()) continue;
    for (KernelInfo kernel : body.variants.front().code->artifacts().kernels) {
      kernel.name = fmt::format("{}/{}", path, kernel.name);
      addPrefix(path, kernel.nodes);
      addPrefix(path, kernel.capturedNodes);
      result.push_back(std::move(kernel));
    }
  }
  return result;
}

std::int64_t NestedGraphs::plannedBytes() const {
  std::int64_t bytes = 0;
  for (const auto& [path, body] : m_bodies)
    if (!body.variants.empty()) bytes += body.variants.front().code->artifacts().plannedBytes;
  return bytes;
}

std::int64_t NestedGraphs::unplannedBytes() const {
  std::int64_t bytes = 0;
  for (const auto& [path, body] : m_bodies)
    if (!body.variants.empty()) bytes += body.variants.front().code->artifacts().unplannedBytes;
  return bytes;
}

}  // namespace kerf::inline backend
