// kerf graphs: compiles and calls the graphs of another process. Not for people, so that `kerf --help` does not list it.
#include "app/cli/graphs.h"
#include "app/cli/numbers.h"
#include "app/graph_server/serve_graphs.h"

namespace kerf::cli {

void addGraphs(CommandLine& line) {
  auto& command = line.add("graphs", "Serve graphs over a socket (used by the Python package)", "  kerf graphs --fd 3");
  command.group("");
  auto file = std::make_shared<int>(-1);
  command.add_option("--fd", *file, "The socket's file descriptor")->required()->check(wholeBetween(0, INT32_MAX));
  line.onRun(command, [file](Context&) -> Result<int> { return graph_server::serveGraphs(*file); });
}

}  // namespace kerf::cli
