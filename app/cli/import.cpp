// kerf import PATH...: files and folders into the store; --follow: a log that is still growing.
#include <filesystem>

#include <glob.h>

#include "app/cli/commands.h"
#include "app/cli/hints.h"
#include "app/cli/import_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/terminal.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct ImportArguments {
  std::vector<std::string> paths;
  bool follow = false, parse = false, link = false;
};

/// What became of the paths so far.
struct ImportTally {
  std::string store;
  Json captures = Json::array(), failed = Json::array();
  std::optional<Error> error;  ///< the first one
};

/// A pattern that the shell did not expand (quoted, or on a system without one) gives the files that match.
std::vector<std::string> expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  std::error_code ignored;
  for (const auto& path : paths) {
    glob_t found{};
    const bool pattern = path.find_first_of("*?[") != std::string::npos && !std::filesystem::exists(path, ignored);
    if (pattern && glob(path.c_str(), 0, nullptr, &found) == 0)
      all.insert(all.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    else
      all.push_back(path);
    globfree(&found);
  }
  return all;
}

/// With how to get graphs of a Python program.
Error withCapture(Error error, const std::string& path) {
  if (mayBeProgram(error)) error.message += fmt::format("; run `kerf capture {}`: {}", path, whatCapturingDoes);
  return error;
}

Result<void> importPath(Context& context, const ImportRequest& request, ImportTally& tally) {
  const auto imported = context.perform(request);
  if (!imported) return fail(withCapture(imported.error(), request.path));
  for (const auto& capture : imported->captures) {
    if (!context.json) printImported(capture, context.verbose);
    tally.captures.push_back(jsonOf(capture));
  }
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
Result<int> importPaths(Context& context, const std::vector<std::string>& paths, const ImportRequest& like) {
  ImportTally tally;
  KERF_TRY(const auto listing, context.perform(StoreRequest{"store"}));  // none that can be used fails them all
  tally.store = listing.store;
  for (const auto& path : paths) {
    auto outcome = importPath(context, {path, like.parse, like.link}, tally);
    if (outcome) continue;
    if (paths.size() == 1 || outcome.error().code == ErrorCode::Cancelled) return fail(std::move(outcome.error()));
    complainOf(outcome.error());
    noteFailure(path, outcome.error(), tally);
  }
  if (context.json)
    printJson({{"store", tally.store}, {"captures", tally.captures}, {"failed", tally.failed}});
  else if (tally.error)
    fmt::print("{} of {} could not be imported\n", tally.failed.size(), counted(std::ssize(paths), "path"));
  return tally.error ? 2 : 0;
}

Result<int> runImport(Context& context, const ImportArguments& arguments) {
  const auto paths = expanded(arguments.paths);
  if (!arguments.follow)
    return importPaths(context, paths,
                       {{}, arguments.parse ? ImportRequest::Parse::All : ImportRequest::Parse::Small, arguments.link});
  if (paths.size() == 1) return followLog(context, paths.front());
  return fail(ErrorCode::BadUsage, "--follow takes one log or one folder of logs, not {}", paths.size());
}

}  // namespace

void addImport(CommandLine& line) {
  auto& command = line.add("import", "Read files or folders into the store, and list what they hold",
                           "  kerf import minifier_launcher.py model.pt2 trace/dedicated_log_torch_trace_*.log\n"
                           "  kerf import torch_compile_debug/ --json\n"
                           "  kerf import --follow /tmp/trace");
  auto arguments = std::make_shared<ImportArguments>();
  command
      .add_option("PATH", arguments->paths,
                  "repro.py and other files of the minifier, graph text, .pt2, TORCH_TRACE logs (also .gz), or "
                  "folders of them: torch_compile_debug, trace, graph transforms. Kerf looks at the content, not at "
                  "the extension")
      ->required();
  command.add_flag("--follow", arguments->follow,
                   "Read a TORCH_TRACE log or folder while PyTorch writes it; Ctrl-C ends and stores it");
  command.add_flag("--parse", arguments->parse,
                   "Parse every graph now. By default the graphs of large files are parsed when they are used");
  command.add_flag(
      "--link", arguments->link,
      "Do not copy the files of logs, archives and folders. The store keeps only their paths and hashes, and refuses "
      "files that have changed. By default everything is copied");
  line.onRun(command, [arguments](Context& context) { return runImport(context, *arguments); });
}

}  // namespace kerf::cli
