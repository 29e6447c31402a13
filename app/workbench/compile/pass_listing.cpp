// Every pass that there is, without a graph.
#include <algorithm>

#include "app/workbench/compile/pass_trace.h"
#include "app/workbench/workbench.h"
#include "engine/pipeline/compiler_passes.h"

namespace kerf::workbench {

namespace {

/// Options whose usual value keeps a pass from doing anything.
bool turnsOff(const PassOption& option) {
  if (option.name == "enabled" || option.name == "inductor_numbers") return option.value == PassOptionValue(false);
  return option.name == "file" && option.value == PassOptionValue(std::string());
}

/// "on", "off", or the devices that it is on for: "cuda".
std::string defaultOf(const Pass& pass) {
  if (std::ranges::any_of(pass.options.all(), turnsOff)) return "off";
  const auto devices = pass.options.value<std::string>("devices");
  return devices.empty() || devices == "all" ? "on" : devices;
}

}  // namespace

Result<std::vector<PassEntry>> perform(Workbench&, const PassListRequest& request, const Job&) {
  std::vector<PassEntry> entries;
  for (const Pass& pass : compilerPasses()) {
    if (!request.stage.empty() && stageName(pass.stage) != request.stage) continue;
    entries.push_back({pass.name, std::string(stageName(pass.stage)), pass.description, defaultOf(pass),
                       optionDocs({pass}), pass.place});
  }
  return entries;
}

}  // namespace kerf::workbench
