#include "tests/support/output_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/support/recordings.h"

namespace kerf::testing {
namespace {

namespace fs = std::filesystem;

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Payload lines begin with a tab; a record's head names what it is.
void addFromLog(const std::string& name, const std::string& log, std::vector<RecordedOutputCode>& into) {
  bool isCode = false;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = std::string_view(log).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with('\t')) {
      isCode = line.starts_with('V') && line.find("\"inductor_output_code\"") != std::string_view::npos &&
               line.find("has_payload") != std::string_view::npos;
      if (isCode) into.push_back({name + '#' + std::to_string(into.size()), {}});
    } else if (isCode) {
      into.back().text.append(line.substr(1)).push_back('\n');
    }
  }
}

}  // namespace

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
  std::vector<RecordedOutputCode> found, programs;
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(recordingsFolder()).string();
    if (path.extension() == ".py")
      found.push_back({name, contentOf(path)});
    else
      addFromLog(name, contentOf(path), found);
  }
  std::set<std::string> known;
  for (RecordedOutputCode& each : found) {
    while (each.text.ends_with('\n')) each.text.pop_back();
    if (known.insert(each.text).second) programs.push_back(std::move(each));
  }
  return programs;
}

}  // namespace kerf::testing
