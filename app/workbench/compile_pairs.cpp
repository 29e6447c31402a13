#include "app/workbench/compile_pairs.h"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>

namespace kerf::workbench {

namespace {

/// "model.py forward" of "/home/user/model.py:12 in forward".
std::string functionOf(const std::string& frame) {
  const std::size_t in = frame.rfind(" in ");
  if (in == std::string::npos) return {};
  std::string file = frame.substr(0, frame.rfind(':', in));
  file = file.substr(file.rfind('/') + 1);
  return fmt::format("{} {}", file, frame.substr(in + 4));
}

std::string keyOf(const Compilation& compilation) {
  const std::string function = functionOf(compilation.frame);
  const std::string name = function.empty() ? "id " + compilation.id : function;
  if (compilation.entry == nullptr) return name;
  const bool given = compilation.entry->status == CompileEntry::Status::Restarted;
  return fmt::format("{} rank {}{}", name, compilation.entry->rank, given ? " restarted" : "");
}

}  // namespace

std::vector<Compilation> compilationsOf(const Capture& capture) {
  std::vector<Compilation> all;
  if (capture.details)
    for (const CompileEntry& entry : capture.details->compiles) all.push_back({entry.id, entry.frame, &entry, entry.graphs});
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
  std::map<std::string, std::deque<int>> waiting;
  for (std::size_t i = 0; i < before.size(); ++i) waiting[keyOf(before[i])].push_back(int(i));
  std::vector<char> taken(before.size(), 0);
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t j = 0; j < after.size(); ++j) {
    auto& same = waiting[keyOf(after[j])];
    pairs.emplace_back(same.empty() ? -1 : same.front(), int(j));
    if (same.empty()) continue;
    taken[std::size_t(same.front())] = 1;
    same.pop_front();
  }
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!taken[i]) pairs.emplace_back(int(i), -1);
  return pairs;
}

}  // namespace kerf::workbench
