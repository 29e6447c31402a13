#include "engine/capture/trace/follower.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/capture/trace/files.h"
#include "engine/capture/trace/index.h"
#include "engine/capture/trace/tail.h"

namespace kerf::inline capture {
namespace {

using namespace trace;

constexpr std::int64_t firstChunk = 64 << 20;  ///< bytes read at once; more where one record is larger

std::unexpected<Error> failAt(ErrorCode code, const std::filesystem::path& path, std::string message) {
  return fail(Error{code, std::move(message), path.string(), 0, {}, {}});
}

/// One growing log: what lies before `offset` is in the index.
struct FollowedLog {
  std::filesystem::path path;
  std::size_t number = 0;
  std::int64_t offset = 0;
  int line = 1;           ///< of the byte at `offset`
  std::int64_t seen = 0;  ///< size at the last poll
};

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : m_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (m_file >= 0) ::close(m_file);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// -1 if it cannot be told.
  std::int64_t size() const {
    struct stat status{};
    return m_file >= 0 && ::fstat(m_file, &status) == 0 ? std::int64_t(status.st_size) : -1;
  }
  std::string read(std::int64_t offset, std::int64_t bytes) const {
    std::string text(std::size_t(bytes), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = ::pread(m_file, text.data() + done, text.size() - done, offset + std::int64_t(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += std::size_t(count);
    }
    text.resize(done);
    return text;
  }

 private:
  int m_file;
};

/// Records that may be taken now.
struct Taken {
  std::size_t count = 0;
  bool tentative = false;  ///< the last one of them may be cut
};

/// The last record is whole if nothing can be missing from it.
Taken takenRecords(std::string_view text, const std::vector<RawRecord>& records, bool more, bool last) {
  if (records.empty()) return {};
  const Taken before{records.size() - 1, false};
  if (more) return before;
  const RawRecord& tail = records.back();
  const Tail judgement = judgeTail(text, tail, matchesChecksum(text, tail));
  const bool take = judgement == Tail::Whole ? tail.ended || last : last && judgement == Tail::Tentative;
  return take ? Taken{records.size(), judgement == Tail::Tentative} : before;
}

}  // namespace

struct TorchTraceFollower::State {
  State(const std::filesystem::path& given, const ImportLimits& givenLimits)
      : path(given), limits(givenLimits), index(given, givenLimits) {}

  std::filesystem::path path;
  ImportLimits limits;
  TraceIndex index;
  std::vector<FollowedLog> logs;
  bool isFolder = false;

  void addLog(const std::filesystem::path& log) {
    FollowedLog followed;
    followed.path = log;
    followed.number = index.addLog(log, nullptr);
    logs.push_back(std::move(followed));
  }

  Result<void> findLogs() {
    if (!isFolder) return {};
    KERF_TRY(const auto found, traceFiles(path, maxTraceFiles));
    for (const auto& log : found)
      if (std::none_of(logs.begin(), logs.end(), [&](const FollowedLog& known) { return known.path == log; }))
        addLog(log);
    return {};
  }

  Result<void> read(FollowedLog& log, bool last) {
    const OpenFile file(log.path);
    const std::int64_t size = file.size();
    if (size < 0) return failAt(ErrorCode::NotFound, log.path, std::strerror(errno));
    if (size < log.seen) return failAt(ErrorCode::BadInput, log.path, "the log became shorter; open it again");
    if (size == log.seen && !last) return {};
    log.seen = size;
    std::int64_t chunk = std::min(firstChunk, limits.fileBytes);
    while (log.offset < size) {
      const std::int64_t want = std::min(size - log.offset, chunk);
      if (want > limits.fileBytes) return failAt(ErrorCode::TooLarge, log.path, "one record is above the size limit");
      const std::int64_t before = log.offset;
      KERF_CHECK(take(log, file.read(log.offset, want), want < size - log.offset, last));
      if (log.offset == before && want == size - log.offset) return {};
      if (log.offset == before) chunk *= 2;
      if (want == size - before) return {};
    }
    return {};
  }

  /// Indexes what is whole in `text`, which starts at the log's offset; `more`: the file goes on behind it.
  Result<void> take(FollowedLog& log, const std::string& text, bool more, bool last) {
    if (log.offset == 0 && isGzip(text))
      return failAt(ErrorCode::BadInput, log.path, "a compressed log does not grow; import it instead");
    ScanReport report;
    auto records = scanTrace(text, log.line, limits, {}, report);
    if (!records) return fail(std::move(records.error().atFile(log.path.string(), records.error().line)));
    const auto [whole, tentative] = takenRecords(text, *records, more, last);
    if (whole == 0) return {};
    const bool all = whole == records->size();
    const std::int64_t base = log.offset;
    const std::size_t lines = (*records)[whole - 1].ended ? text.rfind('\n') + 1 : text.size();
    log.offset += all ? std::int64_t(lines) : (*records)[whole].begin;
    log.line = all ? log.line + report.lines : (*records)[whole].line;
    records->resize(whole);
    std::size_t checked = 0;
    const std::vector<char> matches = checkPayloads(text, *records, checked);
    return index.add(log.number, text, base, *records, matches, tentative);
  }

  Result<std::size_t> advance(bool last) {
    KERF_CHECK(findLogs());
    const std::size_t before = index.recordCount();
    for (FollowedLog& log : logs) KERF_CHECK(read(log, last));
    if (last || index.recordCount() > before) index.update(last);
    return index.recordCount() - before;
  }
};

TorchTraceFollower::TorchTraceFollower(std::unique_ptr<State> state) : m_state(std::move(state)) {}
TorchTraceFollower::TorchTraceFollower(TorchTraceFollower&&) noexcept = default;
TorchTraceFollower& TorchTraceFollower::operator=(TorchTraceFollower&&) noexcept = default;
TorchTraceFollower::~TorchTraceFollower() = default;

Result<TorchTraceFollower> TorchTraceFollower::open(const std::filesystem::path& path, const ImportLimits& limits) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) return failAt(ErrorCode::NotFound, path, "no such file or folder");
  auto state = std::make_unique<State>(path, limits);
  state->isFolder = std::filesystem::is_directory(status);
  if (!state->isFolder && !std::filesystem::is_regular_file(status))
    return failAt(ErrorCode::BadInput, path, "not a regular file");
  if (!state->isFolder) state->addLog(path);
  return TorchTraceFollower(std::move(state));
}

Result<std::size_t> TorchTraceFollower::poll() { return m_state->advance(false); }

Result<std::size_t> TorchTraceFollower::finish() { return m_state->advance(true); }

const Capture& TorchTraceFollower::capture() const { return m_state->index.capture(); }

Capture TorchTraceFollower::snapshot() const {
  Capture copy = m_state->index.capture();
  copy.details = std::make_shared<const CaptureDetails>(*copy.details);
  return copy;
}

}  // namespace kerf::inline capture
