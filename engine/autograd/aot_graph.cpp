#include "engine/autograd/aot_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/autograd/aot_interpreter.h"
#include "engine/autograd/written_size.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/purity.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline autograd {
namespace {

constexpr std::pair<AotStage, std::string_view> stageNames[] = {
    {AotStage::Aten, "aten"}, {AotStage::Functional, "functional"}, {AotStage::Joint, "joint"}};

/// The tensors and numbers of a result in order, as pytree flattens it.
void flatten(const Value& value, ValueList& leaves) {
  if (!value.isList()) return leaves.push_back(value);
  for (const Value& item : value.list()) flatten(item, leaves);
}

bool isFloatMeta(const ValueMeta& meta) {
  const TensorMeta* tensor = meta.tensor();
  return tensor != nullptr && (isFloating(tensor->dtype) || isComplex(tensor->dtype));
}

/// "layers.0.weight" as a name: "layers_0_weight".
std::string nameOfPath(std::string_view path) {
  std::string name(path);
  std::ranges::replace(name, '.', '_');
  return name;
}

class AotTrace {
 public:
  AotTrace(const GraphModule& module, std::vector<AotInput> inputs, const AotOptions& options)
      : m_source(module),
        m_options(options),
        m_inputs(std::move(inputs)),
        m_functionalizes(options.stage != AotStage::Aten || holdsFunctionLevels(module)),
        m_tracer(m_result.module, {m_functionalizes, options.stage == AotStage::Joint}) {
    m_result.module.className = module.className;
    m_result.module.symbolRanges = module.symbolRanges;
  }

  Result<AotGraph> run() {
    KERF_CHECK(checkWrittenSize(m_source));
    ShapeEnv env;
    addGraphSymbols(m_source, env);
    const ShapeEnv::Scope scope(env);
    const AutocastScope autocast;
    KERF_CHECK(addInputs());
    chooseLeaves();
    AotInterpreter interpreter(m_source, m_tracer, m_lifted);
    KERF_TRY(const Value result, interpreter.run(m_values, m_options.stop));
    m_tracer.setSource(nullptr);
    KERF_CHECK(describeInputs());
    KERF_CHECK(describeOutputs(result));
    KERF_CHECK(joint() ? finishJoint() : finishForward(result));
    graph().eliminateDeadCode([](const Node& node) { return purityOf(node) == Purity::Impure; });
    KERF_CHECK(graph().lint());
    return std::move(m_result);
  }

 private:
  Graph& graph() { return m_result.module.graph; }
  bool joint() const { return m_options.stage == AotStage::Joint; }
  AotMetadata& metadata() { return m_result.metadata; }

  // Inputs

  /// Parameters that the graph reads from itself or from the modules that it calls, in order of first use.
  std::vector<AotInput> attributeInputs() const {
    std::vector<AotInput> found;
    std::set<std::string, std::less<>> seen;
    const auto add = [&](const std::string& path) {
      const TensorAttribute* attribute = m_source.attribute(path);
      if (attribute != nullptr && attribute->isParameter && seen.insert(path).second)
        found.push_back({.name = {}, .source = path, .kind = AotInput::Kind::Parameter});
    };
    for (const NodeId id : m_source.graph.order()) {
      const Node& node = m_source.graph.node(id);
      if (node.op() == Opcode::GetAttr) add(node.target());
      if (node.op() != Opcode::CallModule) continue;
      for (const std::string_view name : parametersOfModules) add(fmt::format("{}.{}", node.target(), name));
    }
    return found;
  }

  Result<NodeId> addPlaceholder(const AotInput& input, ValueMeta meta, const NodeMeta* like) {
    const std::size_t index = metadata().inputs.size();
    const NodeId node = graph().placeholder(joint() ? fmt::format("primals_{}", index + 1) : input.name);
    if (like != nullptr) graph().setMeta(node, *like);
    graph().setValueMeta(node, std::move(meta));
    metadata().inputs.push_back(input);
    metadata().inputs.back().name = graph().node(node).name();
    m_placeholders.push_back(node);
    return node;
  }

