#include "storage/stores/process_owner.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <iterator>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace kerf::inline storage::inline stores {

namespace {

namespace fs = std::filesystem;

/// Behind the process's number: what a new store, or the copy for a newer schema, is called while it is written.
constexpr std::string_view storeDrafts[] = {".new.tmp", ".new.tmp-wal", ".new.tmp-shm", ".new.tmp-journal"};

/// Takes a whole number off the front.
template <class Number>
std::optional<Number> takeNumber(std::string_view& text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(std::size_t(end - text.data()));
  return number;
}

/// ".0.tmp", as AtomicFile calls the file that it writes.
bool isFileDraft(std::string_view end) {
  if (!end.starts_with('.')) return false;
  end.remove_prefix(1);
  return takeNumber<unsigned>(end) && end == ".tmp";
}

/// The process that wrote a file whose name goes on like this behind "FILE."; nothing for what is no draft of ours.
std::optional<pid_t> writerOf(std::string_view name) {
  const auto pid = takeNumber<pid_t>(name);
  const bool ours = isFileDraft(name) || std::ranges::find(storeDrafts, name) != std::end(storeDrafts);
  return pid && *pid > 0 && ours ? pid : std::nullopt;
}

bool isDead(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

std::int64_t removeDeadDrafts(const fs::path& file) {
  std::error_code ignored;
  std::int64_t removed = 0;
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const auto begin = file.filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    const auto writer = writerOf(std::string_view(name).substr(begin.size()));
    if (writer && isDead(*writer)) removed += fs::remove(entry.path(), ignored) ? 1 : 0;
  }
  return removed;
}

}  // namespace kerf::inline storage::inline stores
