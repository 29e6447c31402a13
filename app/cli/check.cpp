// kerf check SCRIPT: becomes the user's Python with the package that kerf carries, which runs the script and compares.
#include "app/cli/commands.h"
#include "app/cli/python_package.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::string script, output, python = "python3", time = "10m", timeout = "120s", device = "auto";
  int jobs = 0;
  bool fresh = false, quiet = false;
};

std::vector<std::string> argumentsOf(const CheckOptions& options, const std::vector<std::string>& arguments,
                                     bool json) {
  std::vector<std::string> line{
      "check",         options.script, "--time",       options.time, "--timeout",
      options.timeout, "--device",     options.device, "--jobs",     fmt::format("{}", options.jobs)};
  if (!options.output.empty()) line.insert(line.end(), {"-o", options.output});
  if (options.fresh) line.emplace_back("--fresh");
  if (options.quiet) line.emplace_back("--quiet");
  if (json) line.emplace_back("--json");
  if (!arguments.empty()) line.emplace_back("--");
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

Result<int> runCheck(const Context& context, const CheckOptions& options, const std::vector<std::string>& arguments) {
  if (!fs::is_regular_file(options.script)) return fail(ErrorCode::NotFound, "{} is no file", options.script);
  return becomePython(options.python, argumentsOf(options, arguments, context.json));
}

}  // namespace

void addCheck(CommandLine& line) {
  auto& command = line.add("check", "Run a script under your own PyTorch, and say where torch.compile goes wrong in it",
                           "  kerf check train.py\n"
                           "  kerf check model.py --python venv/bin/python --time 5m -o report -- --batch 8\n"
                           "  kerf check program.py --json --quiet");
  command.footer(command.get_footer() +
                 "\n\nThe script is RUN, many times, in child processes: check only what you would run yourself."
                 "\nExit code: 0 no difference found, 1 found, 2 wrong call, 3 cannot be tested here.");
  auto options = std::make_shared<CheckOptions>();
  auto arguments = std::make_shared<std::vector<std::string>>();
  command.add_option("SCRIPT", options->script, "A script that calls torch.compile, or a file with build()")
      ->required();
  command.add_option("ARGS", *arguments, "Arguments of the script, after --");
  command
      .add_option("-o,--output", options->output,
                  "Folder for report.html, issue.md and repro.py (default: NAME-check). The same folder goes on")
      ->type_name("DIR");
  command.add_option("--python", options->python, "The Python that has PyTorch")
      ->type_name("EXE")
      ->capture_default_str();
  command.add_option("--time", options->time, "Most time for all of it: 90s, 10m, 1h")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--timeout", options->timeout, "Time after which one run counts as a hang")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--jobs", options->jobs, "Processes at the same time (0: by cores and memory)")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command.add_option("--device", options->device, "cuda: the script uses a GPU (auto: as its text says)")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command.add_flag("--fresh", options->fresh, "Do not use what an earlier check in the same folder found");
  command.add_flag("--quiet", options->quiet, "No lines about progress");
  line.onRun(command, [options, arguments](Context& context) { return runCheck(context, *options, *arguments); });
}

}  // namespace kerf::cli
