#include "engine/pipeline/node_divergence.h"

#include <algorithm>
#include <bit>
#include <map>

#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/node_chunks.h"
#include "engine/pipeline/node_mutations.h"
#include "engine/pipeline/node_rows.h"

namespace kerf::inline pipeline {
namespace {

class GraphComparison;

/// A nested graph, seen with the sizes of the operands that came last.
struct NestedGraph {
  std::int64_t calls = 0;
  std::unique_ptr<GraphComparison> comparison;
  std::vector<std::string> operands;  ///< what `comparison` was made for
};

/// The comparison of one graph's nodes, which may be run several times.
class GraphComparison {
 public:
  GraphComparison(GraphModule module, std::string prefix, const NodeDivergenceOptions& options, DivergenceRows& rows,
                  std::stop_token stop)
      : m_module(std::move(module)),
        m_prefix(std::move(prefix)),
        m_options(options),
        m_rows(rows),
        m_stop(std::move(stop)),
        m_names(m_module) {}

  /// The compiled side's error, if it could not be compiled or run; empty if all nodes were compared.
  Result<std::string> compare(const ValueList& inputs, std::int64_t call);

 private:
  bool isNested() const { return !m_prefix.empty(); }
  /// Of a graph that comes in several pieces, each is compiled up to its end only; the fault of a pass is planted in
  /// what the pass leaves of the whole graph.
  bool compilesWhole() const {
    return m_chunks.size() == 1 || std::ranges::any_of(m_options.compile.faults.faults, &Fault::onPass);
  }
  Result<void> cut(const ValueList& inputs);
  Result<GraphModule> freshCopy() const;
  Result<bool> compareNext(Interpreter& reference, const ValueList& inputs, std::int64_t call);
  Result<bool> loadChunk(std::size_t index, const ValueList& inputs);
  Result<void> startFp64(const GraphModule& module, const ValueList& inputs);
  Result<Value> truthOf(NodeId node);
  Result<void> withoutFp64(Error error);
  Result<void> compareMutations(Interpreter& reference, const RunResults& before, const ValueList& given,
                                const GraphModule& own);
  void compareInside(std::string_view path, const GraphModule& graph, const ValueList& operands);
  Result<void> compareNested(NestedGraph& nested, const std::string& path, const GraphModule& graph,
                             const ValueList& operands);

