#include "engine/compilation/compile_pairs.h"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>

namespace kerf::inline compilation {

namespace {

/// "model.py forward" of "/home/user/model.py:12 in forward".
std::string functionOf(const std::string& frame) {
  const std::size_t in = frame.rfind(" in ");
  if (in == std::string::npos) return {};
  std::string file = frame.substr(0, frame.rfind(':', in));
  file = file.substr(file.rfind('/') + 1);
  return fmt::format("{} {}", file, frame.substr(in + 4));
}

std::string keyOf(const Compilation& compilation, bool byFrame) {
  const std::string function = byFrame ? functionOf(compilation.frame) : std::string();
  const std::string name = function.empty() ? "id " + compilation.id : function;
  if (compilation.entry == nullptr) return name;
  const bool given = compilation.entry->status == CompileEntry::Status::Restarted;
  return fmt::format("{} rank {}{}", name, compilation.entry->rank, given ? " restarted" : "");
}

}  // namespace

std::vector<Compilation> compilationsOf(const Capture& capture) {
  std::vector<Compilation> all;
  if (capture.details)
    for (const CompileEntry& entry : capture.details->compiles)
      all.push_back({entry.id, entry.frame, &entry, entry.graphs});
  if (!all.empty()) return all;
  std::map<std::string, std::size_t> folders;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    const bool apart = capture.kind == "debug_dir";
    const std::string id = apart ? capture.graphs[i].origin.file.parent_path().filename().string() : std::string();
    const auto [found, fresh] = folders.try_emplace(id, all.size());
    if (fresh) all.push_back({id, {}, nullptr, {}});
    all[found->second].graphs.push_back(i);
  }
  return all;
}

std::vector<std::pair<int, int>> pairedCompilations(const std::vector<Compilation>& before,
                                                    const std::vector<Compilation>& after) {
  std::vector<int> partner(after.size(), -1);
  std::vector<char> taken(before.size(), 0);
  for (const bool byFrame : {true, false}) {
    std::map<std::string, std::deque<int>> waiting;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!taken[i]) waiting[keyOf(before[i], byFrame)].push_back(int(i));
    for (std::size_t j = 0; j < after.size(); ++j) {
      const auto same = waiting.find(keyOf(after[j], byFrame));
      if (partner[j] >= 0 || same == waiting.end() || same->second.empty()) continue;
      partner[j] = same->second.front();
      taken[std::size_t(partner[j])] = 1;
      same->second.pop_front();
    }
  }
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t j = 0; j < after.size(); ++j) pairs.emplace_back(partner[j], int(j));
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!taken[i]) pairs.emplace_back(int(i), -1);
  return pairs;
}

}  // namespace kerf::inline compilation
