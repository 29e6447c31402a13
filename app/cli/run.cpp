// kerf run GRAPH: runs a graph on its recorded inputs; saves the outputs or checks them against recorded ones.
#include "app/cli/commands.h"
#include "app/cli/compile_options.h"
#include "app/cli/expectation.h"
#include "app/cli/given_inputs.h"
#include "app/cli/graph_source.h"
#include "app/cli/model_runs.h"
#include "app/cli/symbols.h"
#include "app/cli/text_table.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ops/core/upcast.h"

namespace kerf::cli {

namespace {

struct RunOptions {
  std::string graph, backend = "interp", dtype, precision = "native", save, expect, inputs;
  double rtol = -1;
  std::vector<std::string> symbols;
  PassArguments passes;
};

/// What --dtype means: the type floats are cast to and the relative error that --expect accepts.
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

const DTypeChoice* findChoice(std::string_view name) {
  for (const auto& choice : dtypeChoices) {
    if (choice.name == name) return &choice;
  }
  return nullptr;
}

ExpectationRule ruleFor(const RunOptions& options, const DTypeChoice* choice) {
  ExpectationRule rule;
  const bool wide = choice != nullptr && choice->dtype == DType::Float64;
  if (wide) rule.prefix = "out64_";
  if (choice != nullptr) rule.limit = choice->limit;
  if (options.rtol >= 0) rule.limit = options.rtol;
  rule.exactDtype = choice == nullptr || wide || choice->dtype == DType::Float32;
  return rule;
}

Result<SafetensorsFile> asFile(const ValueList& outputs, const std::string& prefix) {
  SafetensorsFile file;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isTensor()) continue;
    KERF_TRY(auto dense, outputs[i].tensor().contiguous());
    file.tensors.emplace_back(fmt::format("{}{}", prefix, i), std::move(dense));
  }
  return file;
}

std::string plainText(const Value& value) {
  if (value.isTensor()) return tensorText(value.tensor());
  if (const auto* integer = value.as<std::int64_t>()) return std::to_string(*integer);
  if (const auto* real = value.as<double>()) return fmt::format("{}", *real);
  if (const auto* flag = value.as<bool>()) return *flag ? "True" : "False";
  return value.isNone() ? "None" : "?";
}

Json rowJson(const ExpectationRow& row) {
  return {{"name", row.name},
          {"shape", row.shape},
          {"max_abs_error", number(row.maxAbsError)},
          {"relative_error", number(row.relativeError)},
          {"same", row.same},
          {"within_rounding", row.withinRounding},
          {"reason", row.reason}};
}

void printRows(const std::vector<ExpectationRow>& rows) {
  TextTable table({"output", "shape", "max abs error", "relative error", "verdict"});
  for (const auto& row : rows) {
    table.add({row.name, row.shape, figure(row.maxAbsError), figure(row.relativeError),
               row.withinRounding ? "same (within rounding)"
               : row.same         ? "same"
                                  : "DIFFERENT: " + row.reason});
  }
  fmt::print("{}", table.text());
}

bool allSame(const std::vector<ExpectationRow>& rows) {
  return std::ranges::all_of(rows, [](const ExpectationRow& row) { return row.same; });
}

Result<void> keepRun(Context& context, const GraphSource& source, const RunOptions& options, const std::string& status,
                     std::chrono::nanoseconds time) {
  KERF_TRY(auto* store, context.storeIfUsable());
  if (store == nullptr) return {};
  KERF_TRY(const auto graphId, storedGraphId(*store, source));
  const Json stored{{"dtype", options.dtype},
                    {"precision", options.precision},
                    {"expect", options.expect},
                    {"passes", fmt::format("{}", fmt::join(passWords(options.passes), " "))}};
  KERF_CHECK(store->addRun({0, graphId, "run", options.backend, stored.dump(), "", status, time.count()}));
  return {};
}

Json outcomeJson(const RunOptions& options, const ValueList& outputs, std::chrono::nanoseconds time) {
  Json list = Json::array();
  for (const auto& output : outputs) list.push_back(plainText(output));
  return {{"graph", options.graph},
          {"backend", options.backend},
          {"dtype", options.dtype},
          {"precision", options.precision},
          {"elapsed_ms", double(time.count()) / 1e6},
          {"outputs", std::move(list)}};
}

Result<std::vector<ExpectationRow>> expectationRows(const RunOptions& options, const ValueList& outputs,
                                                    const ExpectationRule& rule) {
  if (options.expect.empty()) return std::vector<ExpectationRow>();
  KERF_TRY(const auto recorded, readSafetensors(options.expect));
  auto rows = checkExpectation(recorded, outputs, rule);
  if (!rows) rows.error().atFile(options.expect);
  return rows;
}

void report(Context& context, const RunOptions& options, const ValueList& outputs,
            const std::vector<ExpectationRow>& rows, const ExpectationRule& rule, std::chrono::nanoseconds time) {
  if (context.json) {
    auto object = outcomeJson(options, outputs, time);
    Json list = Json::array();
    for (const auto& row : rows) list.push_back(rowJson(row));
    if (!options.expect.empty()) {
      object["expected"] = std::move(list);
      object["limit"] = rule.limit;
      object["same"] = allSame(rows);
    }
    printJson(object);
    return;
  }
  if (options.expect.empty()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) fmt::print("out{}  {}\n", i, plainText(outputs[i]));
  } else {
    printRows(rows);
    const auto good = std::ranges::count_if(rows, [](const ExpectationRow& row) { return row.same; });
    fmt::print("{} of {} outputs equal the recorded ones (limit {:g})\n", good, rows.size(), rule.limit);
  }
  fmt::print("{} in {}\n", options.backend, durationText(time));
}