  Result<void> addInputs() {
    for (AotInput& input : attributeInputs()) {
      input.name = nameOfPath(input.source);
      KERF_TRY(const NodeId node, addPlaceholder(input, {metaOf(m_source.attribute(input.source)->tensor)}, nullptr));
      KERF_TRY(Value value, m_tracer.valueOfNode(node));
      m_inputValues.push_back(value);
      m_lifted.emplace(input.source, std::move(value));
    }
    const std::vector<NodeId> placeholders = m_source.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
      const Node& node = m_source.graph.node(placeholders[i]);
      AotInput input = i < m_inputs.size() ? m_inputs[i] : AotInput{};
      if (input.source.empty()) input.source = node.name();
      input.name = node.name();
      KERF_TRY(const NodeId made, addPlaceholder(input, node.meta().value, &node.meta()));
      Value value;
      if (node.meta().value.known()) {
        KERF_TRY(value, m_tracer.valueOfNode(made));
      }
      m_inputValues.push_back(value);
      m_values.push_back(std::move(value));
    }
    for (const AotInput& input : metadata().inputs)
      metadata().fixedInputs += input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer ? 1 : 0;
    return {};
  }

  void chooseLeaves() {
    if (!joint()) return;
    chooseGradients(metadata().inputs, graph(), m_options.requiresGrad);
    for (std::size_t i = 0; i < metadata().inputs.size(); ++i)
      if (metadata().inputs[i].requiresGrad) m_tracer.tape().addLeaf(m_inputValues[i].tensor());
  }

  // What is known after the trace

  Result<void> describeInputs() {
    for (std::size_t i = 0; i < m_inputValues.size(); ++i) {
      if (!m_inputValues[i].isTensor()) continue;
      const Tensor& tensor = m_inputValues[i].tensor();
      AotInput& input = metadata().inputs[i];
      input.mutatesData = m_tracer.aliases().isWritten(tensor);
      input.mutatesMetadata = m_tracer.aliases().isRestrided(tensor);
      m_inputOfMemory.emplace(m_tracer.aliases().memoryOf(tensor), i);
      if (!input.mutatesData) continue;
      metadata().mutatedInputs.push_back(i);
      KERF_TRY(Value now, m_tracer.current(m_inputValues[i]));
      m_mutated.push_back(std::move(now));
    }
    return {};
  }

  AotOutput aliasOf(const Value& output, std::map<int, std::size_t>& outputOfMemory, std::size_t index) {
    if (!output.isTensor() || output.tensor().traced < 0) return {};
    const int memory = m_tracer.aliases().memoryOf(output.tensor());
    if (const auto input = m_inputOfMemory.find(memory); input != m_inputOfMemory.end()) {
      const bool isItself = m_inputValues[input->second].tensor().traced == output.tensor().traced;
      return {.alias = isItself ? AotOutput::Alias::IsInput : AotOutput::Alias::OfInput, .base = input->second};
    }
    const auto [first, isNew] = outputOfMemory.emplace(memory, index);
    if (isNew) return {};
    return {.alias = AotOutput::Alias::OfOutput, .base = first->second};
  }

  Result<void> describeOutputs(const Value& result) {
    ValueList leaves;
    flatten(result, leaves);
    std::map<int, std::size_t> outputOfMemory;
    for (const Value& leaf : leaves) {
      AotOutput output = aliasOf(leaf, outputOfMemory, metadata().outputs.size());
      KERF_TRY(Value now, m_tracer.current(leaf));
      output.requiresGrad = now.isTensor() && m_tracer.tape().tracks(now.tensor());
      metadata().outputs.push_back(output);
      m_outputs.push_back(std::move(now));
    }
    for (const NodeId id : graph().order()) {
      const OpInfo* op = findOp(graph().node(id));
      metadata().usesRandom |= op != nullptr && has(op->traits, OpTrait::Random);
    }
    m_result.userOutputs = m_outputs.size();
    return {};
  }

