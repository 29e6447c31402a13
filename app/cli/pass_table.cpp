#include "app/cli/pass_table.h"

#include "app/cli/text_table.h"

namespace kerf::cli {

std::string passTable(const std::vector<PassDoc>& passes, PassRows rows) {
  TextTable table({"stage", "pass", "part", "graph", "nodes before", "after", "time", "changed"});
  for (const auto& pass : passes) {
    if (rows == PassRows::Changed && !pass.changed) continue;
    table.add({pass.stage, pass.name, pass.part, pass.nestedGraph, std::to_string(pass.nodesBefore),
               std::to_string(pass.nodesAfter),
               durationText(std::chrono::nanoseconds(std::int64_t(pass.milliseconds * 1e6))),
               pass.changed ? "yes" : ""});
  }
  return table.text();
}

}  // namespace kerf::cli
