#include "engine/pipeline/training_step.h"

#include <algorithm>
#include <unordered_map>

#include "engine/backend/input_symbols.h"
#include "engine/ir/value_meta.h"

namespace kerf::inline pipeline {

namespace {

using Places = std::unordered_map<std::string, TrainingStep::Source>;

Places jointInputs(const Graph& joint) {
  Places places;
  for (const NodeId id : joint.placeholders()) {
    const TrainingStep::Source source{false, places.size()};
    places.emplace(joint.node(id).name(), source);
  }
  return places;
}

/// The saved values win over inputs of the same name: they are the same, and the forward graph may write inputs.
void addSaved(const Graph& forward, std::size_t outputs, Places& places) {
  const Argument& returned = forward.node(forward.outputNode()).args()[0];
  const ListArgument* list = returned.asList();
  if (list == nullptr) return;
  for (std::size_t i = outputs; i < list->items.size(); ++i)
    if (const NodeId* id = list->items[i].as<NodeId>())
      places.insert_or_assign(forward.node(*id).name(), TrainingStep::Source{true, i});
}

Result<std::vector<TrainingStep::Source>> sourcesOf(const Graph& graph, const Places& places) {
  std::vector<TrainingStep::Source> sources;
  for (const NodeId id : graph.placeholders()) {
    const auto found = places.find(graph.node(id).name());
    if (found == places.end())
      return fail(ErrorCode::Internal, "nothing gives {} of a part of the joint graph a value", graph.node(id).name());
    sources.push_back(found->second);
  }
  return sources;
}

/// The sizes of a placeholder for these values of the symbols, as a tensor without data or a number.
std::optional<Value> sizedLike(ValueMeta meta, const SymbolBindings& symbols) {
  const auto put = [&](SymExpr& number) {
    if (number.text.empty()) return;
    const auto value = evaluateSize(number.text, symbols);
    number.hint = value ? std::optional(*value) : std::nullopt;
  };
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) {
    for (auto& size : tensor->sizes) put(size);
    for (auto& stride : tensor->strides) put(stride);
  } else if (auto* number = std::get_if<SymMeta>(&meta.value)) {
    put(number->expr);
  }
  return valueOf(meta);
}

void addArtifacts(Artifacts& all, const Artifacts& own, std::string_view part) {
  for (KernelInfo kernel : own.kernels) {
    kernel.name = fmt::format("{}.{}", part, kernel.name);
    all.kernels.push_back(std::move(kernel));
  }
  for (const StageTime& stage : own.stages) all.stages.push_back({fmt::format("{} {}", part, stage.stage), stage.time});
  all.plannedBytes += own.plannedBytes;
  all.unplannedBytes += own.unplannedBytes;
  const auto join = [](std::string& text, const std::string& more) {
    text += text.empty() || more.empty() ? more : " + " + more;
  };
  join(all.plannedBytesText, own.plannedBytesText);
  join(all.unplannedBytesText, own.unplannedBytesText);
  for (const std::string& guard : own.guards)
    if (std::ranges::find(all.guards, guard) == all.guards.end()) all.guards.push_back(guard);
  all.objects += own.objects;
  all.cachedObjects += own.cachedObjects;
  if (all.fixedSizesReason.empty()) all.fixedSizesReason = own.fixedSizesReason;
}

class TrainingExecutable : public Executable {
 public:
  TrainingExecutable(TrainingStep step, std::unique_ptr<Executable> forward, std::unique_ptr<Executable> backward)
      : m_step(std::move(step)),
        m_symbols(m_step.forward),
        m_forward(std::move(forward)),
        m_backward(std::move(backward)) {
    addArtifacts(m_artifacts, m_forward->artifacts(), "forward");
    addArtifacts(m_artifacts, m_backward->artifacts(), "backward");
  }

  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    KERF_TRY(const ValueList primals, taken(m_step.forwardInputs, inputs, {}));
    KERF_TRY(const Value made, m_forward->run(primals, stop));
    if (!made.isList() || made.list().size() < m_step.outputs)
      return fail(ErrorCode::Internal, "the forward graph returned fewer values than the joint graph has outputs");
    const ValueList& values = made.list();
    KERF_TRY(const ValueList saved, taken(m_step.backwardInputs, inputs, values));
    KERF_TRY(const Value gradients, m_backward->run(saved, std::move(stop)));
    ValueList results(values.begin(), values.begin() + std::ptrdiff_t(m_step.outputs));
    if (gradients.isList())
      results.insert(results.end(), gradients.list().begin(), gradients.list().end());
    else
      results.push_back(gradients);
    return Value(std::move(results));
  }

  const Artifacts& artifacts() const override { return m_artifacts; }

  std::optional<GuardViolation> violated(const ValueList& inputs) override {
    const auto primals = taken(m_step.forwardInputs, inputs, {});
    if (!primals) return {};
    if (auto violation = m_forward->violated(*primals)) return violation;
    if (!m_symbols.any()) return {};
    const auto symbols = m_symbols.bind(m_symbols.numbers(*primals));
    return symbols ? m_backward->violated(sizedBackward(*symbols)) : std::nullopt;
  }

 private:
  static Result<ValueList> taken(const std::vector<TrainingStep::Source>& sources, const ValueList& inputs,
                                 const ValueList& saved) {
    ValueList values;
    for (const auto& [isSaved, index] : sources) {
      const ValueList& from = isSaved ? saved : inputs;
      if (index >= from.size())
        return fail(ErrorCode::ShapeMismatch, "a training step takes more inputs than the {} given", inputs.size());
      values.push_back(from[index]);
    }
    return values;
  }

  /// What the backward graph would get, by its sizes alone.
  ValueList sizedBackward(const SymbolBindings& symbols) const {
    ValueList values;
    const Graph& graph = m_step.backward.graph;
    for (const NodeId id : graph.placeholders())
      values.push_back(sizedLike(graph.node(id).meta().value, symbols).value_or(Value()));
    return values;
  }

  TrainingStep m_step;
  InputSymbols m_symbols;  ///< of the forward graph
  std::unique_ptr<Executable> m_forward, m_backward;
  Artifacts m_artifacts;
};

}  // namespace

Result<TrainingStep> trainingStep(const Graph& joint, Partition partition) {
  TrainingStep step{.outputs = partition.forwardOutputs};
  Places places = jointInputs(joint);
  KERF_TRY(step.forwardInputs, sourcesOf(partition.forward.graph, places));
  addSaved(partition.forward.graph, partition.forwardOutputs, places);
  KERF_TRY(step.backwardInputs, sourcesOf(partition.backward.graph, places));
  step.forward = std::move(partition.forward);
  step.backward = std::move(partition.backward);
  return step;
}

std::unique_ptr<Executable> trainingExecutable(TrainingStep step, std::unique_ptr<Executable> forward,
                                               std::unique_ptr<Executable> backward) {
  return std::make_unique<TrainingExecutable>(std::move(step), std::move(forward), std::move(backward));
}

}  // namespace kerf::inline pipeline
