// Values of a graph as safetensors: outputs, inputs, or any node's, as the interpreter computes them.
#include <map>
#include <set>
#include <sstream>

#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/export/exporting.h"
#include "app/workbench/run/model_runs.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/process/in_child.h"
#include "engine/process/value_codec.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

namespace {

/// What --values asks for.
struct Wanted {
  bool inputs = false, outputs = false;
  std::set<std::string> nodes;
};

Result<Wanted> parseWanted(const Graph& graph, const std::string& text) {
  Wanted wanted;
  std::istringstream names(text.empty() ? "outputs" : text);
  for (std::string name; std::getline(names, name, ',');) {
    const bool all = name == "all";
    wanted.inputs = wanted.inputs || all || name == "inputs";
    wanted.outputs = wanted.outputs || all || name == "outputs";
    if (all || name == "inputs" || name == "outputs" || name.empty()) continue;
    if (!graph.find(name))
      return fail(ErrorCode::NotFound, "the graph has no node \"{}\" whose value could be written", name);
    wanted.nodes.insert(name);
  }
  return wanted;
}

/// Adds the tensors of a value: one under `name`, those of a tuple under `name.0`, `name.1`, …; numbers as scalars.
Result<void> addValue(SafetensorsFile& file, const std::string& name, const Value& value) {
  if (value.isList()) {
    std::size_t index = 0;
    for (const auto& item : value.list()) KERF_CHECK(addValue(file, fmt::format("{}.{}", name, index++), item));
    return {};
  }
  if (value.isTensor()) {
    KERF_TRY(auto dense, value.tensor().contiguous());
    file.tensors.emplace_back(name, std::move(dense));
    return {};
  }
  const auto* integer = value.as<std::int64_t>();
  if (integer == nullptr) return {};  // None and texts are no values that safetensors can hold
  KERF_TRY(auto scalar, Tensor::zeros(DType::Int64, {}));
  *scalar.data<std::int64_t>() = *integer;
  file.tensors.emplace_back(name, std::move(scalar));
  return {};
}

Result<void> addNumbered(SafetensorsFile& file, std::string_view prefix, const ValueList& values) {
  for (std::size_t i = 0; i < values.size(); ++i) KERF_CHECK(addValue(file, fmt::format("{}{}", prefix, i), values[i]));
  return {};
}

/// What a child sends back.
struct ComputedValues {
  std::vector<std::pair<std::string, Tensor>> tensors;

  KERF_FIELDS(tensors)
};

Result<void> addInputs(SafetensorsFile& file, const ValueList& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isTensor()) continue;
    KERF_TRY(auto copy, inputs[i].tensor().clone());
    KERF_CHECK(addValue(file, fmt::format("in{}", i), copy));
  }
  return {};
}

Result<ComputedValues> compute(const CapturedGraph& graph, const ValueList& inputs, const Wanted& wanted) {
  SafetensorsFile file;
  if (wanted.inputs) KERF_CHECK(addInputs(file, inputs));  // before running: ops may write into their inputs
  Interpreter interpreter(graph.module, referenceOps());
  Result<void> kept;
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (!kept || !wanted.nodes.contains(node.name())) return;
    if (value.isTensor()) {
      auto copy = value.tensor().clone();
      kept = copy ? addValue(file, node.name(), *copy) : Result<void>(std::unexpected(copy.error()));
    } else {
      kept = addValue(file, node.name(), value);
    }
  };
  KERF_TRY(const auto result, interpreter.run(inputs));
  KERF_CHECK(kept);
  if (wanted.outputs) KERF_CHECK(addNumbered(file, "out", userValues(graph, flatOutputs(result))));
  return ComputedValues{std::move(file.tensors)};
}

}  // namespace

Result<std::filesystem::path> exportValues(const GraphSource& source, const ExportTarget& target, const Job& job) {
  KERF_TRY(const auto wanted, parseWanted(source.graph().module.graph, target.values));
  KERF_TRY(const RunnableGraph ready, runnable(source, job));
  const std::function body = [&] { return compute(ready.graph(), ready.inputs, wanted); };
  KERF_TRY(auto values, inChild(body, patientLimits({}), job.stop, "running the graph", ErrorCode::RuntimeFailed));
  SafetensorsFile file;
  file.tensors = std::move(values.tensors);
  KERF_CHECK(writeSafetensors(target.path, file));
  return target.path;
}

}  // namespace kerf::workbench
