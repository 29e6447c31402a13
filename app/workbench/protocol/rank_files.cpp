#include "app/workbench/protocol/rank_files.h"

#include <algorithm>

namespace kerf::workbench {

namespace {

/// The number behind "rank" in a file's name; -1 without one.
int rankInName(const std::string& name) {
  for (std::size_t at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
    std::size_t digit = at + 4;
    if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
    std::string number;
    while (digit < name.size() && name[digit] >= '0' && name[digit] <= '9') number += name[digit++];
    if (!number.empty() && number.size() < 7) return std::stoi(number);
  }
  return -1;
}

}  // namespace

std::vector<std::pair<int, std::filesystem::path>> rankFiles(const std::filesystem::path& folder) {
  std::vector<std::pair<int, std::filesystem::path>> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const int rank = rankInName(entry->path().filename().string());
    if (rank >= 0 && entry->is_regular_file(ignored)) files.emplace_back(rank, entry->path());
  }
  std::ranges::sort(files);
  return files;
}

Result<void> checkOnlyRankFiles(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  for (const auto& [rank, path] : rankFiles(folder))
    if (std::ranges::find(names, path.filename().string()) == names.end())
      return fail(ErrorCode::BadUsage,
                  "{} is there already, and would count as rank {} beside what is written: name a new folder",
                  path.string(), rank);
  return {};
}

std::pair<std::filesystem::path, std::string> splitRanksAddress(const std::string& address) {
  const std::size_t hash = address.rfind('#');
  if (hash == std::string::npos) return {address, {}};
  return {address.substr(0, hash), address.substr(hash + 1)};
}

bool namesRanks(const std::string& address) {
  const auto files = rankFiles(splitRanksAddress(address).first);
  return files.size() > 1 && files.front().first != files.back().first;
}

}  // namespace kerf::workbench
