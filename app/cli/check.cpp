// kerf check SCRIPT: becomes the user's Python with the package that kerf carries, which runs the script and compares.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/python_files.h"
#include "engine/process/program.h"
#include "engine/support/atomic_file.h"
#include "engine/support/hash_stream.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::string script, output, python = "python3", time = "10m", timeout = "120s", device = "auto";
  int jobs = 0;
  bool fresh = false, quiet = false;
};

fs::path cacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "kerf";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".cache/kerf"
                                         : fs::temp_directory_path() / fmt::format("kerf-{}", getuid());
}

template <class Use>
void forEachFile(Use use) {
  for (const auto& files : {pythonFiles(), pythonWorkerFiles()})
    for (const auto& file : files) use(file);
}

std::string hashOfFiles() {
  std::string all;
  forEachFile([&](const PythonFile& file) {
    for (const auto part : {file.path, std::string_view("\0", 1), file.text}) all += part;
  });
  return sha1Hex(std::as_bytes(std::span(all.data(), all.size())));
}

/// What Python runs is code: a folder of somebody else's is not used.
Result<void> makeOwnFolder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::Environment, "cannot make {}: {}", folder.string(), std::strerror(errno));
  struct stat about{};
  if (lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != getuid() ||
      (about.st_mode & 022) != 0)
    return fail(ErrorCode::Environment, "{} is not a folder of this user alone", folder.string());
  return {};
}

/// Writes the package below the user's cache, each file whole. Returns the folder to import from. It is written again at
/// each start: half an hour's check must not fail for a file that somebody's cleaning took.
Result<fs::path> writePackage() {
  const auto folder = cacheFolder() / fmt::format("python-{}", hashOfFiles().substr(0, 16));
  KERF_CHECK(makeOwnFolder(folder));
  Result<void> written;
  forEachFile([&](const PythonFile& file) {
    if (!written) return;
    std::error_code problem;
    fs::create_directories((folder / file.path).parent_path(), problem);  // the write says what is wrong
    written = writeTextFile(file.text, folder / file.path);
  });
  if (!written) return std::unexpected(written.error());
  return folder;
}

std::vector<std::string> commandLine(const fs::path& program, const fs::path& package, const CheckOptions& options,
                                     const std::vector<std::string>& arguments, bool json) {
  std::vector<std::string> line{program.string(), (package / "kerf/__main__.py").string(),
                                "check",          options.script,
                                "--time",         options.time,
                                "--timeout",      options.timeout,
                                "--device",       options.device,
                                "--jobs",         fmt::format("{}", options.jobs)};
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
  const auto program = options.python.contains('/') ? fs::path(options.python) : findProgram(options.python);
  if (program.empty() || access(program.c_str(), X_OK) != 0)
    return fail(ErrorCode::Environment, Hint{Advice::NamePython}, "there is no Python {}", options.python);
  KERF_TRY(const auto package, writePackage());
  auto line = commandLine(program, package, options, arguments, context.json);
  std::vector<char*> pointers;
  for (auto& argument : line) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return fail(ErrorCode::Environment, "cannot start {}: {}", program.string(), std::strerror(errno));
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
