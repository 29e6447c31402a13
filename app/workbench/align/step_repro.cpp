#include "app/workbench/align/step_repro.h"

#include <cmath>

#include "app/workbench/protocol/runs.h"
#include "engine/accuracy/same.h"
#include "engine/align/rounding_causes.h"
#include "engine/capture/repro/writer.h"
#include "engine/process/temporary_folder.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

const StepValue* resultOf(const RunStep& step) {
  return step.outputs.size() == 1 && step.outputs.front().data ? &step.outputs.front() : nullptr;
}

/// Relative root of mean squares of `value` from `reference`; negative where that says nothing.
double distanceFrom(const Tensor& value, const Tensor& reference) {
  const auto distance = bitDistance(reference, value);
  return distance && distance->unordered == 0 ? distance->relativeError : -1;
}

Result<Tensor> runInFloat64(Workbench& bench, const StepGraph& step, const Job& job) {
  KERF_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  KERF_TRY(const fs::path repro, writeStepRepro(step, folder.path()));
  const fs::path saved = folder.path() / "float64.safetensors";
  RunRequest request;
  request.graph.text = repro.string();
  request.dtype = "f64";
  request.save = saved.string();
  KERF_TRY(const RunReport ran, perform(bench, request, job));
  KERF_TRY(const SafetensorsFile file, readSafetensors(saved));
  for (const auto& [name, tensor] : file.tensors)
    if (name == "out64_0") return tensor;
  return fail(ErrorCode::RuntimeFailed, "the step gives no tensor");
}

}  // namespace

RecordedSteps::RecordedSteps(const OpenedRecording& a, const OpenedRecording& b) : m_a(a), m_b(b) {
  for (const RunStep& step : a.recording.steps) m_byNameA.emplace(step.name, &step);
  for (const RunStep& step : b.recording.steps) m_byNameB.emplace(step.name, &step);
}

std::optional<RecordedSteps::Place> RecordedSteps::placeOf(const AlignedPair& pair) const {
  if (pair.steps.b.empty()) return std::nullopt;
  const std::string& name = m_b.recording.steps[pair.steps.b.back()].name;
  for (const auto* side : {&m_b, &m_a})
    for (const auto& graph : side->graphs)
      if (name.starts_with(graph.prefix) && graph.module.graph.find(name.substr(graph.prefix.size())))
        return Place{&graph, name.substr(graph.prefix.size())};
  return std::nullopt;
}

Result<StepGraph> RecordedSteps::graphOf(const AlignedPair& pair) const { return graphWith(m_byNameA, pair); }

Result<StepGraph> RecordedSteps::graphOfB(const AlignedPair& pair) const { return graphWith(m_byNameB, pair); }

Result<StepGraph> RecordedSteps::graphWith(const StepsByName& values, const AlignedPair& pair) const {
  const auto place = placeOf(pair);
  if (!place) return fail(ErrorCode::NotFound, "no recorded graph has the step: values alone are no graph");
  const RunStep& step = m_b.recording.steps[pair.steps.b.back()];
  if (roundingCause(step).random)
    return fail(ErrorCode::UnsupportedOp, "{} draws random numbers: it cannot be run again", place->node);
  const RecordedValue recorded = [&](const std::string& node) -> std::optional<Tensor> {
    const auto found = values.find(place->graph->prefix + node);
    const StepValue* value = found == values.end() ? nullptr : resultOf(*found->second);
    if (value == nullptr) return std::nullopt;
    Tensor tensor = *value->data;
    const auto id = place->graph->module.graph.find(node);
    if (const TensorMeta* meta = place->graph->module.graph.node(*id).meta().value.tensor())
      tensor.setDevice(meta->device);
    return tensor;
  };
  return stepGraph(place->graph->module, place->node, recorded);
}

std::optional<std::pair<Tensor, Tensor>> RecordedSteps::results(const AlignedPair& pair) const {
  if (pair.steps.a.empty() || pair.steps.b.empty()) return std::nullopt;
  const StepValue* mine = resultOf(m_a.recording.steps[pair.steps.a.back()]);
  const StepValue* theirs = resultOf(m_b.recording.steps[pair.steps.b.back()]);
  if (mine == nullptr || theirs == nullptr) return std::nullopt;
  return std::pair(*mine->data, *theirs->data);
}

Fp64Distance fp64Distance(Workbench& bench, const StepGraph& step, const std::pair<Tensor, Tensor>& results,
                          const Job& job) {
  Fp64Distance distance;
  const auto reference = runInFloat64(bench, step, job);
  if (!reference) {
    distance.reason = reference.error().text();
    return distance;
  }
  if (reference->sizes() != results.first.sizes() || reference->dtype() != DType::Float64) {
    distance.reason = "in float64 the step gives a value of another shape or dtype";
    return distance;
  }
  distance.reference = "float64";
  distance.a = distanceFrom(results.first, *reference);
  distance.b = distanceFrom(results.second, *reference);
  SameOptions options;
  options.equalNan = true;
  const SameReport report = same(Value(results.first), Value(results.second), Value(*reference), options);
  distance.same = report.same;
  for (const auto& output : report.outputs)
    if (!output.same) distance.reason = output.reason;
  return distance;
}

Result<fs::path> writeStepRepro(const StepGraph& step, const fs::path& folder) {
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(step.module, step.inputs, nullptr));
  graph.name = "forward";
  Capture like;
  like.kind = "repro";
  return exportRepro(makeCapture(std::move(graph), like), 0, folder, {.accuracy = "True"});
}

}  // namespace kerf::workbench