  // The end of the graph

  Result<void> finishForward(const Value& result) {
    ArgumentList items;
    if (m_options.keepsMutations || m_options.stage == AotStage::Aten) {
      KERF_CHECK(copyBack());
    } else {
      KERF_CHECK(append(m_mutated, items));
      m_result.mutatedOutputs = m_mutated.size();
    }
    if (items.empty()) {  // as the function returns it
      KERF_TRY(const Value now, m_tracer.current(result));
      KERF_TRY(Argument output, m_tracer.argumentOf(now));
      if (output.asList() != nullptr) output = Argument::tuple(output.asList()->items);
      graph().output(std::move(output));
      return {};
    }
    KERF_CHECK(append(m_outputs, items));
    graph().output(Argument::tuple(std::move(items)));
    return {};
  }

  Result<void> copyBack() {
    if (!m_functionalizes) return {};  // its nodes write themselves
    ArgumentList values;
    KERF_CHECK(append(m_mutated, values));
    for (std::size_t k = 0; k < values.size(); ++k) keepFromWrites(values[k], mutatedInput(k));
    for (std::size_t k = 0; k < values.size(); ++k) {
      const NodeId input = mutatedInput(k);
      const NodeId copy =
          graph().callFunction("torch.ops.aten.copy_.default", {Argument(input), std::move(values[k])}, {}, "copy_");
      graph().setValueMeta(copy, graph().node(input).meta().value);
    }
    return {};
  }

  NodeId mutatedInput(std::size_t k) { return m_placeholders[metadata().mutatedInputs[k]]; }

  /// Where an input gets what another one held (`previous.copy_(current); current.copy_(x)`), that is read before it is
  /// written.
  void keepFromWrites(Argument& value, NodeId target) {
    const NodeId* id = value.as<NodeId>();
    if (id == nullptr) return;
    const NodeId memory = viewedBy(*id);
    bool isWritten = false;
    for (std::size_t k = 0; k < m_mutated.size(); ++k) isWritten |= mutatedInput(k) == memory && memory != target;
    if (!isWritten) return;
    const NodeId clone = graph().callFunction("torch.ops.aten.clone.default", {Argument(*id)}, {}, "clone");
    graph().setValueMeta(clone, graph().node(*id).meta().value);
    value = Argument(clone);
  }

  /// What a chain of views looks at.
  NodeId viewedBy(NodeId id) {
    for (const OpInfo* op = findOp(graph().node(id)); op != nullptr && has(op->traits, OpTrait::View);
         op = findOp(graph().node(id)))
      id = graph().node(id).inputs().front();
    return id;
  }

  Result<void> append(const ValueList& values, ArgumentList& items) {
    for (const Value& value : values) {
      KERF_TRY(Argument argument, m_tracer.argumentOf(value));
      items.push_back(std::move(argument));
    }
    return {};
  }

  /// Placeholders stand before everything else.
  NodeId addTangent(const Tensor& like) {
    const auto order = graph().order();
    const auto first =
        std::ranges::find_if(order, [&](NodeId id) { return graph().node(id).op() != Opcode::Placeholder; });
    const std::string name = fmt::format("tangents_{}", m_result.tangents.size() + 1);
    std::optional<InsertionScope> scope;
    if (first != order.end()) scope.emplace(graph(), InsertionScope::Where::Before, *first);
    const NodeId node = graph().placeholder(name);
    graph().setValueMeta(node, {metaOf(like)});
    return node;
  }