/// Recorded inputs: of --inputs, or of the recording that the outputs are compared with if it has any.
Result<ValueList> chosenInputs(GraphSource& source, const RunOptions& options) {
  const auto& path = options.inputs.empty() ? options.expect : options.inputs;
  if (path.empty()) return prepareToRun(source);
  KERF_TRY(const auto file, readSafetensors(path));
  if (options.inputs.empty() && !hasInputs(file)) return prepareToRun(source);
  auto inputs = prepareWithInputs(source, file);
  if (!inputs && inputs.error().file.empty()) inputs.error().atFile(path);
  return inputs;
}

/// --precision fp64 is --dtype f64; upcast and exact are ways in which the interpreter runs the graph as it is.
Result<RunOptions> withPrecision(RunOptions options) {
  if (options.precision == "native") return options;
  if (options.backend != "interp")
    return fail(ErrorCode::BadUsage, "--precision {} is the interpreter's; leave --backend out", options.precision);
  if (!options.dtype.empty())
    return fail(ErrorCode::BadUsage, "--precision {} and --dtype {} exclude each other", options.precision,
                options.dtype);
  if (options.precision == "fp64") {
    options.dtype = "f64";
    return options;
  }
  if (!passWords(options.passes).empty())
    return fail(ErrorCode::BadUsage, "--precision {} runs the graph as it is; leave {} out", options.precision,
                passWords(options.passes).front());
  return options;
}

/// The interpreter is the reference: it runs the graph as captured unless passes were asked for.
Result<PassConfig> runPasses(const RunOptions& options) {
  KERF_TRY(PassConfig config, passConfig(options.passes));
  const bool asked = !passWords(options.passes).empty();
  if (options.backend == "interp" && !asked) config.only.emplace();
  return config;
}

Result<Value> runAsAsked(const RunOptions& options, const CastGraph& runnable, std::stop_token stop) {
  if (options.precision != "upcast" && options.precision != "exact") {
    KERF_TRY(const auto passes, runPasses(options));
    return runOn(options.backend, passes, runnable, stop);
  }
  KERF_TRY(const auto inputs, cloneInputs(runnable.inputs, false));
  return options.precision == "upcast" ? runUpcast(runnable.module, inputs, {}, stop)
                                       : runWithExactSums(runnable.module, inputs, stop);
}

Result<int> runRun(Context& context, const RunOptions& given) {
  KERF_TRY(const RunOptions options, withPrecision(given));
  KERF_CHECK(findBackend(options.backend));
  KERF_TRY(auto source, resolveGraph(context, options.graph, options.symbols));
  KERF_TRY(const auto inputs, chosenInputs(source, options));
  const auto* choice = findChoice(options.dtype);
  CastGraph runnable{source.graph().module, inputs};
  if (choice != nullptr) {
    KERF_TRY(runnable, castGraph(source.graph().module, inputs, choice->dtype));
  }
  const auto start = std::chrono::steady_clock::now();
  auto result = runAsAsked(options, runnable, context.stop());
  if (!result) return fail(std::move(result.error()));
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  const auto outputs = userValues(source.graph(), flatOutputs(*result));
  const auto rule = ruleFor(options, choice);
  if (!options.save.empty()) {
    KERF_TRY(const auto file, asFile(outputs, rule.prefix));
    KERF_CHECK(writeSafetensors(options.save, file));
  }
  KERF_TRY(const auto rows, expectationRows(options, outputs, rule));
  KERF_CHECK(keepRun(context, source, options, allSame(rows) ? "ok" : "different", time));
  report(context, options, outputs, rows, rule, time);
  return allSame(rows) ? 0 : 1;
}

}  // namespace

void addRun(CommandLine& line) {
  auto& command = line.add("run", "Run a graph on its recorded inputs",
                           "  kerf run repro.py --backend llvm\n"
                           "  kerf run repro.py --expect train_forward_io.safetensors --dtype f64\n"
                           "  kerf run model.pt2 --expect eval_io.safetensors\n"
                           "  kerf run trace.log#aot_forward_graph --sym s0=8 --sym s1=3\n"
                           "  kerf run c3/g1 --save outputs.safetensors");
  auto options = std::make_shared<RunOptions>();
  command.add_option("GRAPH", options->graph, "Path or store id")->required();
  command.add_option("--backend", options->backend, "interp or llvm")->capture_default_str();
  command.add_option("--dtype", options->dtype, "Cast floats first: f64 (as PyTorch's cast_to_fp64), f32, bf16 or f16")
      ->check(CLI::IsMember({"f64", "f32", "bf16", "f16"}));
  command
      .add_option(
          "--precision", options->precision,
          "native; fp64 (as --dtype f64); upcast: inputs as recorded, arithmetic in fp64, outputs rounded; exact: "
          "sums and products of matrices rounded once")
      ->check(CLI::IsMember({"native", "fp64", "upcast", "exact"}))
      ->capture_default_str();
  command.add_option("--save", options->save, "Write the outputs as out<i> (out64_<i> with --dtype f64)")
      ->type_name("FILE.safetensors");
  command.add_option("--expect", options->expect, "Compare with recorded outputs; exit 1 if one differs")
      ->type_name("FILE.safetensors");
  command
      .add_option("--inputs", options->inputs,
                  "Take in0, in1, … of this file as the graph's (a .pt2's: the user's) inputs; --expect's file is "
                  "asked for them too")
      ->type_name("FILE.safetensors");
  command.add_option("--rtol", options->rtol, "Accepted relative error (default 1e-5; f64 1e-12, bf16 2e-2, f16 2e-3)")
      ->check(CLI::NonNegativeNumber);
  addPassOptions(command, options->passes);
  addSymbolOption(command, options->symbols);
  line.onRun(command, [options](Context& context) { return runRun(context, *options); });
}

}  // namespace kerf::cli
