// kerf worker: answers the requests of another process. Not for people, so that `kerf --help` does not list it.
#include <limits>

#include "app/cli/commands.h"
#include "app/cli/numbers.h"
#include "app/cli/version.h"
#include "app/workbench/worker_server.h"

namespace kerf::cli {

namespace {

Result<int> runWorker(Context& context, int file) {
  Workbench bench({context.storePath, "/proc/self/exe", std::numeric_limits<std::size_t>::max()});
  return serveWorker(bench, file, versionNumber());
}

}  // namespace

void addWorker(CommandLine& line) {
  auto& command = line.add("worker", "Serve requests over a socket (used by Studio)", "  kerf worker --fd 3");
  command.group("");
  auto file = std::make_shared<int>(-1);
  command.add_option("--fd", *file, "The socket's file descriptor")->required()->check(wholeBetween(0, INT32_MAX));
  line.onRun(command, [file](Context& context) { return runWorker(context, *file); });
}

}  // namespace kerf::cli
