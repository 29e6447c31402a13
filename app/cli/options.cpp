#include "app/cli/options.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/numbers.h"

namespace kerf::cli {

namespace {

constexpr double mostTolerance = 1e30;

}  // namespace

void addSymbolOption(CLI::App& command, std::vector<std::string>& symbols) {
  command
      .add_option("--sym", symbols,
                  "Value of a symbolic size, e.g. s0=8 (repeatable). Default: the values in the capture")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void addAllowCallOption(CLI::App& command, std::vector<std::string>& targets) {
  command
      .add_option("--allow-call", targets,
                  "Allow the written Python to call this function or method, or to read this attribute, e.g. "
                  "mylib.f, although Kerf does not know that it only computes (repeatable). The file names it in its "
                  "first line. Calls that load or run code stay forbidden")
      ->type_name("TARGET")
      ->allow_extra_args(false);
}

void addInputOptions(CLI::App& command, workbench::GraphAddress& graph) {
  command
      .add_option("--inputs", graph.inputs,
                  "Values for inputs that the capture has no data for: plausible (values that fit the ops: indices "
                  "within bounds, positive variances, weights scaled by fan-in), random (like PyTorch: normal "
                  "floats, zero integers), zeros, ones; or a file with in0, in1, … or the names of placeholders")
      ->type_name("plausible|random|zeros|ones|FILE.safetensors")
      ->capture_default_str();
  command
      .add_option("--seed", graph.seed,
                  "Seed of generated inputs. The values of an input depend only on the seed and its name")
      ->check(wholeBetween(0, UINT64_MAX))
      ->capture_default_str();
}

std::string symbolLine(const std::vector<std::pair<std::string, std::int64_t>>& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? text : text + "\n";
}

CLI::Option* addDecompositionOption(CLI::App& command, std::string& table) {
  return command
      .add_option("--decompositions", table,
                  "Which of PyTorch's decomposition tables to apply: none, core (core ATen) or inductor")
      ->check(CLI::IsMember({"none", "core", "inductor"}))
      ->capture_default_str();
}

void addTrainOptions(CLI::App& command, workbench::GraphAddress& graph, const std::string& help,
                     const std::string& usualTable) {
  const auto table = std::make_shared<std::string>(usualTable);
  CLI::Option* train = command.add_flag_callback("--train", [&graph, table] { graph.stage = "joint/" + *table; }, help);
  addDecompositionOption(command, *table)->needs(train)->each([&graph](const std::string& chosen) {
    graph.stage = "joint/" + chosen;
  });
}

void addPlantOption(CLI::App& command, std::vector<std::string>& plants, const std::string& help) {
  command.add_option("--plant", plants, help)->type_name("FAULT")->allow_extra_args(false);
}

void addPassOptions(CLI::App& command, workbench::PassChoice& passes) {
  command
      .add_option("--passes", passes.only,
                  "Run exactly these passes, in this order. A name that is given twice runs twice. `kerf passes` "
                  "lists the names")
      ->type_name("A,B,…")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--disable-pass", passes.disabled, "Skip this pass (repeatable)")
      ->type_name("PASS")
      ->allow_extra_args(false);
  command
      .add_option("--config", passes.settings,
                  "Set an option of a pass, e.g. constant_folding.max_bytes=1024 (repeatable)")
      ->type_name("PASS.OPTION=VALUE")
      ->allow_extra_args(false);
}

void addToleranceOption(CLI::App& command, double& tolerance, const std::string& help) {
  command.add_option("--tol", tolerance, help)->check(numberBetween(0, mostTolerance))->capture_default_str();
}

namespace {

/// "2G", "512M", "100000": powers of 1024.
CLI::Option* addSizeOption(CLI::App& command, const std::string& name, std::int64_t& bytes, const std::string& help) {
  const auto set = [&bytes](const std::uint64_t& value) { bytes = std::int64_t(value); };
  constexpr double most = 1ULL << 50;
  return command.add_option_function<std::uint64_t>(name, set, help)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1.0, most))
      ->type_name("SIZE");
}

}  // namespace

void addMemoryOption(CLI::App& command, std::int64_t& bytes) {
  addSizeOption(command, "--memory-limit", bytes,
                "Memory limit of the tensors that the run makes, in bytes or with K, M, G. Default: half of the "
                "machine's memory");
}

void addRunLimitOptions(CLI::App& command, CandidateLimits& limits) {
  addSizeOption(
      command, "--memory-limit", limits.memoryBytes,
      "Memory limit of one candidate, in bytes or with K, M, G. Default: 8G for a graph that Kerf runs, half of the "
      "machine's memory for all processes of a command");
  addSizeOption(command, "--max-file-size", limits.fileBytes, "Largest file that a candidate may write")
      ->default_str("4G");
}

void addCommandLimitOptions(CLI::App& command, CandidateLimits& limits) {
  addRunLimitOptions(command, limits);
  command.add_option("--max-processes", limits.processes, "command, torch: largest number of processes at once")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  addSizeOption(command, "--max-output", limits.outputBytes, "command, torch: largest output of a candidate")
      ->default_str("256M");
  command.add_flag("--clean-env", limits.cleanEnvironment,
                   "command, torch: pass on only the variables PATH, HOME and those of language, Python, compilers, "
                   "CUDA and torch");
  const auto keep = [&limits](const std::vector<std::string>& names) {
    limits.keptVariables = names;
    limits.cleanEnvironment = true;
  };
  command
      .add_option_function<std::vector<std::string>>("--keep-env", keep,
                                                     "With --clean-env: pass this variable on too (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag_callback(
      "--no-network", [&limits] { limits.network = false; }, "command, torch: no network except a private loopback");
}

void addTimeoutOption(CLI::App& command, std::chrono::milliseconds& time, const std::string& help) {
  const auto set = [&time](double seconds) {
    time = std::chrono::milliseconds(std::max<std::int64_t>(1, std::int64_t(seconds * 1000)));
  };
  constexpr double most = 1e9;  // three decades of seconds
  auto* option = command.add_option_function<double>("--timeout", set, help)->check(numberBetween(0, most, true));
  if (time.count() > 0) option->default_str(fmt::format("{:g}", std::chrono::duration<double>(time).count()));
}

}  // namespace kerf::cli
