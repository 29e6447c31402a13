#include "app/cli/options.h"

#include <fmt/format.h>

namespace kerf::cli {

void addSymbolOption(CLI::App& command, std::vector<std::string>& symbols) {
  command
      .add_option("--sym", symbols,
                  "Value of a symbolic size, as s0=8; once per symbol. Without it the capture's own values are used")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void addAllowCallOption(CLI::App& command, std::vector<std::string>& targets) {
  command
      .add_option("--allow-call", targets,
                  "Let the written Python call this function or method, or read this attribute, although Kerf does not "
                  "know that it only computes, as mylib.f; once per name. The file says so. What loads or runs code "
                  "stays refused")
      ->type_name("TARGET")
      ->allow_extra_args(false);
}

void addInputOptions(CLI::App& command, workbench::GraphAddress& graph) {
  command
      .add_option("--inputs", graph.inputs,
                  "What stands in for data that the capture does not have: plausible (what the graph's ops ask for: "
                  "indices within bounds, positive variances, weights by their fan-in), random (as PyTorch: normal "
                  "floats, zero integers), zeros, ones; or a file with in0, in1, … or names of placeholders")
      ->type_name("plausible|random|zeros|ones|FILE.safetensors")
      ->capture_default_str();
  command
      .add_option("--seed", graph.seed, "Seed of what is made up; each input's values depend on it and its name only")
      ->check([](const std::string& text) {
        const bool fits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return fits ? std::string() : text + " is no whole number from 0 on";
      })
      ->capture_default_str();
}

std::string symbolLine(const std::vector<std::pair<std::string, std::int64_t>>& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? text : text + "\n";
}

CLI::Option* addDecompositionOption(CLI::App& command, std::string& table) {
  return command
      .add_option(
          "--decompositions", table,
          "Ops that are replaced by others: none; core (core ATen), or inductor: PyTorch's tables of these names")
      ->check(CLI::IsMember({"none", "core", "inductor"}))
      ->capture_default_str();
}

void addTrainOptions(CLI::App& command, workbench::GraphAddress& graph, const std::string& help,
                     const std::string& usualTable) {
  const auto table = std::make_shared<std::string>(usualTable);
  CLI::Option* train = command.add_flag_callback(
      "--train", [&graph, table] { graph.stage = "joint/" + *table; }, help);
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
                  "Run exactly these passes, in this order; a name twice runs twice (`kerf passes` lists them)")
      ->type_name("A,B,…")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--disable-pass", passes.disabled, "Leave this pass out")
      ->type_name("PASS")
      ->allow_extra_args(false);
  command.add_option("--config", passes.settings, "Set an option of a pass, e.g. constant_folding.max_bytes=1024")
      ->type_name("PASS.OPTION=VALUE")
      ->allow_extra_args(false);
}

void addToleranceOption(CLI::App& command, double& tolerance, const std::string& help) {
  command.add_option("--tol", tolerance, help)->check(CLI::NonNegativeNumber)->capture_default_str();
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

void addRunLimitOptions(CLI::App& command, CandidateLimits& limits) {
  addSizeOption(
      command, "--memory-limit", limits.memoryBytes,
      "Memory that one candidate may take: a number of bytes, or with K, M, G (8G for a graph that Kerf runs; "
      "half of the machine's for all processes of a command together)");
  addSizeOption(command, "--max-file-size", limits.fileBytes, "Size of any file that a candidate writes")
      ->default_str("4G");
}

void addCommandLimitOptions(CLI::App& command, CandidateLimits& limits) {
  addRunLimitOptions(command, limits);
  command.add_option("--max-processes", limits.processes, "command, torch: processes that may live at once")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  addSizeOption(command, "--max-output", limits.outputBytes,
                "command, torch: what a candidate may print before it is ended")
      ->default_str("256M");
  command.add_flag("--clean-env", limits.cleanEnvironment,
                   "command, torch: pass on only PATH, HOME, language, Python, compiler, CUDA and torch variables");
  const auto keep = [&limits](const std::vector<std::string>& names) {
    limits.keptVariables = names;
    limits.cleanEnvironment = true;
  };
  command.add_option_function<std::vector<std::string>>("--keep-env", keep, "This variable too, with --clean-env")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag_callback(
      "--no-network", [&limits] { limits.network = false; }, "command, torch: no network but a loopback of its own");
}

void addTimeoutOption(CLI::App& command, std::chrono::milliseconds& time, const std::string& help) {
  const auto set = [&time](double seconds) { time = std::chrono::milliseconds(std::int64_t(seconds * 1000)); };
  auto* option = command.add_option_function<double>("--timeout", set, help)->check(CLI::PositiveNumber);
  if (time.count() > 0) option->default_str(fmt::format("{:g}", std::chrono::duration<double>(time).count()));
}

}  // namespace kerf::cli
