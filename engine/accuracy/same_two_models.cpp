#include "engine/accuracy/same_two_models.h"

#include "engine/ir/interpreter.h"
#include "engine/ops/random/state.h"

namespace kerf::inline accuracy {
namespace {

Result<Value> interpret(const GraphModule& module, const OpCaller& ops, const ValueList& inputs, bool toFp64,
                        std::stop_token stop) {
  KERF_TRY(const ValueList clones, cloneInputs(inputs, toFp64));
  const RandomScope random;  // every run sees the same random numbers
  return Interpreter(module, ops).run(clones, stop);
}

Result<Value> interpretFp64(const GraphModule& module, const OpCaller& ops, const ValueList& inputs,
                            std::stop_token stop) {
  KERF_TRY(const GraphModule cast, castToFp64(module));
  return interpret(cast, ops, inputs, true, stop);
}

/// The fp64 reference, or None with a note that says why there is none; an error where one is required.
Result<Value> fp64Reference(const GraphModule& module, const OpCaller& ops, const ValueList& inputs,
                            const CompareOptions& options, std::stop_token stop, ComparisonReport& report) {
  if (!options.useFp64) {
    report.fp64Note = "fp64 reference switched off";
    return Value();
  }
  auto value = interpretFp64(module, ops, inputs, stop);
  report.haveFp64 = value.has_value();
  if (value || value.error().code == ErrorCode::Cancelled) return value;
  value.error().while_("computing the fp64 reference");
  if (options.requireFp64) return value;
  report.fp64Note = value.error().text();
  return Value();
}

}  // namespace

SameOptions CompareOptions::sameOptions() const {
  SameOptions options;
  options.tolerance = tolerance;
  options.equalNan = true;
  options.ignoreNonFloat = ignoreNonFloat;
  return options;
}

Result<ComparisonReport> sameTwoModels(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                       const ValueList& inputs, const CompareOptions& options, std::stop_token stop) {
  ComparisonReport report;
  auto ref = interpret(reference, ops, inputs, false, stop);
  if (!ref) return fail(ref.error().while_("running the reference"));
  KERF_TRY(const Value fp64, fp64Reference(reference, ops, inputs, options, stop, report));
  KERF_TRY(const ValueList clones, cloneInputs(inputs, false));
  const auto res = [&] {
    const RandomScope random;
    return compiled(clones);
  }();
  if (!res) {
    if (res.error().code == ErrorCode::Cancelled) return fail(res.error());
    report.failure = res.error().text();
    report.same = true;  // as in PyTorch: an exception is a bug, but not the accuracy bug
    return report;
  }
  SameReport verdict = same(*ref, *res, fp64, options.sameOptions());
  report.same = verdict.same;
  report.outputs = std::move(verdict.outputs);
  return report;
}

}  // namespace kerf::inline accuracy
