#include "app/workbench/captures/aot_stage.h"

#include <algorithm>
#include <cstring>

#include "engine/autograd/functional_rng.h"
#include "engine/autograd/linearize.h"
#include "engine/autograd/training_mode.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/python/nn_modules.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/aot_front.h"
#include "engine/support/hash.h"

namespace kerf::workbench {

namespace {

AotInput::Kind kindOf(std::string_view entry) {
  if (entry == "parameter") return AotInput::Kind::Parameter;
  if (entry == "buffer" || entry == "tensor_constant") return AotInput::Kind::Buffer;
  return AotInput::Kind::User;
}

/// Dynamo names what it lifts after where it is: "L_self_modules_fc1_parameters_weight_".
AotInput::Kind kindByName(std::string_view placeholder) {
  if (placeholder.find("_parameters_") != placeholder.npos) return AotInput::Kind::Parameter;
  if (placeholder.find("_buffers_") != placeholder.npos) return AotInput::Kind::Buffer;
  return AotInput::Kind::User;
}

/// What autograd is asked for: inputs that were recorded as requiring gradients; else aotTrace's own rule.
std::function<bool(const AotInput&)> gradientRule(const CapturedGraph& graph) {
  if (graph.signature || std::ranges::none_of(graph.inputs, &GraphInput::requiresGrad)) return {};
  std::set<std::string> names;
  const auto placeholders = graph.module.graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), graph.inputs.size()); ++i)
    if (graph.inputs[i].requiresGrad) names.insert(graph.module.graph.node(placeholders[i]).name());
  return [names](const AotInput& input) {
    return input.kind == AotInput::Kind::Parameter || names.contains(input.source);
  };
}

/// Uniform in [-1, 1), the same for the same seed.
StoragePtr randomStorage(const Tensor& like, std::uint64_t seed) {
  const auto tensor = Tensor::zerosStrided(DType::Float64, like.sizes(), like.strides());
  if (!tensor) return nullptr;
  const std::int64_t count = tensor->storage()->bytes() / itemSize(DType::Float64);
  auto* data = reinterpret_cast<double*>(tensor->storage()->data());
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t bits = seed + std::uint64_t(i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    data[i] = 2 * (double((bits ^ (bits >> 31)) >> 11) * 0x1p-53) - 1;
  }
  const Tensor flat(tensor->storage(), DType::Float64, Sizes{count}, Sizes{1});
  const auto cast = flat.to(like.dtype());
  return cast ? cast->storage() : nullptr;
}

GraphInput inputLike(const std::string& name, const Tensor& tensor, CapturedGraph& graph, StoragePtr data) {
  GraphInput input;
  input.name = name;
  input.storageIndex = int(graph.storages.size());
  input.dtype = tensor.dtype();
  input.sizes = tensor.sizes();
  input.strides = tensor.strides();
  input.storageOffset = tensor.offset();
  input.device = tensor.device();
  StorageRef storage;
  storage.bytes = data->bytes();
  storage.device = tensor.device();
  storage.data = std::move(data);
  graph.storages.push_back(std::move(storage));
  return input;
}

/// The inputs of the stage in the order of its placeholders. A graph without recorded inputs gets none.
class StageInputs {
 public:
  StageInputs(const CapturedGraph& before, CapturedGraph& after, const AotGraph& traced, std::uint64_t seed)
      : m_before(before), m_after(after), m_traced(traced), m_seed(seed) {}

  Result<void> make() {
    if (m_before.inputs.empty() && !m_before.module.graph.placeholders().empty()) return {};
    std::vector<GraphInput> inputs;
    std::size_t next = 0;
    for (const AotInput& input : m_traced.metadata.inputs) {
      const TensorAttribute* attribute = m_before.module.attribute(input.source);
      if (attribute != nullptr && isLifted(input)) {
        inputs.push_back(inputLike(input.name, attribute->tensor, m_after, attribute->tensor.storage()));
        inputs.back().requiresGrad = input.requiresGrad;
        inputs.back().isLeaf = true;
      } else if (next < m_before.inputs.size()) {
        inputs.push_back(m_before.inputs[next++]);
        inputs.back().name = input.name;
      }
    }
    KERF_CHECK(addTangents(inputs));
    addRngStates(inputs);
    m_after.inputs = std::move(inputs);
    return {};
  }

 private:
  /// An attribute that became an input; a placeholder may have its name.
  bool isLifted(const AotInput& input) const {
    return input.kind == AotInput::Kind::Parameter && !m_before.module.graph.find(input.source);
  }

  Result<void> addTangents(std::vector<GraphInput>& inputs) {
    const Graph& graph = m_traced.module.graph;
    const auto placeholders = graph.placeholders();
    for (std::size_t k = 0; k < m_traced.tangents.size(); ++k) {
      const Node& node = graph.node(placeholders[m_traced.metadata.inputs.size() + k]);
      const auto like = valueOf(node.meta().value);
      if (!like || !like->isTensor() || like->tensor().isSymbolic())
        return fail(ErrorCode::UnsupportedOp, Hint{Advice::GiveSizes}, "the sizes of {} are not known", node.name());
      StoragePtr data = randomStorage(like->tensor(), m_seed + k);
      if (data == nullptr) return fail(ErrorCode::TooLarge, "{} is too large", node.name());
      Tensor tensor = like->tensor();
      inputs.push_back(inputLike(node.name(), tensor, m_after, std::move(data)));
    }
    return {};
  }

