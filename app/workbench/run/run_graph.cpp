// Running a graph on its recorded inputs, and checking its outputs against recorded ones.
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/workbench/captures/annotation_rows.h"
#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/symbols.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/run/model_runs.h"
#include "engine/accuracy/expectation.h"
#include "engine/backend/registry/backends.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/process/in_child.h"
#include "engine/process/value_codec.h"
#include "engine/tensor/storage_limit.h"

namespace kerf::workbench {

namespace {

/// What a dtype means: the type floats are cast to and the relative error that recorded outputs accept.
struct DTypeChoice {
  std::string_view name;
  DType dtype;
  double limit;
};
constexpr DTypeChoice dtypeChoices[] = {
    {"f64", DType::Float64, 1e-12},
    {"f32", DType::Float32, 1e-5},
    {"bf16", DType::BFloat16, 2e-2},
    {"f16", DType::Float16, 2e-3},
};

Result<const DTypeChoice*> findChoice(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const auto& choice : dtypeChoices)
    if (choice.name == name) return &choice;
  return fail(ErrorCode::BadUsage, "there is no dtype \"{}\"; choose f64, f32, bf16 or f16", name);
}

ExpectationRule ruleFor(const RunRequest& request, const DTypeChoice* choice) {
  ExpectationRule rule;
  const bool wide = choice != nullptr && choice->dtype == DType::Float64;
  const bool trains = request.graph.stage.starts_with("joint");
  if (wide && !trains) rule.prefix = "out64_";
  if (choice != nullptr) rule.limit = choice->limit;
  if (trains) rule.limit = wide ? 1e-9 : std::max(rule.limit, 1e-4);  // errors of two passes add up
  if (request.rtol >= 0) rule.limit = request.rtol;
  rule.exactDtype = choice == nullptr || wide || choice->dtype == DType::Float32;
  return rule;
}

/// What a run gives, taken apart.
struct RunValues {
  ValueList outputs;
  NamedValues mutated;
  NamedValues trained;  ///< of a training step: the loss and the gradients
};

Result<void> addTensor(SafetensorsFile& file, std::string name, const Value& value) {
  if (!value.isTensor()) return {};
  KERF_TRY(auto dense, value.tensor().contiguous());
  file.tensors.emplace_back(std::move(name), std::move(dense));
  return {};
}

Result<SafetensorsFile> asFile(const RunValues& values, const ExpectationRule& rule) {
  SafetensorsFile file;
  for (const auto& [name, value] : values.mutated) KERF_CHECK(addTensor(file, mutatedPrefix(rule) + name, value));
  for (std::size_t i = 0; i < values.outputs.size(); ++i)
    KERF_CHECK(addTensor(file, fmt::format("{}{}", rule.prefix, i), values.outputs[i]));
  for (const auto& [name, value] : values.trained) KERF_CHECK(addTensor(file, name, value));
  return file;
}

Result<std::vector<ExpectationVerdict>> checkAll(const SafetensorsFile& recorded, const RunValues& values,
                                                 const ExpectationRule& rule) {
  KERF_TRY(auto verdicts, checkExpectation(recorded, values.outputs, rule));
  KERF_TRY(auto written, checkMutated(recorded, values.mutated, rule));
  std::ranges::move(written, std::back_inserter(verdicts));
  if (values.trained.empty()) return verdicts;
  KERF_TRY(auto trained, checkNamed(recorded, values.trained, rule));
  std::ranges::move(trained, std::back_inserter(verdicts));
  return verdicts;
}

Result<std::vector<ExpectationRow>> expectationRows(const RunRequest& request, const RunValues& values,
                                                    const ExpectationRule& rule) {
  std::vector<ExpectationRow> rows;
  if (request.expect.empty()) return rows;
  KERF_TRY(const auto recorded, readSafetensors(request.expect));
  auto verdicts = checkAll(recorded, values, rule);
  if (!verdicts) return fail(std::move(verdicts.error().atFile(request.expect)));
  for (ExpectationVerdict& each : *verdicts)
    rows.push_back({std::move(each.name), std::move(each.shape), each.maxAbsError, each.relativeError,
                    each.withinRounding, each.same, std::move(each.reason)});
  return rows;
}

/// Those that the address gives, or of the recording that the outputs are compared with if it has any.
Result<RunnableGraph> onChosenInputs(GraphSource source, const RunRequest& request, const Job& job) {
  const auto& path = request.expect;
  if (path.empty() || !source.inputFile.empty()) return runnable(std::move(source), job);
  KERF_TRY(const auto file, readSafetensors(path));
  if (!hasInputs(file)) return runnable(std::move(source), job);
  auto ready = runnableOn(std::move(source), file, job);
  if (!ready && ready.error().file.empty()) ready.error().atFile(path);
  return ready;
}

/// Precision fp64 is dtype f64; upcast and exact are ways in which the interpreter runs the graph as it is.
Result<RunRequest> withPrecision(RunRequest request) {
  if (request.precision == "native") return request;
  if (request.backend != "interp")
    return fail(ErrorCode::BadUsage, "precision {} is the interpreter's; choose no other backend", request.precision);
  if (!request.dtype.empty())
    return fail(ErrorCode::BadUsage, "precision {} and dtype {} exclude each other", request.precision, request.dtype);
  if (request.precision == "fp64") {
    request.dtype = "f64";
  } else if (!request.passes.usual()) {
    return fail(ErrorCode::BadUsage, "precision {} runs the graph as it is; choose no passes and no options of passes",
                request.precision);
  }
  return request;
}

/// The interpreter is the reference: it runs the graph as captured unless passes were asked for.
Result<CompileOptions> compileOptions(const RunRequest& request, const std::filesystem::path& cache) {
  CompileOptions options{.backend = request.backend, .keepArtifacts = false, .cache = cache};
  options.roundsEachOp = request.rounding == "eager";
  KERF_TRY(options.passes, passConfig(request.passes));
  if (request.backend == "interp" && request.passes.usual()) options.passes.only.emplace();
  return options;
}

std::string plainText(const Value& value) {
  if (value.isTensor()) return tensorText(value.tensor());
  if (const auto* integer = value.as<std::int64_t>()) return std::to_string(*integer);
  if (const auto* real = value.as<double>()) return fmt::format("{}", *real);
  if (const auto* flag = value.as<bool>()) return *flag ? "True" : "False";
  return value.isNone() ? "None" : "?";
}

/// "f32[] 0.25" of the loss, "f32[4, 8] norm 1.5" of a gradient.
std::string trainedText(const Value& value) {
  if (!value.isTensor()) return plainText(value);
  const Tensor& tensor = value.tensor();
  if (tensor.dim() == 0) return fmt::format("{}  {:g}", tensorText(tensor), tensor.itemAsDouble());
  double squares = 0;
  const auto wide = tensor.to(DType::Float64);
  const auto dense = wide ? wide->contiguous() : wide;
  for (std::int64_t i = 0; dense && i < dense->numel(); ++i)
    squares += dense->data<double>()[i] * dense->data<double>()[i];
  return fmt::format("{}  norm {:g}", tensorText(tensor), std::sqrt(squares));
}

/// Inputs of other sizes for the same compiled graph.
struct Resized {
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  ValueList inputs;
};

struct RunOutcome {
  ValueList outputs;
  std::chrono::nanoseconds time{};
  std::vector<SizedRun> then;
  int compilations = 1;
  std::vector<std::string> recompilations;
  NamedValues mutated;
  std::optional<KernelProfile> profile = {};

