#include "engine/capture/trace/made_log.h"

#include <atomic>

#include "engine/capture/common/log_bytes.h"
#include "engine/capture/trace/index.h"

namespace kerf::inline capture::trace {

namespace {

/// A name for the made log that no file has, and no other import.
std::filesystem::path madePath(const std::filesystem::path& path) {
  static std::atomic<std::int64_t> number = 0;
  return fmt::format("{}#log{}", path.string(), ++number);
}

}  // namespace

Result<std::shared_ptr<CaptureDetails>> detailsOfMadeLog(LogRecords& made, const std::filesystem::path& path,
                                                         const ImportLimits& limits) {
  const std::filesystem::path log = madePath(path);
  const auto held = holdLog(log, std::move(made.text));
  TraceIndex index(path, limits);
  const std::vector<char> matches(made.records.size(), 1);
  KERF_CHECK(index.add(index.addLog(log, held), held->text, 0, made.records, matches, false));
  index.update(true);
  const auto details = std::make_shared<CaptureDetails>(*index.capture().details);
  for (CaptureRecord& record : details->records) record.origin.file = path;
  return details;
}

}  // namespace kerf::inline capture::trace
