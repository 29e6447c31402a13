#include "app/cli/command_line.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/hints.h"
#include "app/cli/terminal.h"
#include "app/cli/version.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/log_sinks.h"
#include "engine/support/out_of_memory.h"

namespace kerf::cli {

namespace {

constexpr std::string_view about =
    "Kerf shows what a PyTorch compiler did to a graph, finds where a result goes wrong, and cuts the failing graph\n"
    "down to the smallest repro.py.";
constexpr std::string_view rootExamples =
    "GRAPH is a path (repro.py, model.pt2, graph text, trace.log#aot_joint_graph, a folder) or a store id:\n"
    "  c3 or c3/g1          a captured graph            c3/g1@pass:cse   after a pass of the newest run\n"
    "  m2 or m2@step:4      a reduction's best or 4th   p4               a repro\n"
    "CAPTURE is a path or c3; a record of one is c3/r17 or trace.log#r17.\n\n"
    "Examples:\n"
    "  kerf demo\n"
    "  kerf import minifier_launcher.py model.pt2 trace/*.log\n"
    "  kerf show c2\n"
    "  kerf compare minifier_launcher.py --plant relu=accuracy --nodes\n"
    "  kerf minify minifier_launcher.py --plant relu=accuracy -o small\n\n"
    "Exit codes: 0 good, 1 a difference or failure was found, 2 bad usage or input, 3 environment or Kerf itself "
    "failed.";

struct CodeHint {
  ErrorCode code;
  std::string_view text;
};
constexpr CodeHint codeHints[] = {
    {ErrorCode::BadUsage, "`kerf COMMAND --help` lists the options of a command"},
    {ErrorCode::UnsupportedOp, "`kerf show` still displays the graph; only running it needs the op"},
    {ErrorCode::Internal, "this is a bug in Kerf; please report it with the file that caused it"},
};

void reportError(const Context& context, const Error& error) {
  std::fflush(stdout);
  complainOf(error);
  const std::string hint = hintText(error.hint);
  for (const auto& row : codeHints) {
    if (hint.empty() && row.code == error.code) complain(Tone::Hint, row.text);
  }
  if (!context.json) return;
  printJson({{"error",
              {{"code", errorCodeName(error.code)},
               {"message", error.message},
               {"file", error.file},
               {"line", error.line},
               {"node", error.node},
               {"hint", hint}}}});
}

int reportParseError(const Context& context, const CLI::App& root, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return root.exit(error);  // --help and --version
  const auto extra = root.remaining();
  const bool unknown = root.get_subcommands().empty() && !extra.empty();
  const auto message = unknown ? fmt::format("there is no command \"{}\"; `kerf --help` lists them", extra.front())
                               : std::string(error.what());
  reportError(context, {ErrorCode::BadUsage, message, {}, 0, {}, {}});
  return exitCode(ErrorCode::BadUsage);
}

/// Warnings on standard error; -v adds what was done, -vv how it went; $KERF_LOG has the last word.
Result<void> startLog(int verbosity) {
  const LogLevel lowest = verbosity == 0 ? LogLevel::Warning : verbosity == 1 ? LogLevel::Info : LogLevel::Debug;
  KERF_TRY(const LogLevels levels, LogLevels::fromEnvironment(LogLevels(lowest)));
  setLogLevels(levels);
  logToStderr();
  return {};
}

int runChosen(Context& context, const CommandBody& body) {
  if (const auto started = startLog(context.verbosity); !started) {
    reportError(context, started.error());
    return exitCode(started.error().code);
  }
  if (const int stale = removeStaleFolders(); stale > 0)
    logAt(LogCategory::Run, LogLevel::Info, "removed {} temporary folders of processes that were killed", stale);
  const auto outcome = withinMemory([&] { return body(context); });
  if (!outcome) {
    reportError(context, outcome.error());
    return exitCode(outcome.error().code);
  }
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return context.unstored() ? exitCode(ErrorCode::Environment) : *outcome;
  reportError(context, {ErrorCode::Environment, "cannot write to standard output", {}, 0, {}, {}});
  return exitCode(ErrorCode::Environment);
}

}  // namespace

CLI::App& CommandLine::add(const std::string& name, const std::string& description, const std::string& examples) {
  auto* command = m_root.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  addCommonOptions(*command);
  return *command;
}

void CommandLine::addCommonOptions(CLI::App& command) {
  command.add_flag("--json", m_context.json, "Print one JSON object (see resources/docs/cli.md)");
  command.add_option("--store", m_context.storePath, "Use this store file instead of the user's")->type_name("PATH");
  const auto sayMore = [this](std::int64_t times) {
    m_context.verbose = true;
    m_context.verbosity += int(times);
  };
  const std::map<std::string, ColourChoice> choices{
      {"auto", ColourChoice::Auto}, {"always", ColourChoice::Always}, {"never", ColourChoice::Never}};
  command
      .add_option_function<ColourChoice>("--color", chooseColours,
                                         "Colours: auto (on a terminal, unless $NO_COLOR is set), always or never")
      ->transform(CLI::CheckedTransformer(choices).description(""))
      ->type_name("auto|always|never");
  command.add_flag("-v,--verbose", sayMore, "Print more, and log what Kerf does; -vv logs every step");
}

void CommandLine::onRun(CLI::App& command, CommandBody body) {
  command.callback([this, body = std::move(body)] { m_chosen = body; });
}

int runCli(std::span<const char* const> arguments) {
  Context context;
  CLI::App root{std::string(about), "kerf"};
  root.require_subcommand(1);
  root.set_version_flag("--version", versionText);  // the function: it loads NVRTC, whose answer few ask for
  root.footer(std::string(rootExamples));
  CommandLine line(root, context);
  line.addCommonOptions(root);
  addCommands(line);
  try {
    root.parse(int(arguments.size()), const_cast<char**>(arguments.data()));
  } catch (const CLI::ParseError& error) {
    const auto isJson = [](const char* argument) { return std::string_view(argument) == "--json"; };
    context.json = context.json || std::ranges::any_of(arguments, isJson);
    return reportParseError(context, root, error);
  }
  return runChosen(context, line.chosen());
}

}  // namespace kerf::cli