  KERF_FIELDS(outputs, time, then, compilations, recompilations, mutated, profile)
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// What --then asks for; symbols that it does not name keep the values of the first run.
Result<std::vector<Resized>> resizedInputs(const GraphSource& source, const RunRequest& request, const Job& job) {
  std::vector<Resized> result;
  for (const std::string& text : request.then) {
    KERF_TRY(const SymbolBindings given, parseSymbols(split(text, ',')));
    GraphSource other = source;
    for (const auto& [name, value] : given) other.symbols.insert_or_assign(name, value);
    KERF_CHECK(checkSymbols(other.graph(), other.symbols));
    KERF_TRY(RunnableGraph ready, runnable(std::move(other), job));
    result.push_back({symbolValues(ready.graph(), ready.symbols), std::move(ready.inputs)});
  }
  return result;
}

Result<void> checkProfile(const RunRequest& request) {
  if (!request.profile && !request.memory) return {};
  const std::string_view option = request.profile ? "a profile" : "a memory plan";
  if (request.backend == "interp")
    return fail(ErrorCode::BadUsage, Hint{Advice::ChooseBackend},
                "{} is of generated kernels, which the interpreter has not", option);
  if (!request.then.empty())
    return fail(ErrorCode::BadUsage, "{} is of one run, and other sizes ask for several", option);
  return {};
}

Result<void> checkRounding(const RunRequest& request) {
  if (request.rounding == "eager") return {};
  if (request.rounding != "inductor")
    return fail(ErrorCode::BadUsage, "there is no rounding \"{}\": eager or inductor", request.rounding);
  if (request.backend != "interp") return {};
  return fail(ErrorCode::BadUsage, Hint{Advice::ChooseBackend},
              "the interpreter rounds after every op, and not as inductor does");
}

Result<void> checkThen(const RunRequest& request) {
  if (request.then.empty()) return {};
  KERF_TRY(const auto choice, parseInputChoice(request.graph.inputs));
  if (request.expect.empty() && request.save.empty() && choice.file.empty() && request.dtype.empty() &&
      request.precision == "native")
    return {};
  return fail(
      ErrorCode::BadUsage,
      "a compiled graph that runs again at other sizes takes recorded inputs: give no inputs, expected values, file "
      "to save, dtype and precision");
}

/// One compilation for all sizes, and what it took.
Result<RunOutcome> runAtSizes(const CompileOptions& options, const GraphModule& module, const ValueList& inputs,
                              const std::vector<Resized>& sizes) {
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(const auto compiled, compileFx(module, options));
  KERF_TRY(const Value first, compiled->run(inputs));
  RunOutcome outcome{flatOutputs(first), std::chrono::steady_clock::now() - start, {}, 1, {}, {}};
  for (const Resized& size : sizes) {
    const auto begin = std::chrono::steady_clock::now();
    KERF_TRY(const Value value, compiled->run(size.inputs));
    SizedRun run{size.symbols, {}, std::chrono::steady_clock::now() - begin};
    for (const Value& output : flatOutputs(value)) run.outputs.push_back(plainText(output));
    outcome.then.push_back(std::move(run));
  }
  outcome.compilations = compiled->compilations();
  for (const GuardViolation& violation : compiled->recompilations()) outcome.recompilations.push_back(violation.text());
  return outcome;
}

/// What each kernel takes; the inputs are copies, since runs may write into them.
Result<KernelProfile> profileOf(const CompileOptions& options, const CastGraph& runnable) {
  KERF_TRY(const auto compiled, compileFx(runnable.module, options));
  KERF_TRY(const ValueList inputs, cloneInputs(runnable.inputs, false));
  return profileKernels(*compiled, inputs, options.backend, {});
}

/// Casts, compiles and runs in a child; only the outputs come back.
Result<RunOutcome> runInChild(const RunRequest& request, const RunnableGraph& source, const DTypeChoice* choice,
                              const std::vector<Resized>& sizes, const std::optional<LossChoice>& loss,
                              const std::filesystem::path& cache, const Job& job) {
  const GraphModule& module = source.graph().module;
  const ValueList& inputs = source.inputs;
  const std::function body = [&]() -> Result<RunOutcome> {
    limitLiveStorage(request.memoryLimit > 0 ? request.memoryLimit : storageLimit() / 2);
    if (!sizes.empty()) {
      KERF_TRY(const auto options, compileOptions(request, cache));
      return runAtSizes(options, module, inputs, sizes);
    }
    CastGraph runnable{module, inputs};
    if (choice != nullptr) {
      KERF_TRY(runnable, castGraph(module, inputs, choice->dtype));
    }
    if (loss) KERF_CHECK(setTangents(source, *loss, runnable.inputs));
    const auto start = std::chrono::steady_clock::now();
    KERF_TRY(auto options, compileOptions(request, cache));
    if (request.backend != "interp") setGoal(options, source);  // that is the reference: one graph
    KERF_TRY(auto run, runWhole(options, request.precision, runnable, {}));
    const auto time = std::chrono::steady_clock::now() - start;
    RunOutcome outcome{flatOutputs(run.outputs), time, {}, 1, {}, std::move(run.mutated)};
    if (request.profile || request.memory) {
      KERF_TRY(outcome.profile, profileOf(options, runnable));
    }
    return outcome;
  };
  return inChild(body, patientLimits(request.timeout), job.stop, "running the graph", ErrorCode::RuntimeFailed);
}

/// What the run wrote into, and what an exported program returns for its caller to copy into buffers and inputs.
NamedValues allMutated(const CapturedGraph& graph, const RunOutcome& outcome) {
  NamedValues mutated = outcome.mutated;
  if (!graph.signature) return mutated;
  const auto& entries = graph.signature->outputs;
  for (std::size_t i = 0; i < entries.size() && i < outcome.outputs.size(); ++i)
    if (entries[i].kind.ends_with("_mutation")) mutated.emplace_back(entries[i].target, outcome.outputs[i]);
  return mutated;
}

Result<void> keepRun(Workbench& bench, const GraphSource& source, const RunRequest& request, const RunReport& report,
                     const Job& job) {
  KERF_TRY(const auto passes, passConfig(request.passes));
  const nlohmann::ordered_json stored{{"dtype", request.dtype},
                                      {"precision", request.precision},
                                      {"rounding", request.rounding},
                                      {"expect", request.expect},
                                      {"passes", passes.text()}};
  const std::string status = report.same ? "ok" : "different";
  return bench.keepResult(job, [&](Store& store) -> Result<void> {
    KERF_TRY(const auto graphId, storedGraphId(store, source));
    KERF_CHECK(store.addRun({0, graphId, "run", request.backend, stored.dump(), "", status, report.time.count()}));
    return {};
  });
}

}  // namespace

Result<RunReport> perform(Workbench& bench, const RunRequest& given, const Job& job) {
  KERF_TRY(const auto request, withPrecision(given));
  KERF_TRY(const Backend* const backend, findBackend(request.backend));
  KERF_CHECK(backend->canRun());
  KERF_TRY(const PassConfig config, passConfig(request.passes));
  KERF_CHECK(checkThen(request));
  KERF_CHECK(checkRounding(request));
  KERF_CHECK(checkProfile(request));
  KERF_TRY(const auto* choice, findChoice(request.dtype));
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  if (request.backend == "interp") KERF_CHECK(checkKernels(found.graph().module));
  auto annotations = annotationRows(found.graph().module);
  KERF_TRY(const auto sizes, resizedInputs(found, request, job));
  KERF_TRY(const RunnableGraph source, onChosenInputs(std::move(found), request, job));
  std::optional<LossChoice> loss;
  if (source.aot && !source.aot->tangents.empty()) {
    KERF_TRY(loss, parseLoss(source, request.loss));
  } else if (!request.loss.empty()) {
    return fail(ErrorCode::BadUsage, Hint{Advice::Train}, "a loss is of a training step");
  }
  const bool generates = request.backend != "interp";
  const auto cache = generates ? bench.codeCache(job) : std::filesystem::path();
  if (generates) keepMeasurements(bench, config, job);
  KERF_TRY(const auto outcome, runInChild(request, source, choice, sizes, loss, cache, job));
  RunValues values{userValues(source.graph(), outcome.outputs), allMutated(source.graph(), outcome), {}};
  if (loss) {
    KERF_TRY(values.trained, trainedValues(source, *loss, outcome.outputs));
  }
  const auto rule = ruleFor(request, choice);
  if (!request.save.empty()) {
    KERF_TRY(const auto file, asFile(values, rule));
    KERF_CHECK(writeSafetensors(request.save, file));
  }
  RunReport report{.dtype = request.dtype,
                   .time = outcome.time,
                   .limit = rule.limit,
                   .symbols = symbolValues(source.graph(), source.symbols),
                   .then = outcome.then,
                   .compilations = outcome.compilations,
                   .recompilations = outcome.recompilations,
                   .profile = outcome.profile,
                   .annotations = std::move(annotations)};
  for (const auto& output : values.outputs) report.outputs.push_back(plainText(output));
  for (const auto& [name, value] : values.mutated) report.mutated.emplace_back(name, plainText(value));
  for (const auto& [name, value] : values.trained) report.trained.emplace_back(name, trainedText(value));
  KERF_TRY(report.expected, expectationRows(request, values, rule));
  report.inputs = inputRows(source.origins, source.inputs);
  report.same = std::ranges::all_of(report.expected, &ExpectationRow::same);
  KERF_CHECK(keepRun(bench, source, request, report, job));
  return report;
}

}  // namespace kerf::workbench
