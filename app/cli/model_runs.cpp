#include "app/cli/model_runs.h"

#include "engine/accuracy/same_two_models.h"

namespace kerf::cli {

namespace {

void flatten(const Value& value, ValueList& out) {
  if (!value.isList()) {
    out.push_back(value);
    return;
  }
  for (const auto& item : value.list()) flatten(item, out);
}

}  // namespace

Result<Value> runOn(const std::string& backend, const PassConfig& passes, const CastGraph& runnable,
                    std::stop_token stop) {
  KERF_TRY(const auto inputs, cloneInputs(runnable.inputs, false));
  const CompileOptions options{.backend = backend, .passes = passes, .keepArtifacts = false};
  KERF_TRY(const auto compiled, compileFx(runnable.module, options, stop));
  return compiled->run(inputs, stop);
}

ValueList flatOutputs(const Value& result) {
  ValueList out;
  flatten(result, out);
  return out;
}

}  // namespace kerf::cli
