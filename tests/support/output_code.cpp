#include "tests/support/output_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/capture/common/recorded_fusion.h"
#include "engine/support/recordings.h"

namespace kerf::testing {
namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void addFromLog(const std::string& name, const fs::path& path, std::vector<RecordedOutputCode>& into) {
  const auto capture = importCapture(path);
  if (!capture || !capture->details) return;
  for (const CompiledPart& part : compiledParts(*capture)) {
    auto text = capture->details->records[part.code].text();
    if (!text) continue;
    RecordedOutputCode code{name + '#' + std::to_string(into.size()), std::move(*text), nullptr};
    if (part.lowered) {
      auto graph = std::make_shared<CapturedGraph>(capture->graphs[*part.lowered]);
      if (graph->ensureLoaded()) code.graph = std::move(graph);
    }
    into.push_back(std::move(code));
  }
}

}  // namespace

AuditOptions RecordedOutputCode::options() const {
  AuditOptions options;
  if (!graph) return options;
  options.graph.module = &graph->module;
  options.graph.inputs = [given = graph] { return given->loadInputs(LoadOptions(), nullptr); };
  options.graph.mostElements = 2e7;  // tests run on a loaded machine
  return options;
}

std::vector<RecordedOutputCode> recordedOutputCode() {
  std::vector<fs::path> paths;
  for (const char* const part : {"traces", "variety"}) {
    std::error_code problem;
    for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder() / part, problem)) {
      const std::string name = entry.path().filename().string();
      if (name.find("torch_trace") != std::string::npos || name == "output_code.py") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  // Logs first: they have graphs.
  std::ranges::stable_partition(paths, [](const fs::path& path) { return path.extension() != ".py"; });
  std::vector<RecordedOutputCode> found, programs;
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(recordingsFolder()).string();
    if (path.extension() == ".py")
      found.push_back({name, contentOf(path), nullptr});
    else
      addFromLog(name, path, found);
  }
  std::set<std::string> known;
  for (RecordedOutputCode& each : found) {
    while (each.text.ends_with('\n')) each.text.pop_back();
    if (known.insert(each.text).second) programs.push_back(std::move(each));
  }
  return programs;
}

}  // namespace kerf::testing
