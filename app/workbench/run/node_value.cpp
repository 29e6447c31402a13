// perform(NodeValueRequest): the value of one node as the compiled graph, the interpreter or the fp64 reference has it,
// or as it was recorded.
#include <algorithm>
#include <array>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/kept_values.h"
#include "app/workbench/run/recorded_value.h"
#include "app/workbench/run/value_figures.h"
#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/backend/registry/backends.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/node_chunks.h"
#include "engine/process/in_child.h"
#include "engine/tensor/npy.h"
#include "engine/tensor/safetensors.h"
#include "engine/tensor/tensor_figures.h"

namespace kerf::workbench {

namespace {

/// A node, the graph that it is in, and what to run that on.
struct NodeRun {
  const GraphModule& module;
  const ValueList& inputs;
  NodeId node;
  const CompileOptions& compile;
};

/// The value as it was when the node had run: later nodes may write into it.
Result<Value> interpret(const NodeRun& run) {
  const ResultNames names(run.module);
  KERF_TRY(const GraphModule own, withOwnAttributes(run.module, names.attributes));
  KERF_TRY(const ValueList given, inputsForRun(run.inputs, names));
  const RandomScope random;
  Interpreter interpreter(own, referenceOps());
  Value found;
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (node.id() == run.node) found = value;
  };
  interpreter.start(given);
  for (const Node* node = interpreter.nextNode(); node != nullptr; node = interpreter.nextNode()) {
    const bool last = node->id() == run.node;
    KERF_CHECK(interpreter.step());
    if (last) break;
  }
  return found;
}

Result<Value> computeWide(const NodeRun& run) {
  const ResultNames names(run.module);
  KERF_TRY(const GraphModule own, withOwnAttributes(run.module, names.attributes));
  KERF_TRY(auto wide, Float64Run::start(own, referenceOps(), run.inputs, names, {}, {}));
  return wide.runTo(run.node);
}

/// The graph compiled with the node as one more output, which may keep it out of a fused kernel.
Result<Value> runCompiled(const NodeRun& run) {
  const std::array watched{WatchedNode{run.node, 0}};
  KERF_TRY(auto chunk, CompiledChunk::compile(run.module, watched, true, run.compile, {}));
  KERF_TRY(const ValueList given, inputsForRun(run.inputs, ResultNames(run.module)));
  const RandomScope random;
  KERF_TRY(ValueList values, chunk.run(given, {}));
  return std::move(values.front());
}

struct Side {
  std::string_view name;
  Result<Value> (*compute)(const NodeRun&);  ///< null: not computed
};
constexpr std::string_view recordedSide = "recorded";
constexpr Side sides[] = {
    {"compiled", runCompiled}, {"interpreter", interpret}, {"fp64", computeWide}, {recordedSide, nullptr}};

Result<const Side*> sideOf(const std::string& name) {
  const auto found = std::ranges::find(sides, name, &Side::name);
  if (found == std::end(sides))
    return fail(ErrorCode::BadUsage, "there is no side \"{}\": a value is compiled, interpreter, fp64 or recorded",
                name);
  return found;
}

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

/// A number as a tensor without dimensions.
std::optional<Tensor> scalarOf(const Value& value) {
  if (const auto* truth = value.as<bool>()) return Tensor::scalarInt(*truth ? 1 : 0, DType::Bool);
  if (const auto* integer = value.as<std::int64_t>()) return Tensor::scalarInt(*integer, DType::Int64);
  if (const auto* number = value.as<double>()) return Tensor::scalar(*number, DType::Float64);
  return std::nullopt;
}

Result<NodeTensor> tensorOf(const Value& value, const std::string& node) {
  if (value.isList())
    return fail(ErrorCode::BadInput, "{} gives several values: look at the node that takes one of them (getitem)",
                node);
  if (const auto scalar = scalarOf(value)) return NodeTensor{*scalar, {}};
  if (!value.isTensor()) return fail(ErrorCode::BadInput, "{} gives no tensor and no number", node);
  KERF_TRY(Tensor copy, value.tensor().clone());
  return NodeTensor{std::move(copy), value.tensor().strides()};
}

/// Values of one node on several sides, computed where they are not known yet.
class NodeSides {
 public:
  NodeSides(Workbench& bench, const NodeValueRequest& request, const Job& job)
      : m_bench(bench), m_request(request), m_job(job) {}

  Result<void> open() {
    KERF_TRY(m_options, engineOptions(m_request.plants, {}, 1e-3, m_request.timeout));
    KERF_CHECK(setBackend(m_options, m_request.backend));
    m_options.compile.cache = m_bench.codeCache(m_job);
    m_options.compile.keepArtifacts = false;
    KERF_TRY(m_source, resolveGraph(m_bench, m_request.graph, m_job));
    const auto found = m_source->graph().module.graph.find(m_request.node);
    if (!found) return fail(ErrorCode::NotFound, "the graph has no node \"{}\"", m_request.node);
    m_node = *found;
    // What is compared with a recording runs on the inputs of the recording.
    if (m_request.side == recordedSide || m_request.minus == recordedSide || !m_request.expect.empty()) {
      KERF_TRY(m_recorded, RecordedSide::of(*m_source, m_request.expect));
    }
    return {};
  }