  /// As after torch.manual_seed: the seed of the run, and offset 0.
  void addRngStates(std::vector<GraphInput>& inputs) {
    for (const std::string& name : m_traced.rngInputs) {
      const bool isSeed = name.find("_seed") != name.npos;
      Tensor state = Tensor::scalar(isSeed ? double(defaultRandomSeed) : 0, DType::Int64);
      const NodeId node = *m_traced.module.graph.find(name);
      state.setDevice(m_traced.module.graph.node(node).meta().value.tensor()->device);
      inputs.push_back(inputLike(name, state, m_after, state.storage()));
    }
  }

  const CapturedGraph& m_before;
  CapturedGraph& m_after;
  const AotGraph& m_traced;
  std::uint64_t m_seed;
};

std::string nameOfItem(const Graph& graph, std::size_t i) {
  const Argument& output = graph.node(graph.outputNode()).args()[0];
  const auto* list = output.asList();
  const NodeId* node = list && i < list->items.size() ? list->items[i].as<NodeId>() : output.as<NodeId>();
  return node != nullptr ? graph.node(*node).name() : "None";
}

GraphSignature signatureOf(const AotGraph& traced) {
  constexpr std::string_view kinds[] = {"parameter", "buffer", "user_input", "user_input"};
  GraphSignature signature;
  const auto& inputs = traced.metadata.inputs;
  for (const AotInput& input : inputs) {
    const bool fixed = input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer;
    signature.inputs.push_back({std::string(kinds[std::size_t(input.kind)]), input.name, fixed ? input.source : ""});
  }
  const Graph& graph = traced.module.graph;
  const auto placeholders = graph.placeholders();
  for (std::size_t i = inputs.size(); i < placeholders.size(); ++i)
    signature.inputs.push_back({"user_input", graph.node(placeholders[i]).name(), ""});
  std::size_t at = 0;
  for (std::size_t k = 0; k < traced.mutatedOutputs; ++k, ++at) {
    const AotInput& input = inputs[traced.metadata.mutatedInputs[k]];
    const bool buffer = input.kind == AotInput::Kind::Buffer || input.kind == AotInput::Kind::Parameter;
    signature.outputs.push_back(
        {buffer ? "buffer_mutation" : "user_input_mutation", nameOfItem(graph, at), input.source});
  }
  for (std::size_t k = 0; k < traced.userOutputs; ++k, ++at)
    signature.outputs.push_back({"user_output", nameOfItem(graph, at), ""});
  if (traced.tangents.empty()) return signature;
  for (const AotInput& input : inputs) {
    const bool parameter = input.kind == AotInput::Kind::Parameter;
    signature.outputs.push_back(
        {parameter ? "gradient_to_parameter" : "gradient_to_user_input", nameOfItem(graph, at++), input.source});
  }
  return signature;
}

}  // namespace

