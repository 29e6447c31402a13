// What an index refers to, read when somebody asks: CaptureRecord::text, CapturedGraph::ensureLoaded, look-ups.
#include <array>

#include "engine/capture/common/capture.h"
#include "engine/capture/common/json.h"
#include "engine/capture/common/log_bytes.h"
#include "engine/capture/trace/compiles.h"
#include "engine/capture/trace/scanner.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t maxFrames = 10'000;         ///< of one stack; Python stops at 1000 unless told otherwise
constexpr std::int64_t maxLogBytes = 64LL << 30;  ///< a log that was opened once may be read again, whatever its size

struct StatusName {
  CompileEntry::Status status;
  std::string_view name;
};

constexpr std::array statusNames{StatusName{CompileEntry::Status::Ok, "ok"},
                                 StatusName{CompileEntry::Status::Failed, "failed"},
                                 StatusName{CompileEntry::Status::Empty, "empty"},
                                 StatusName{CompileEntry::Status::CacheHit, "cache hit"},
                                 StatusName{CompileEntry::Status::Incomplete, "incomplete"},
                                 StatusName{CompileEntry::Status::Restarted, "restarted"}};

/// The list of frames in a record: its own, or its kind's.
std::string_view stackIn(std::string_view metadata) {
  JsonWalker members(metadata);
  while (members.nextMember()) {
    if (jsonKeyIs(members.key(), "stack")) return members.value();
    if (!members.value().starts_with('{')) continue;
    const std::string_view inner = jsonMember(members.value(), "stack");
    if (!inner.empty()) return inner;
  }
  return {};
}

}  // namespace

Result<std::string> CaptureRecord::text(std::int64_t limit) const {
  if (payload.length > limit)
    return fail(Error{ErrorCode::TooLarge,
                      fmt::format("the record holds {} bytes, above the limit of {}", payload.length, limit),
                      payload.path.string(),
                      origin.line,
                      {},
                      {}});
  if (payload.length == 0) return std::string();
  ImportLimits limits;
  limits.fileBytes = maxLogBytes;
  KERF_TRY(const auto file, openLog(payload.path, limits));
  const auto size = std::int64_t(file->text.size());
  if (payload.offset < 0 || payload.offset > size || payload.length > size - payload.offset)
    return fail(Error{ErrorCode::NotFound,
                      "the file has become shorter since it was opened; open it again",
                      payload.path.string(),
                      origin.line,
                      {},
                      {}});
  const std::string_view raw = file->text.substr(std::size_t(payload.offset), std::size_t(payload.length));
  std::string text = tabbed ? trace::withoutTabs(raw) : std::string(raw);
  if (file->mapped) KERF_CHECK(checkWhole(*file->mapped, payload.path));
  return text;
}

std::string_view compileStatusName(CompileEntry::Status status) {
  for (const StatusName& known : statusNames)
    if (known.status == status) return known.name;
  return "unknown";
}

std::vector<std::string> CaptureDetails::stackOf(const CaptureRecord& record) const {
  static const std::map<std::int64_t, std::string> noFiles;
  const auto files = internedFiles.find(record.origin.file);
  std::vector<std::string> frames;
  JsonWalker walker(stackIn(record.metadata));
  while (frames.size() < maxFrames && walker.nextElement()) {
    std::string text = trace::frameText(walker.value(), files == internedFiles.end() ? noFiles : files->second);
    if (!text.empty()) frames.push_back(std::move(text));
  }
  return frames;
}

const CompileEntry* CaptureDetails::compile(std::string_view id, int rank) const {
  for (const CompileEntry& entry : compiles) {
    const std::string_view full = entry.id;
    const std::string_view bare = full.size() < 2 ? full : full.substr(1, full.size() - 2);
    if ((entry.id == id || bare == id) && (rank == -1 || entry.rank == rank)) return &entry;
  }
  return nullptr;
}

Result<void> CapturedGraph::ensureLoaded() {
  if (!pending) return {};
  KERF_TRY(CapturedGraph loaded, pending());
  loaded.name = std::move(name);
  loaded.origin = std::move(origin);
  loaded.pending = nullptr;
  *this = std::move(loaded);
  return {};
}

}  // namespace kerf::inline capture
