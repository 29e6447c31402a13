// kerf import PATH...: files and folders into the store.
#include <algorithm>

#include <glob.h>

#include "app/cli/capture_source.h"
#include "app/cli/commands.h"
#include "app/cli/follow.h"
#include "app/cli/graph_source.h"
#include "app/cli/import_report.h"
#include "app/cli/progress.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::vector<std::string> paths;
  bool follow = false, parse = false;
};

/// What became of the paths so far.
struct ImportTally {
  Json captures = Json::array(), failed = Json::array();
  std::optional<Error> error;  ///< the first one
};

/// A pattern that the shell did not expand (quoted, or on a system without one) gives the files that match.
std::vector<std::string> expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  std::error_code ignored;
  for (const auto& path : paths) {
    glob_t found{};
    const bool pattern = path.find_first_of("*?[") != std::string::npos && !fs::exists(path, ignored);
    if (pattern && glob(path.c_str(), 0, nullptr, &found) == 0)
      all.insert(all.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    else
      all.push_back(path);
    globfree(&found);
  }
  return all;
}

Result<void> storeOne(Context& context, const ImportArguments& arguments, Capture capture, ImportTally& tally) {
  KERF_TRY(auto* store, context.store());
  const auto stop = context.stop();
  KERF_CHECK(parseGraphs(capture, arguments.parse, stop));
  Progress progress;
  KERF_TRY(const auto id, storeCapture(*store, capture, [&](double done) {
             progress.fraction("storing " + capture.path.string(), done);
             return !stop.stop_requested();
           }));
  progress.finish();
  auto object = importedJson(capture, id);
  if (!context.json) printImported(object, context.verbose);
  tally.captures.push_back(std::move(object));
  return {};
}

Result<void> importPath(Context& context, const ImportArguments& arguments, const std::string& path,
                        ImportTally& tally) {
  KERF_TRY(auto captures, openAll(context, path));
  if (context.stop().stop_requested())
    return fail(ErrorCode::Cancelled, "stopped while importing {}; nothing of it was stored", path);
  context.opened = {};  // a long list of paths must not keep each one's graphs
  for (auto& capture : captures) KERF_CHECK(storeOne(context, arguments, std::move(capture), tally));
  return {};
}

void noteFailure(const std::string& path, const Error& error, ImportTally& tally) {
  tally.failed.push_back({{"path", path},
                          {"code", errorCodeName(error.code)},
                          {"message", error.message},
                          {"file", error.file},
                          {"line", error.line}});
  if (!tally.error) tally.error = error;
}

/// One bad file does not lose the others: each is reported where it is met.
Result<int> importPaths(Context& context, const ImportArguments& arguments, const std::vector<std::string>& paths) {
  KERF_CHECK(context.store());
  ImportTally tally;
  for (const auto& path : paths) {
    auto outcome = importPath(context, arguments, path, tally);
    if (outcome) continue;
    if (paths.size() == 1 || outcome.error().code == ErrorCode::Cancelled) return fail(std::move(outcome.error()));
    fmt::print(stderr, "kerf: error: {}\n", outcome.error().text());
    noteFailure(path, outcome.error(), tally);
  }
  KERF_TRY(auto* store, context.store());
  if (context.json)
    printJson({{"store", store->path().string()}, {"captures", tally.captures}, {"failed", tally.failed}});
  else if (tally.error)
    fmt::print("{} of {} could not be imported\n", tally.failed.size(), counted(std::ssize(paths), "path"));
  return tally.error ? 2 : 0;
}

Result<int> runImport(Context& context, const ImportArguments& arguments) {
  const auto paths = expanded(arguments.paths);
  if (!arguments.follow) return importPaths(context, arguments, paths);
  if (paths.size() == 1) return followLog(context, paths.front());
  return fail(ErrorCode::BadUsage, "--follow takes one log or one folder of logs, not {}", paths.size());
}

}  // namespace

void addImport(CommandLine& line) {
  auto& command = line.add("import", "Read files or folders of any kind into the store and say what was found",
                           "  kerf import minifier_launcher.py model.pt2 trace/dedicated_log_torch_trace_*.log\n"
                           "  kerf import torch_compile_debug/ --json\n"
                           "  kerf import --follow /tmp/trace");
  auto arguments = std::make_shared<ImportArguments>();
  command
      .add_option("PATH", arguments->paths,
                  "repro.py and other minifier files, graph text, .pt2, TORCH_TRACE logs (also .gz), and folders of "
                  "them: torch_compile_debug, trace, graph transforms. Content decides, not the extension")
      ->required();
  command.add_flag("--follow", arguments->follow,
                   "Read a TORCH_TRACE log or folder that is still being written until Ctrl-C, then store it");
  command.add_flag("--parse", arguments->parse,
                   "Parse every graph now; else those of large files are read when they are asked for");
  line.onRun(command, [arguments](Context& context) { return runImport(context, *arguments); });
}

}  // namespace kerf::cli
