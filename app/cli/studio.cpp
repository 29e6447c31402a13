// kerf studio [PATH...] [OPTION...]: becomes kerf-studio, which lies beside kerf.
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/studio_program.h"

namespace kerf::cli {

std::filesystem::path studioProgram() {
  const auto beside = programFolder() / "kerf-studio";
  return access(beside.c_str(), X_OK) == 0 ? beside : findProgram("kerf-studio");
}

namespace {

Result<int> runStudio(const Context& context, std::vector<std::string> paths) {
  const auto program = studioProgram();
  if (program.empty()) {
    return fail(ErrorCode::Environment,
                "kerf-studio is not installed: it is built where Qt 6 is (Debian package qt6-base-dev)");
  }
  if (!context.storePath.empty()) paths.insert(paths.begin(), {"--store", context.storePath});
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const auto& path : paths) arguments.push_back(const_cast<char*>(path.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  return fail(ErrorCode::Environment, "cannot start {}: {}", program.string(), std::strerror(errno));
}

}  // namespace

void addStudio(CommandLine& line) {
  auto& command = line.add("studio", "Open the window, or save a picture of it or of a graph",
                           "  kerf studio repro.py\n"
                           "  kerf studio repro.py --picture graph.pdf\n"
                           "  kerf studio trace.log --graph aot_joint_graph --picture joint.png --scale 50\n"
                           "  kerf studio repro.py --screenshot window.png --theme dark");
  command.footer(command.get_footer() + "\n\nPATH... are files to open; kerf-studio --help lists its own options.");
  command.allow_extras();
  line.onRun(command, [&command](Context& context) { return runStudio(context, command.remaining()); });
}

}  // namespace kerf::cli