  const GraphModule m_module;
  const std::string m_prefix;  ///< of its nodes' names: "while_body_0/"
  const NodeDivergenceOptions& m_options;
  DivergenceRows& m_rows;
  std::stop_token m_stop;
  const ResultNames m_names;
  bool m_isCut = false;
  std::vector<WatchedNode> m_watched;
  std::vector<std::span<const WatchedNode>> m_chunks;
  std::vector<std::optional<CompiledChunk>> m_compiled;  ///< kept for graphs that run more than once
  std::map<std::string, NestedGraph, std::less<>> m_nested;
  // of the run that goes on:
  std::optional<Float64Run> m_fp64;
  std::size_t m_next = 0;   ///< among m_watched
  std::size_t m_chunk = 0;  ///< the next one to load
  ValueList m_values;       ///< the compiled side's, of the chunk that was loaded last
  RunResults m_written;     ///< what that chunk was given, as it left it
  std::size_t m_firstOfChunk = 0;
  std::string m_failure;
  std::optional<Error> m_stopped;  ///< in a nested graph
};

Result<void> GraphComparison::cut(const ValueList& inputs) {
  if (m_isCut) return {};
  KERF_TRY(m_watched, watchedNodes(m_module, inputs, m_stop));
  m_chunks = cutIntoChunks(m_watched, m_options.chunkBytes);
  if (m_chunks.empty() && m_names.writesAnything()) m_chunks.emplace_back();  // _fused_adam_ alone
  m_compiled.resize(m_chunks.size());
  m_isCut = true;
  if (!isNested()) m_rows.progress.total = std::ssize(m_watched);
  return {};
}

/// The graph with attributes of its own and without outputs: so no value is kept after its last use.
Result<GraphModule> GraphComparison::freshCopy() const {
  KERF_TRY(GraphModule copy, withOwnAttributes(m_module, m_names.attributes));
  const NodeId output = copy.graph.outputNode();
  if (output.valid()) copy.graph.setArgs(output, {Argument::tuple({})});
  return copy;
}

Result<std::string> GraphComparison::compare(const ValueList& inputs, std::int64_t call) {
  KERF_CHECK(cut(inputs));
  m_next = m_chunk = 0;
  m_failure.clear();
  KERF_TRY(const GraphModule own, freshCopy());
  KERF_TRY(const GraphModule ownWide, freshCopy());
  KERF_TRY(const ValueList given, inputsForRun(inputs, m_names));
  KERF_CHECK(startFp64(ownWide, inputs));
  const RandomScope random;  // every run sees the same random numbers
  Interpreter reference(own, referenceOps());
  reference.onSubgraph = [&](std::string_view path, const GraphModule& graph, const ValueList& operands) {
    compareInside(path, graph, operands);
  };
  reference.start(given, m_stop);
  if (m_watched.empty() && !m_chunks.empty()) {
    KERF_TRY(const bool loaded, loadChunk(0, inputs));
    if (loaded) ++m_chunk;
  }
  for (bool goesOn = true; goesOn && m_next < m_watched.size();) {
    KERF_TRY(goesOn, compareNext(reference, inputs, call));
  }
  if (m_failure.empty() && !isNested() && m_chunk > 0)
    KERF_CHECK(compareMutations(reference, {{}, inputs, attributeValues(m_module, m_names.attributes)}, given, own));
  m_fp64.reset();
  m_values.clear();
  m_written = {};
  return m_failure;
}

/// Runs up to the next node that is compared; false when there is none, or when the compiled side failed.
Result<bool> GraphComparison::compareNext(Interpreter& reference, const ValueList& inputs, std::int64_t call) {
  if (m_chunk < m_chunks.size() && m_chunks[m_chunk].data() == &m_watched[m_next]) {
    KERF_TRY(const bool loaded, loadChunk(m_chunk, inputs));
    if (!loaded) return false;
    m_firstOfChunk = m_next;
    ++m_chunk;
  }
  const NodeId wanted = m_watched[m_next].id;
  Value value;
  reference.onNode = [&](const Node& node, const Value& computed) {
    if (node.id() == wanted) value = computed;
  };
  for (const Node* node = reference.nextNode(); node != nullptr; node = reference.nextNode()) {
    const bool found = node->id() == wanted;
    KERF_CHECK(reference.step());
    if (m_stopped) return std::unexpected(*m_stopped);
    if (found) break;
  }
  KERF_TRY(const Value truth, truthOf(wanted));
  const Value res = std::move(m_values[m_next - m_firstOfChunk]);
  m_values[m_next - m_firstOfChunk] = {};
  ++m_next;
  if (!isNested()) m_rows.progress.done = std::int64_t(m_next);
  if (!value.isTensor()) return true;  // the recorded shape was wrong
  const Node& node = m_module.graph.node(wanted);
  if (m_options.onValues) m_options.onValues(res, value, truth);
  NodeDivergence row = compareNode(m_prefix + node.name(), node, value, res, truth, m_options.compare.sameOptions());
  row.call = call;
  m_rows.add(std::move(row));
  return true;
}

/// After the last node: every chunk writes all that the graph writes, so that the last one tells.
Result<void> GraphComparison::compareMutations(Interpreter& reference, const RunResults& before, const ValueList& given,
                                               const GraphModule& own) {
  reference.onNode = {};
  while (reference.nextNode() != nullptr) KERF_CHECK(reference.step());
  const RunResults ref{{}, given, attributeValues(own, m_names.attributes)};
  std::optional<RunResults> truth;
  if (m_fp64) {
    auto finished = m_fp64->finish();
    if (finished)
      truth = std::move(*finished);
    else
      KERF_CHECK(withoutFp64(std::move(finished).error()));
  }
  const SameOptions options = m_options.compare.sameOptions();
  for (NodeDivergence& row : mutationRows(m_names, before, ref, m_written, truth ? &*truth : nullptr, options))
    m_rows.add(std::move(row));
  return {};
}

Result<void> GraphComparison::startFp64(const GraphModule& module, const ValueList& inputs) {
  m_fp64.reset();
  if (!m_options.compare.useFp64) return {};
  auto run = Float64Run::start(module, referenceOps(), inputs, m_names, {}, m_stop);
  if (!run) return withoutFp64(std::move(run).error());
  m_fp64 = std::move(*run);
  return {};
}

/// The fp64 run's value; none once it failed.
Result<Value> GraphComparison::truthOf(NodeId node) {
  if (!m_fp64) return Value();
  auto value = m_fp64->runTo(node);
  if (value) return value;
  KERF_CHECK(withoutFp64(std::move(value).error()));
  return Value();
}

/// Notes that there is no fp64 reference from here on; an error where one is required.
Result<void> GraphComparison::withoutFp64(Error error) {
  m_fp64.reset();
  error.while_("computing the fp64 reference");
  if (error.code == ErrorCode::Cancelled || m_options.compare.requireFp64) return fail(std::move(error));
  m_rows.noteFp64(error.text());
  return {};
}

Result<bool> GraphComparison::loadChunk(std::size_t index, const ValueList& inputs) {
  m_values.clear();
  m_written = {};
  const auto load = [&]() -> Result<ValueList> {
    std::optional<CompiledChunk>& chunk = m_compiled[index];
    if (!chunk) {
      KERF_TRY(chunk, CompiledChunk::compile(m_module, m_chunks[index], compilesWhole(), m_options.compile, m_stop));
    }
    KERF_TRY(const ValueList given, inputsForRun(inputs, m_names));
    m_written = {{}, given, chunk->attributes()};
    return chunk->run(given, m_stop);
  };
  auto values = load();
  const bool runsAgain = isNested() && m_names.attributes.empty();
  if (!runsAgain) m_compiled[index].reset();  // its arena too
  if (values) {
    m_values = std::move(*values);
    return true;
  }
  if (values.error().code == ErrorCode::Cancelled) return fail(values.error());
  m_failure = values.error().text();
  return false;
}

void GraphComparison::compareInside(std::string_view path, const GraphModule& graph, const ValueList& operands) {
  NestedGraph& nested = m_nested[std::string(path)];
  const std::int64_t call = ++nested.calls;
  const bool wanted = call <= m_options.nestedCalls || std::has_single_bit(std::uint64_t(call));
  if (!wanted || m_stopped) return;
  const std::string name = m_prefix + std::string(path);
  const auto done = compareNested(nested, name, graph, operands);
  if (done) return;
  if (done.error().code == ErrorCode::Cancelled)
    m_stopped = done.error();
  else
    m_rows.note(name, done.error().text());
}

/// A nested graph with the operands' sizes as its placeholders' shapes.
Result<GraphModule> withOperands(const GraphModule& graph, const ValueList& operands) {
  GraphModule module = graph;
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < operands.size(); ++i)
    module.graph.setValueMeta(placeholders[i], metaOf(operands[i]));
  KERF_CHECK(propagateShapes(module));
  return module;
}

std::string operandText(const Value& value) {
  if (value.isTensor())
    return fmt::format("{}[{}][{}]", dtypeInfo(value.tensor().dtype()).shortCode,
                       fmt::join(value.tensor().sizes(), ","), fmt::join(value.tensor().strides(), ","));
  if (const auto* number = value.as<std::int64_t>()) return std::to_string(*number);
  return "-";
}

Result<void> GraphComparison::compareNested(NestedGraph& nested, const std::string& path, const GraphModule& graph,
                                            const ValueList& operands) {
  std::vector<std::string> texts;
  for (const Value& operand : operands) texts.push_back(operandText(operand));
  if (!nested.comparison || nested.operands != texts) {
    KERF_TRY(GraphModule module, withOperands(graph, operands));
    nested.comparison = std::make_unique<GraphComparison>(std::move(module), path + "/", m_options, m_rows, m_stop);
    nested.operands = std::move(texts);
  }
  KERF_TRY(const std::string failure, nested.comparison->compare(operands, nested.calls));
  if (!failure.empty()) m_rows.note(path, failure);
  return {};
}

}  // namespace

Result<NodeDivergenceReport> nodeDivergence(const GraphModule& module, const ValueList& inputs,
                                            const NodeDivergenceOptions& options, std::stop_token stop) {
  NodeDivergenceReport report;
  DivergenceRows rows(options, report);
  KERF_TRY(report.failure, GraphComparison(module, "", options, rows, std::move(stop)).compare(inputs, 0));
  markFirstBad(module, report.nodes);
  return report;
}

}  // namespace kerf::inline pipeline
