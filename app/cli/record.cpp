// kerf record -- COMMAND: becomes the user's Python with the package that kerf carries, which starts the command.
#include "app/cli/record.h"
#include "app/cli/numbers.h"
#include "app/cli/python_package.h"

namespace kerf::cli {

namespace {

struct RecordOptions {
  std::string output = "kerf-record", python = "python3", values = "none";
  int calls = 2;
  bool quiet = false;
};

std::vector<std::string> argumentsOf(const RecordOptions& options, const std::vector<std::string>& command) {
  std::vector<std::string> line{
      "record", "-o", options.output, "--values", options.values, "--calls", fmt::format("{}", options.calls)};
  if (options.quiet) line.emplace_back("--quiet");
  line.emplace_back("--");
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

}  // namespace

void addRecord(CommandLine& line) {
  auto& command = line.add("record", "Run a command under your own PyTorch, and record what torch.compile does in it",
                           "  kerf record -- python train.py\n"
                           "  kerf record -o run --values stats -- torchrun --nproc-per-node 2 train.py\n"
                           "  kerf show kerf-record");
  command.footer(
      command.get_footer() +
      "\n\nThe folder holds the compiler's log with the graphs of all stages, guards and recompilations; versions"
      "\nand settings; and, with --values, what nodes computed in compiled code and what the same graph gives in"
      "\neager mode, one row a node in values.jsonl. Ranks of a launcher have folders of their own."
      "\nExit code: the command's.");
  auto options = std::make_shared<RecordOptions>();
  auto started = std::make_shared<std::vector<std::string>>();
  command.add_option("COMMAND", *started, "The command and its arguments, after --")->required();
  command.add_option("-o,--output", options->output, "Folder of the recording")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--values", options->values, "Of nodes: none, hash, stats or full, with :PATTERN for their names")
      ->type_name("KIND")
      ->capture_default_str();
  command.add_option("--calls", options->calls, "Calls of each graph whose values are recorded")
      ->check(wholeBetween(1, INT32_MAX))
      ->capture_default_str();
  command.add_option("--python", options->python, "The Python that runs the recorder")
      ->type_name("EXE")
      ->capture_default_str();
  command.add_flag("--quiet", options->quiet, "Do not say what was recorded");
  line.onRun(command,
             [options, started](Context&) { return becomePython(options->python, argumentsOf(*options, *started)); });
}

}  // namespace kerf::cli
