#include "app/workbench/model_runs.h"

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

}  // namespace

Result<Value> runOn(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop) {
  KERF_TRY(const auto inputs, cloneInputs(runnable.inputs, false));
  if (precision == "upcast") return runUpcast(runnable.module, inputs, {}, stop);
  if (precision == "exact") return runWithExactSums(runnable.module, inputs, stop);
  KERF_TRY(const auto compiled, compileFx(runnable.module, options, stop));
  return compiled->run(inputs, stop);
}

ValueList flatOutputs(const Value& result) {
  ValueList out;
  flatten(result, out);
  return out;
}

}  // namespace kerf::workbench
