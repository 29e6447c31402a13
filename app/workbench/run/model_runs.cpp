#include "app/workbench/run/model_runs.h"

#include "engine/accuracy/same_two_models.h"
#include "engine/ops/core/upcast.h"

namespace kerf::workbench {

namespace {

void flatten(const Value& value, ValueList& out) {
  if (!value.isList()) {
    out.push_back(value);
    return;
  }
  for (const auto& item : value.list()) flatten(item, out);
}

Result<Value> runModule(const CompileOptions& options, const std::string& precision, const GraphModule& module,
                        const ValueList& inputs, std::stop_token stop) {
  if (precision == "upcast") return runUpcast(module, inputs, {}, stop);
  if (precision == "exact") return runWithExactSums(module, inputs, stop);
  KERF_TRY(const auto compiled, compileFx(module, options, stop));
  return compiled->run(inputs, stop);
}

}  // namespace

Result<ModelRun> runWhole(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                          std::stop_token stop) {
  const ResultNames names(runnable.module);
  const RunResults before{{}, runnable.inputs, attributeValues(runnable.module, names.attributes)};
  KERF_TRY(const GraphModule own, withOwnAttributes(runnable.module, names.attributes));
  RunResults run;
  KERF_TRY(run.inputs, cloneInputs(runnable.inputs, false));
  KERF_TRY(run.outputs, runModule(options, precision, own, run.inputs, std::move(stop)));
  run.attributes = attributeValues(own, names.attributes);
  ModelRun whole{run.outputs, {}};
  auto mutated = mutatedValues(names, before, {&run});  // a temporary would not outlive the head of the loop
  for (auto& [name, value] : mutated.front()) whole.mutated.emplace_back(std::move(name), std::move(value));
  return whole;
}

Result<Value> runOn(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop) {
  KERF_TRY(ModelRun run, runWhole(options, precision, runnable, std::move(stop)));
  return std::move(run.outputs);
}

ValueList flatOutputs(const Value& result) {
  ValueList out;
  flatten(result, out);
  return out;
}

}  // namespace kerf::workbench