  Result<void> seed(const ValueList& outputs, std::size_t firstIndex, Gradients& gradients, const OpRunner& run) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].isTensor() || !m_tracer.tape().tracks(outputs[i].tensor())) continue;
      const NodeId node = addTangent(outputs[i].tensor());
      m_result.tangents.push_back(firstIndex + i);
      KERF_TRY(const Value tangent, m_tracer.valueOfNode(node));
      KERF_CHECK(gradients.add(outputs[i].tensor(), tangent, run));
    }
    return {};
  }

  Result<void> finishJoint() {
    ArgumentList items;
    KERF_CHECK(append(m_mutated, items));
    KERF_CHECK(append(m_outputs, items));
    m_result.mutatedOutputs = m_mutated.size();
    m_tracer.beginBackward();
    const OpRunner run(m_tracer);
    Gradients gradients(m_tracer.tape().names());
    KERF_CHECK(seed(m_mutated, 0, gradients, run));
    KERF_CHECK(seed(m_outputs, m_mutated.size(), gradients, run));
    if (m_result.tangents.empty())
      return fail(ErrorCode::BadInput, "no output depends on an input that takes part in autograd");
    NodeId at;
    const auto walked = withoutThrowing([&] {
      return m_tracer.tape().walkBack(gradients, run, [&](NodeId forward) {
        if (forward.valid()) at = forward;
        m_tracer.setForward(forward);
      });
    });
    if (!walked) {
      Error error = walked.error();
      if (error.node.empty() && at.valid()) error.atNode(graph().node(at).name());
      error.while_("writing the backward part");
      return fail(std::move(error));
    }
    ValueList grads;
    for (std::size_t i = 0; i < m_inputValues.size(); ++i)
      grads.push_back(metadata().inputs[i].requiresGrad ? gradients.of(m_inputValues[i].tensor()) : Value());
    KERF_CHECK(append(grads, items));
    graph().output(Argument::list(std::move(items)));
    CodeGen& codegen = m_result.module.codegen;
    codegen.kind = CodeGen::Kind::Pytree;
    codegen.parameters = {"primals", "tangents"};
    return {};
  }

  const GraphModule& m_source;
  const AotOptions& m_options;
  std::vector<AotInput> m_inputs;
  AotGraph m_result;
  bool m_functionalizes;
  AotTracer m_tracer;
  std::vector<NodeId> m_placeholders;  ///< by input
  ValueList m_inputValues;             ///< by input
  ValueList m_values;                  ///< by placeholder of the source
  LiftedAttributes m_lifted;
  std::map<int, std::size_t> m_inputOfMemory;
  ValueList m_mutated, m_outputs;  ///< what they hold at the end
};

}  // namespace

std::string_view stageName(AotStage stage) { return stageNames[std::size_t(stage)].second; }

std::optional<AotStage> aotStageFromName(std::string_view name) {
  const auto* found = std::ranges::find(stageNames, name, &std::pair<AotStage, std::string_view>::second);
  return found == std::end(stageNames) ? std::nullopt : std::optional(found->first);
}

void chooseGradients(std::vector<AotInput>& inputs, const Graph& graph,
                     const std::function<bool(const AotInput&)>& rule) {
  const bool anyParameter =
      std::ranges::any_of(inputs, [](const AotInput& input) { return input.kind == AotInput::Kind::Parameter; });
  const AotInput::Kind usual = anyParameter ? AotInput::Kind::Parameter : AotInput::Kind::User;
  const std::vector<NodeId> placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(inputs.size(), placeholders.size()); ++i)
    inputs[i].requiresGrad =
        isFloatMeta(graph.node(placeholders[i]).meta().value) && (rule ? rule(inputs[i]) : inputs[i].kind == usual);
}

std::vector<AotInput> plainInputs(const GraphModule& module) {
  std::vector<AotInput> inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    const bool symbol = node.meta().value.sym() != nullptr;
    inputs.push_back(
        {.name = node.name(), .source = node.name(), .kind = symbol ? AotInput::Kind::Symbol : AotInput::Kind::User});
  }
  return inputs;
}

Result<AotGraph> aotTrace(const GraphModule& module, std::vector<AotInput> inputs, const AotOptions& options) {
  return withoutThrowing([&] { return AotTrace(module, std::move(inputs), options).run(); });
}

}  // namespace kerf::inline autograd
