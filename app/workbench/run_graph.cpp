// Running a graph on its recorded inputs, and checking its outputs against recorded ones.
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/workbench/engine_options.h"
#include "app/workbench/expectation.h"
#include "app/workbench/given_inputs.h"
#include "app/workbench/in_child.h"
#include "app/workbench/model_runs.h"
#include "app/workbench/symbols.h"
#include "engine/process/value_codec.h"

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
  if (wide) rule.prefix = "out64_";
  if (choice != nullptr) rule.limit = choice->limit;
  if (request.rtol >= 0) rule.limit = request.rtol;
  rule.exactDtype = choice == nullptr || wide || choice->dtype == DType::Float32;
  return rule;
}

Result<SafetensorsFile> asFile(const ValueList& outputs, const NamedValues& mutated, const ExpectationRule& rule) {
  const std::string& prefix = rule.prefix;
  SafetensorsFile file;
  for (const auto& [name, value] : mutated) {
    if (!value.isTensor()) continue;
    KERF_TRY(auto dense, value.tensor().contiguous());
    file.tensors.emplace_back(mutatedPrefix(rule) + name, std::move(dense));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isTensor()) continue;
    KERF_TRY(auto dense, outputs[i].tensor().contiguous());
    file.tensors.emplace_back(fmt::format("{}{}", prefix, i), std::move(dense));
  }
  return file;
}

Result<std::vector<ExpectationRow>> checkAll(const SafetensorsFile& recorded, const ValueList& outputs,
                                             const NamedValues& mutated, const ExpectationRule& rule) {
  KERF_TRY(auto rows, checkExpectation(recorded, outputs, rule));
  KERF_TRY(auto written, checkMutated(recorded, mutated, rule));
  std::ranges::move(written, std::back_inserter(rows));
  return rows;
}

Result<std::vector<ExpectationRow>> expectationRows(const RunRequest& request, const ValueList& outputs,
                                                    const NamedValues& mutated, const ExpectationRule& rule) {
  if (request.expect.empty()) return std::vector<ExpectationRow>();
  KERF_TRY(const auto recorded, readSafetensors(request.expect));
  auto rows = checkAll(recorded, outputs, mutated, rule);
  if (!rows) rows.error().atFile(request.expect);
  return rows;
}

/// Those that the address gives, or of the recording that the outputs are compared with if it has any.
Result<ValueList> chosenInputs(GraphSource& source, const RunRequest& request, const Job& job) {
  const auto& path = request.expect;
  if (path.empty() || !source.inputFile.empty()) return prepareToRun(source, job);
  KERF_TRY(const auto file, readSafetensors(path));
  if (!hasInputs(file)) return prepareToRun(source, job);
  auto inputs = prepareWithInputs(source, file, job);
  if (!inputs && inputs.error().file.empty()) inputs.error().atFile(path);
  return inputs;
}

/// Precision fp64 is dtype f64; upcast and exact are ways in which the interpreter runs the graph as it is.
Result<RunRequest> withPrecision(RunRequest request) {
  if (request.precision == "native") return request;
  if (request.backend != "interp")
    return fail(ErrorCode::BadUsage, "--precision {} is the interpreter's; leave --backend out", request.precision);
  if (!request.dtype.empty())
    return fail(ErrorCode::BadUsage, "--precision {} and --dtype {} exclude each other", request.precision,
                request.dtype);
  if (request.precision == "fp64") {
    request.dtype = "f64";
  } else if (!request.passes.usual()) {
    return fail(ErrorCode::BadUsage,
                "--precision {} runs the graph as it is; leave --passes, --disable-pass and --config out",
                request.precision);
  }
  return request;
}

/// The interpreter is the reference: it runs the graph as captured unless passes were asked for.
Result<CompileOptions> compileOptions(const RunRequest& request) {
  CompileOptions options{.backend = request.backend, .keepArtifacts = false};
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

  KERF_FIELDS(outputs, time, then, compilations, recompilations, mutated)
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
    KERF_TRY(auto inputs, prepareToRun(other, job));
    result.push_back({symbolValues(other.graph(), other.symbols), std::move(inputs)});
  }
  return result;
}

Result<void> checkThen(const RunRequest& request) {
  if (request.then.empty()) return {};
  KERF_TRY(const auto choice, parseInputChoice(request.graph.inputs));
  if (request.expect.empty() && request.save.empty() && choice.file.empty() && request.dtype.empty() &&
      request.precision == "native")
    return {};
  return fail(ErrorCode::BadUsage,
              "--then runs a compiled graph again on recorded inputs; leave --expect, --save, --inputs, --dtype and "
              "--precision out");
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

/// Casts, compiles and runs in a child; only the outputs come back.
Result<RunOutcome> runInChild(const RunRequest& request, const GraphModule& module, const ValueList& inputs,
                              const DTypeChoice* choice, const std::vector<Resized>& sizes, const Job& job) {
  const std::function body = [&]() -> Result<RunOutcome> {
    if (!sizes.empty()) {
      KERF_TRY(const auto options, compileOptions(request));
      return runAtSizes(options, module, inputs, sizes);
    }
    CastGraph runnable{module, inputs};
    if (choice != nullptr) {
      KERF_TRY(runnable, castGraph(module, inputs, choice->dtype));
    }
    const auto start = std::chrono::steady_clock::now();
    KERF_TRY(const auto options, compileOptions(request));
    KERF_TRY(auto run, runWhole(options, request.precision, runnable, {}));
    const auto time = std::chrono::steady_clock::now() - start;
    return RunOutcome{flatOutputs(run.outputs), time, {}, 1, {}, std::move(run.mutated)};
  };
  return inChild(body, patientLimits(request.timeout), job, "running the graph", ErrorCode::RuntimeFailed);
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
  KERF_CHECK(findBackend(request.backend));
  KERF_CHECK(passConfig(request.passes));
  KERF_CHECK(checkThen(request));
  KERF_TRY(const auto* choice, findChoice(request.dtype));
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(const auto sizes, resizedInputs(source, request, job));
  KERF_TRY(const auto inputs, chosenInputs(source, request, job));
  KERF_TRY(const auto outcome, runInChild(request, source.graph().module, inputs, choice, sizes, job));
  const auto outputs = userValues(source.graph(), outcome.outputs);
  const auto mutated = allMutated(source.graph(), outcome);
  const auto rule = ruleFor(request, choice);
  if (!request.save.empty()) {
    KERF_TRY(const auto file, asFile(outputs, mutated, rule));
    KERF_CHECK(writeSafetensors(request.save, file));
  }
  RunReport report{.dtype = request.dtype,
                   .time = outcome.time,
                   .limit = rule.limit,
                   .symbols = symbolValues(source.graph(), source.symbols),
                   .then = outcome.then,
                   .compilations = outcome.compilations,
                   .recompilations = outcome.recompilations};
  for (const auto& output : outputs) report.outputs.push_back(plainText(output));
  for (const auto& [name, value] : mutated) report.mutated.emplace_back(name, plainText(value));
  KERF_TRY(report.expected, expectationRows(request, outputs, mutated, rule));
  report.inputs = inputRows(source, inputs);
  report.same = std::ranges::all_of(report.expected, &ExpectationRow::same);
  KERF_CHECK(keepRun(bench, source, request, report, job));
  return report;
}

}  // namespace kerf::workbench
