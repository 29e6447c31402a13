#include "app/cli/repro_dump.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "engine/support/log.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr int highestLevel = 4;
/// PyTorch's config.repro_level where only REPRO_AFTER is set.
constexpr int usualLevel = 2;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

int levelOfEnvironment() {
  if (variable("TORCHDYNAMO_REPRO_AFTER").empty()) return 0;
  const std::string level = variable("TORCHDYNAMO_REPRO_LEVEL");
  if (level.empty()) return usualLevel;
  const bool isLevel = level.size() == 1 && level[0] >= '0' && level[0] <= '0' + highestLevel;
  return isLevel ? level[0] - '0' : 0;
}

std::string folderOfEnvironment() {
  const std::string root = variable("TORCH_COMPILE_DEBUG_DIR");
  return (fs::path(root.empty() ? "." : root) / "torch_compile_debug" / "kerf").string();
}

/// "c3/g1" and "dir/trace.log#aot_joint_graph" as names of folders.
std::string folderName(const std::string& address) {
  constexpr std::size_t longest = 80;
  std::string name = address.substr(address.size() - std::min(address.size(), longest));
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  return name;
}

/// On standard error: the command's own output is of its result.
void say(const std::string& text) { fmt::print(stderr, "{}\n", escapedText(text)); }

Result<void> write(Context& context, const ReproDump& dump, const GraphAddress& graph, bool differs) {
  const bool isLauncher = dump.level >= 2;
  const fs::path folder = fs::path(dump.folder) / folderName(graph.text) / "minifier";
  const fs::path file = folder / (isLauncher ? "minifier_launcher.py" : "repro.py");
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    say(fmt::format("the repro of this graph is in {} already", file.string()));
    return {};
  }
  ExportRequest request;
  request.graph = graph;
  request.place = file.string();
  request.runCommand = isLauncher ? "minify" : "run";
  if (differs) request.accuracy = "True";
  KERF_TRY(const auto written, context.perform(request));
  say(fmt::format("wrote {}: `kerf minify` cuts it down, and so does python", written.path));
  return {};
}

}  // namespace

void addReproOptions(CLI::App& command, ReproDump& dump) {
  dump.level = levelOfEnvironment();
  dump.folder = folderOfEnvironment();
  command
      .add_option("--repro-level", dump.level,
                  "Write a repro, like TORCHDYNAMO_REPRO_LEVEL: 0 none; 1 repro.py if compiling or running fails; 2 "
                  "minifier_launcher.py instead; 3 always, before the run; 4 also if results differ")
      ->check(CLI::Range(0, highestLevel))
      ->capture_default_str();
  command.add_option("--repro-dir", dump.folder, "Folder for the repros of --repro-level")
      ->type_name("DIR")
      ->capture_default_str();
}

Result<void> dumpBefore(Context& context, const ReproDump& dump, const GraphAddress& graph) {
  return dump.level == 3 ? write(context, dump, graph, false) : Result<void>();
}

Result<void> dumpAfter(Context& context, const ReproDump& dump, const GraphAddress& graph, FailureOfRun failure) {
  const bool raised = failure == FailureOfRun::Exception && dump.level >= 1 && dump.level != 3;
  const bool differs = failure == FailureOfRun::Accuracy && dump.level == highestLevel;
  return raised || differs ? write(context, dump, graph, differs) : Result<void>();
}

}  // namespace kerf::cli
