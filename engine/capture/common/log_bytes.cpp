#include "engine/capture/common/log_bytes.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include <zlib.h>

#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t maxExpansion = 1024;
constexpr std::size_t chunkBytes = 1 << 20;
constexpr int gzipWindow = 15 + 16;  ///< zlib: largest window, gzip header required

/// One gzip reader over bytes in memory, that goes on with the next member.
class Inflater {
 public:
  explicit Inflater(std::string_view packed) : m_packed(packed) {
    m_ready = inflateInit2(&m_stream, gzipWindow) == Z_OK;
  }
  ~Inflater() { inflateEnd(&m_stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Appends up to `bytes`; false at the end or at damage (see damaged()).
  bool read(std::string& out, std::size_t bytes) {
    if (!m_ready || m_finished) return false;
    const std::size_t before = out.size();
    out.resize(before + bytes);
    m_stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    m_stream.avail_out = static_cast<uInt>(bytes);
    while (m_stream.avail_out > 0 && step()) {
    }
    out.resize(out.size() - m_stream.avail_out);
    return !m_finished;
  }
  bool damaged() const { return m_damaged || !m_ready; }

 private:
  bool step() {
    feed();
    const int answer = inflate(&m_stream, Z_NO_FLUSH);
    if (answer == Z_OK && (m_stream.avail_in > 0 || m_at < m_packed.size() || m_stream.avail_out == 0)) return true;
    if (answer == Z_STREAM_END && nextMember()) return true;
    m_finished = true;
    m_damaged = answer != Z_STREAM_END;
    return false;
  }

  void feed() {
    if (m_stream.avail_in > 0 || m_at >= m_packed.size()) return;
    const std::size_t count = std::min<std::size_t>(m_packed.size() - m_at, std::numeric_limits<uInt>::max());
    m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(m_packed.data() + m_at));
    m_stream.avail_in = static_cast<uInt>(count);
    m_at += count;
  }

  /// What follows a member is another member, or padding that gzip ignores as well.
  bool nextMember() {
    feed();
    const std::string_view rest(reinterpret_cast<const char*>(m_stream.next_in), m_stream.avail_in);
    return isGzip(rest) && inflateReset(&m_stream) == Z_OK;
  }

  std::string_view m_packed;
  std::size_t m_at = 0;
  z_stream m_stream{};
  bool m_ready = false, m_finished = false, m_damaged = false;
};

struct CacheEntry {
  std::filesystem::path path;
  std::int64_t size = 0;
  std::filesystem::file_time_type time;
  std::weak_ptr<const LogBytes> bytes;
};

std::mutex cacheMutex;
std::vector<CacheEntry> cache;

constexpr std::int64_t madeLog = -1;  ///< the size of one that no file has

std::shared_ptr<const LogBytes> heldLog(const std::filesystem::path& path) {
  const std::lock_guard lock(cacheMutex);
  for (const CacheEntry& entry : cache)
    if (entry.size == madeLog && entry.path == path) return entry.bytes.lock();
  return nullptr;
}

Result<std::shared_ptr<const LogBytes>> unpackCached(const std::filesystem::path& path, std::string_view packed,
                                                     const ImportLimits& limits) {
  std::error_code ignored;
  const auto time = std::filesystem::last_write_time(path, ignored);
  const auto size = std::int64_t(packed.size());
  const std::lock_guard lock(cacheMutex);
  std::erase_if(cache, [](const CacheEntry& entry) { return entry.bytes.expired(); });
  for (const CacheEntry& entry : cache)
    if (entry.path == path && entry.size == size && entry.time == time)
      if (auto held = entry.bytes.lock()) return held;
  KERF_TRY(LogBytes unpacked, unpackGzip(packed, limits));
  const auto shared = std::make_shared<LogBytes>(std::move(unpacked));
  shared->text = shared->unpacked;  // a short string moves with its object
  cache.push_back({path, size, time, shared});
  return shared;
}

std::string_view viewOf(const Storage& file) {
  return {reinterpret_cast<const char*>(file.data()), std::size_t(file.bytes())};
}

}  // namespace

bool isGzip(std::string_view head) { return head.starts_with("\x1f\x8b\x08"); }

Result<LogBytes> unpackGzip(std::string_view packed, const ImportLimits& limits) {
  const auto packedBytes = std::int64_t(packed.size());
  const std::int64_t limit = std::min(
      limits.fileBytes, std::max<std::int64_t>(chunkBytes, std::min(packedBytes, limits.fileBytes) * maxExpansion));
  LogBytes result;
  result.compressed = true;
  Inflater inflater(packed);
  bool more = true;
  while (more) {
    more = inflater.read(result.unpacked, chunkBytes);
    if (std::int64_t(result.unpacked.size()) > limit)
      return fail(ErrorCode::TooLarge, "the compressed file unpacks to more than {} bytes; unpack and split it", limit);
  }
  result.cut = inflater.damaged();
  if (result.cut && result.unpacked.empty()) return fail(ErrorCode::BadInput, "damaged gzip data");
  result.unpacked.shrink_to_fit();
  result.text = result.unpacked;
  return result;
}

std::string unpackGzipHead(std::string_view packed, std::size_t bytes) {
  std::string head;
  Inflater(packed).read(head, bytes);
  return head;
}

std::shared_ptr<const LogBytes> holdLog(const std::filesystem::path& path, std::string text) {
  const auto held = std::make_shared<LogBytes>();
  held->unpacked = std::move(text);
  held->text = held->unpacked;
  const std::lock_guard lock(cacheMutex);
  std::erase_if(cache, [](const CacheEntry& entry) { return entry.bytes.expired(); });
  cache.push_back({path, madeLog, {}, held});
  return held;
}

Result<std::shared_ptr<const LogBytes>> openLog(const std::filesystem::path& path, const ImportLimits& limits) {
  if (auto held = heldLog(path)) return held;
  KERF_TRY(StoragePtr file, mapFile(path));
  const std::string_view text = viewOf(*file);
  if (isGzip(text)) {
    auto unpacked = unpackCached(path, text, limits);
    if (!unpacked) unpacked.error().atFile(path.string());
    KERF_CHECK(checkWhole(*file, path));
    return unpacked;
  }
  auto bytes = std::make_shared<LogBytes>();
  bytes->mapped = std::move(file);
  bytes->text = text;
  return bytes;
}

}  // namespace kerf::inline capture