std::pair<std::string, std::string> splitAtStage(const std::string& text) {
  constexpr std::string_view mark = "@stage:";
  const std::size_t at = text.rfind(mark);
  std::error_code ignored;
  if (at == std::string::npos || std::filesystem::exists(text, ignored)) return {text, ""};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

Result<std::optional<StageChoice>> parseStage(const std::string& name) {
  if (name.empty() || name == "dynamo") return std::optional<StageChoice>();
  if (name == "linearize" || name == "jvp")
    return StageChoice{AotStage::Functional, DecompositionTable::None, false, true};
  constexpr std::string_view rng = "/rng";
  const bool functionalRng = name.ends_with(rng);
  const std::string plain = functionalRng ? name.substr(0, name.size() - rng.size()) : name;
  const std::size_t slash = plain.find('/');
  const auto stage = aotStageFromName(plain.substr(0, slash));
  const auto table = parseDecompositionTable(slash == plain.npos ? "none" : plain.substr(slash + 1));
  if (stage && table && !(functionalRng && *stage == AotStage::Aten)) return StageChoice{*stage, *table, functionalRng};
  return fail(ErrorCode::BadUsage,
              "there is no stage \"{}\"; choose dynamo, linearize, aten, functional or joint, the last three with "
              "/core or /inductor behind it "
              "for their decompositions, and /rng (not for aten) for seeds as inputs",
              name);
}

std::vector<AotInput> aotInputs(const CapturedGraph& graph) {
  std::vector<AotInput> inputs = plainInputs(graph.module);
  for (AotInput& input : inputs)
    if (!graph.signature && input.kind == AotInput::Kind::User) input.kind = kindByName(input.name);
  if (!graph.signature) return inputs;
  const auto& entries = graph.signature->inputs;
  for (std::size_t i = 0; i < std::min(inputs.size(), entries.size()); ++i) {
    if (inputs[i].kind != AotInput::Kind::Symbol) inputs[i].kind = kindOf(entries[i].kind);
    if (!entries[i].target.empty()) inputs[i].source = entries[i].target;
  }
  return inputs;
}

AotSubject aotSubject(const CapturedGraph& graph, AotStage stage, const Job& job) {
  AotSubject subject{graph.module, aotInputs(graph), gradientRule(graph)};
  addNnModuleParameters(subject.module);
  if (stage != AotStage::Joint || graph.program == nullptr) return subject;
  if (const std::size_t changed = setTrainingMode(subject.module, true); changed > 0)
    job.tell(
        NoteEvent{NoteEvent::Weight::Detail, fmt::format("{} calls of layers were put into training mode", changed)});
  return subject;
}

Result<AotGraph> traceStage(const CapturedGraph& graph, const StageChoice& choice, const Job& job) {
  AotSubject subject = aotSubject(graph, choice.stage, job);
  const AotSettings settings{std::move(subject.inputs), std::move(subject.requiresGrad), choice.table};
  StageRecorder recorder({}, job.stop);
  KERF_TRY(AotGraph traced, traceCaptured(subject.module, choice.stage, settings, recorder));
  if (choice.functionalRng) KERF_CHECK(functionalizeRng(traced));
  return traced;
}

void setGoal(CompileOptions& options, const GraphSource& source) {
  if (source.aot == nullptr || source.aot->tangents.empty()) return;
  const AotGraph& traced = *source.aot;
  options.goal = CompileGoal::Joint;
  options.partition.joint.forwardOutputs = traced.mutatedOutputs + traced.userOutputs;
  options.partition.joint.staticInputs.emplace();
  for (const AotInput& input : traced.metadata.inputs)
    if (input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer)
      options.partition.joint.staticInputs->push_back(input.name);
}

namespace {

/// The signature of a graph that takes tangents behind its inputs.
GraphSignature forwardSignature(const AotGraph& traced) {
  GraphSignature signature;
  const Graph& graph = traced.module.graph;
  for (const NodeId id : graph.placeholders()) signature.inputs.push_back({"user_input", graph.node(id).name(), ""});
  const ArgumentList* items = nullptr;
  if (const ListArgument* list = graph.node(graph.outputNode()).args()[0].asList()) items = &list->items;
  for (std::size_t i = 0; i < (items == nullptr ? 1 : items->size()); ++i)
    signature.outputs.push_back({"user_output", nameOfItem(graph, i), ""});
  return signature;
}

/// Forward mode: every floating input gets a tangent, made up as those of a joint graph are.
Result<GraphSource> linearizedOf(GraphSource source, const CapturedGraph& before, const Job& job) {
  AotSubject subject = aotSubject(before, AotStage::Functional, job);
  AotOptions options{.stage = AotStage::Functional, .stop = job.stop};
  options.requiresGrad = [](const AotInput&) { return true; };
  KERF_TRY(LinearizedGraph made, linearize(subject.module, std::move(subject.inputs), options));
  AotGraph traced;
  traced.module = std::move(made.jvp);
  traced.metadata.inputs = std::move(made.inputs);
  traced.tangents = std::move(made.tangentInputs);
  CapturedGraph after = before;
  after.program = nullptr;
  KERF_CHECK(StageInputs(before, after, traced, source.seed).make());
  after.signature = forwardSignature(traced);
  after.module = std::move(traced.module);
  source.capture.graphs[source.index] = std::move(after);
  source.graphId.reset();
  source.edited = true;
  return source;
}

/// A repro of what AOTAutograd made is run by PyTorch's runner of ATen graphs, whatever the captured graph came from.
void runAfterAot(ReproEnvelope& envelope) {
  if (envelope.runner != "after_dynamo") return;
  envelope.runner = "after_aot";
  envelope.mainLines.clear();
  std::erase_if(envelope.betweenLines, [](const std::string& line) { return line.starts_with("mod = "); });
}

}  // namespace

Result<GraphSource> stageOf(GraphSource source, const StageChoice& choice, const Job& job) {
  source = shapedForReading(std::move(source), job);
  CapturedGraph before = source.graph();
  addNnModuleParameters(before.module);
  if (choice.forwardMode) return linearizedOf(std::move(source), before, job);
  KERF_TRY(AotGraph traced, traceStage(before, choice, job));
  for (const std::string& note : traced.metadata.notes) job.warn(note);
  CapturedGraph after = before;
  after.program = nullptr;
  KERF_CHECK(StageInputs(before, after, traced, source.seed).make());
  after.signature = signatureOf(traced);
  after.module = std::move(traced.module);
  source.capture.graphs[source.index] = std::move(after);
  runAfterAot(source.capture.envelope);
  traced.module = {};
  source.aot = std::make_shared<const AotGraph>(std::move(traced));
  source.graphId.reset();
  source.edited = true;
  return source;
}

}  // namespace kerf::workbench