  /// Where the recorded side comes from; empty: nobody asked for it.
  const std::string& source() const { return m_from; }

  /// As it was computed before, or now.
  Result<NodeTensor> on(const std::string& name) {
    KERF_TRY(const Side* side, sideOf(name));
    if (side->name == recordedSide) return recorded();
    // The compiled graph takes its inputs as they are.
    if (!isCall(m_source->graph().module.graph.node(m_node)) && side->name == "compiled") side = &sides[1];
    const std::string key = keyOf(*side);
    if (const NodeTensor* known = m_bench.keptValues().find(key)) return *known;
    KERF_TRY(NodeTensor value, compute(*side));
    m_bench.keptValues().keep(key, value);
    return value;
  }

 private:
  std::string keyOf(const Side& side) const {
    return encode(m_request.graph) + '\n' + m_source->graph().module.graph.contentHash().hex() +
           fmt::format("\n{}\n{}\n{}\n{}\n{}", m_request.node, side.name, m_request.backend,
                       fmt::join(m_request.plants, ","), m_recorded ? m_recorded->path() : "");
  }

  Result<void> prepare() {
    if (m_ready) return {};
    KERF_TRY(m_ready, m_recorded ? m_recorded->runnableOnIts(*m_source, m_job) : runnable(*m_source, m_job));
    return {};
  }

  Result<NodeTensor> recorded() {
    KERF_CHECK(prepare());
    KERF_TRY(const RecordedValue found, m_recorded->find(*m_ready, m_node));
    m_from = found.source;
    return tensorOf(found.value, m_request.node);
  }

  Result<NodeTensor> compute(const Side& side) {
    KERF_CHECK(prepare());
    const GraphModule& module = m_ready->graph().module;
    if (side.name == "compiled") KERF_CHECK(checkOptions(module, m_options.compile));
    const std::function body = [&]() -> Result<NodeTensor> {
      KERF_TRY(const Value value, side.compute({module, m_ready->inputs, m_node, m_options.compile}));
      return tensorOf(value, m_request.node);
    };
    return inChild(body, patientLimits(m_request.timeout), m_job.stop, "computing the value", ErrorCode::RuntimeFailed);
  }

  Workbench& m_bench;
  const NodeValueRequest& m_request;
  const Job& m_job;
  EngineOracleOptions m_options;
  std::optional<GraphSource> m_source;
  std::optional<RecordedSide> m_recorded;
  std::optional<RunnableGraph> m_ready;
  std::string m_from;
  NodeId m_node;
};

ValuePlane documentOf(TensorPlane of) {
  return {std::move(of.slice), of.rows, of.columns, of.shownRows, of.shownColumns, std::move(of.patches)};
}

ValueWindow documentOf(TensorWindow of) { return {of.row, of.column, of.rows, of.columns, std::move(of.cells)}; }

Result<void> save(const std::string& path, const std::string& node, const Tensor& tensor) {
  if (path.ends_with(".npy")) return writeNpy(path, tensor);
  SafetensorsFile file;
  file.tensors.emplace_back(node, tensor);
  return writeSafetensors(path, file);
}

}  // namespace

Result<NodeValue> perform(Workbench& bench, const NodeValueRequest& request, const Job& job) {
  if (!request.save.empty() && !request.save.ends_with(".npy") && !request.save.ends_with(".safetensors"))
    return fail(ErrorCode::BadUsage, "values are written as .npy or .safetensors; \"{}\" is neither", request.save);
  KERF_CHECK(sideOf(request.side));
  if (!request.minus.empty()) KERF_CHECK(sideOf(request.minus));
  KERF_CHECK(findBackend(request.backend));
  NodeSides sidesOfNode(bench, request, job);
  KERF_CHECK(sidesOfNode.open());
  KERF_TRY(NodeTensor value, sidesOfNode.on(request.side));
  if (!request.minus.empty()) {
    KERF_TRY(const NodeTensor other, sidesOfNode.on(request.minus));
    KERF_TRY(value.tensor, tensorDifference(value.tensor, other.tensor));
    value.strides = value.tensor.strides();
  }
  KERF_TRY(const TensorView view, TensorView::of(value.tensor));
  NodeValue answer{.dtype = std::string(dtypeInfo(value.tensor.dtype()).shortCode),
                   .shape = value.tensor.sizes(),
                   .strides = std::move(value.strides),
                   .figures = figuresDoc(view.figures())};
  KERF_TRY(TensorPlane plane, view.plane(request.slice));
  answer.plane = documentOf(std::move(plane));
  const TensorWindow wanted{
      .row = request.row, .column = request.column, .rows = request.rows, .columns = request.columns};
  answer.source = sidesOfNode.source();
  answer.window = documentOf(view.window(answer.plane.slice, wanted));
  if (auto odd = view.oddBehind(request.oddAfter)) {
    answer.hasOdd = true;
    answer.odd = std::move(*odd);
  }
  if (!request.save.empty()) {
    KERF_CHECK(save(request.save, request.node, value.tensor));
    answer.saved = request.save;
  }
  return answer;
}

}  // namespace kerf::workbench
