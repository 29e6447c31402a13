#include "storage/database/log_check.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "storage/database/open_files.h"

namespace kerf::inline storage::inline database {

namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const unsigned char>;

// The format of the log: https://www.sqlite.org/walformat.html
constexpr std::size_t headerBytes = 32, frameHeaderBytes = 24, smallestPage = 512, largestPage = 65536;
constexpr std::uint32_t magic = 0x377f0682;  // its last bit: the checksum is over big-endian words
constexpr int openByte = 128;                // of the -shm file: whoever has the store open holds a lock on it

std::uint32_t big(const unsigned char* at) {
  return std::uint32_t(at[0]) << 24 | std::uint32_t(at[1]) << 16 | std::uint32_t(at[2]) << 8 | std::uint32_t(at[3]);
}
std::uint32_t native(const unsigned char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The running checksum of a log.
struct LogSum {
  std::uint32_t first = 0, second = 0;
  bool bigEndian = false;

  void add(Bytes bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(bytes.data() + at) + second;
      second += word(bytes.data() + at + 4) + first;
    }
  }
  bool matches(const unsigned char* stored) const { return first == big(stored) && second == big(stored + 4); }

 private:
  std::uint32_t word(const unsigned char* at) const {
    return bigEndian ? big(at)
                     : std::uint32_t(at[3]) << 24 | std::uint32_t(at[2]) << 16 | std::uint32_t(at[1]) << 8 |
                           std::uint32_t(at[0]);
  }
};

/// What the index of the log says: how many frames are committed, and how many of them are in the main file by now.
struct LogIndex {
  std::uint32_t frames = 0, copied = 0;
  std::array<unsigned char, 8> salts{};
};

/// Its two copies must agree; nothing where they do not.
std::optional<LogIndex> indexOf(Bytes shared) {
  constexpr std::size_t copyBytes = 48, framesAt = 16, saltsAt = 32, copiedAt = 96, initializedAt = 12;
  if (shared.size() < copiedAt + 4 || shared[initializedAt] == 0) return std::nullopt;
  if (std::memcmp(shared.data(), shared.data() + copyBytes, copyBytes) != 0) return std::nullopt;
  LogIndex index{native(shared.data() + framesAt), native(shared.data() + copiedAt), {}};
  std::memcpy(index.salts.data(), shared.data() + saltsAt, index.salts.size());
  return index;
}

/// Reads a log from its beginning to its end.
class LogReader {
 public:
  explicit LogReader(const fs::path& log) : m_stream(log, std::ios::binary) {
    std::error_code missing;
    const auto size = fs::file_size(log, missing);
    m_bytes = missing ? 0 : std::size_t(size);
  }

  std::optional<LogDamage> damage(const std::optional<LogIndex>& index) {
    const auto promised = index ? std::int64_t(index->frames) : 0;
    const bool current = index && index->frames > index->copied;
    if (m_bytes < headerBytes + frameHeaderBytes + smallestPage || !read(m_header))
      return damageIf(current, {promised, 0, LogDamage::Where::Missing});
    if (!takeHeader()) return damageIf(current || !index, {promised, 0, LogDamage::Where::Header});
    scan();
    const LogDamage damage{std::max(m_frames, promised), m_whole};
    const bool same = index && std::memcmp(index->salts.data(), m_header.data() + 16, 8) == 0;
    return same ? damageIf(current && promised > m_whole, damage) : damageIf(m_lost, damage);
  }

 private:
  template <class Buffer>
  bool read(Buffer& buffer) {
    return bool(m_stream.read(reinterpret_cast<char*>(buffer.data()), std::streamsize(buffer.size())));
  }

  bool takeHeader() {
    m_sum.bigEndian = (big(m_header.data()) & 1) != 0;
    m_sum.add(Bytes(m_header).first(24));
    m_page = big(m_header.data() + 8);
    const bool sound = m_page >= smallestPage && m_page <= largestPage && (m_page & (m_page - 1)) == 0;
    return (big(m_header.data()) & ~1u) == magic && sound && m_sum.matches(m_header.data() + 24);
  }
  static std::optional<LogDamage> damageIf(bool lost, const LogDamage& damage) {
    return lost ? std::optional(damage) : std::nullopt;
  }

  /// Frames of an earlier use of the file have other salts; a flipped bit changes one of the two.
  bool isOfThisUse(const unsigned char* frame) const {
    return std::memcmp(frame + 8, m_header.data() + 16, 4) == 0 ||
           std::memcmp(frame + 12, m_header.data() + 20, 4) == 0;
  }

  void scan() {
    std::vector<unsigned char> frame(frameHeaderBytes + m_page);
    bool broken = false;
    std::int64_t number = 0, brokenAt = 0;
    for (std::size_t at = headerBytes; at + frame.size() <= m_bytes && read(frame); at += frame.size()) {
      ++number;
      const bool ours = isOfThisUse(frame.data());
      if (ours) m_frames = number;
      const bool commits = big(frame.data() + 4) != 0;
      if (!broken && takeFrame(frame)) {
        if (commits) m_whole = number;
        continue;
      }
      if (!broken) brokenAt = number;
      broken = true;
      // A killed process leaves one frame at most that is there by half, and nothing of this use behind it.
      const bool last = at + 2 * frame.size() > m_bytes;
      if (ours && commits && (number > brokenAt || last)) m_lost = true;
    }
  }
  bool takeFrame(const std::vector<unsigned char>& frame) {
    if (std::memcmp(frame.data() + 8, m_header.data() + 16, 8) != 0) return false;
    auto sum = m_sum;
    sum.add(Bytes(frame).first(8));
    sum.add(Bytes(frame).subspan(frameHeaderBytes));
    if (!sum.matches(frame.data() + 16)) return false;
    m_sum = sum;
    return true;
  }

  std::ifstream m_stream;
  std::size_t m_bytes = 0, m_page = 0;
  std::array<unsigned char, headerBytes> m_header{};
  LogSum m_sum;
  std::int64_t m_frames = 0, m_whole = 0;  ///< frames of this use; up to the last commit before the damage
  bool m_lost = false;                     ///< a commit behind the damage
};

/// The index file beside a store, unless a process has the store open.
struct SharedFile {
  bool inUse = false;
  std::vector<unsigned char> bytes;
};

SharedFile sharedFileOf(const fs::path& store) {
  SharedFile shared;
  const int file = ::open((store.string() + "-shm").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return shared;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = openByte;
  lock.l_len = 1;
  shared.inUse = ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  shared.bytes.resize(136);
  const auto count = ::pread(file, shared.bytes.data(), shared.bytes.size(), 0);
  shared.bytes.resize(count > 0 ? std::size_t(count) : 0);
  ::close(file);
  return shared;
}

fs::path logOf(const fs::path& store) { return store.string() + "-wal"; }

/// Copies what there is of the log into a file that nobody had before; empty when that fails.
fs::path copyOfLog(const fs::path& store) {
  for (int number = 1; number < 100; ++number) {
    const fs::path name = logOf(store).string() + ".damaged" + (number == 1 ? "" : fmt::format(".{}", number));
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return {};
    ::close(file);
    std::error_code problem;
    if (!fs::exists(logOf(store), problem)) return name;  // the empty file says that there was none
    fs::copy_file(logOf(store), name, fs::copy_options::overwrite_existing, problem);
    if (!problem) return name;
    fs::remove(name, problem);  // half a copy is of no use
    return {};
  }
  return {};
}

/// `keep` is called for a damaged log, and what it made is removed where another process was at the log meanwhile.
std::optional<LogDamage> lookAtLog(const fs::path& store, const std::function<fs::path(const fs::path&)>& keep) {
  const auto log = logOf(store);
  std::error_code ignored;
  const bool there = fs::is_regular_file(log, ignored);
  if (!there && (fs::exists(log, ignored) || !fs::exists(store, ignored))) return std::nullopt;
  std::optional<LogDamage> damage;
  unlessOpen(store, [&] {
    const auto before = sharedFileOf(store);
    if (before.inUse) return;
    const auto time = fs::last_write_time(log, ignored);
    damage = LogReader(log).damage(indexOf(before.bytes));
    if (damage && keep) damage->kept = keep(store);
    // Another process that opens the store meanwhile goes on writing in the log.
    if (!sharedFileOf(store).inUse && fs::last_write_time(log, ignored) == time) return;
    if (damage && !damage->kept.empty()) fs::remove(damage->kept, ignored);
    damage.reset();
  });
  return damage;
}

}  // namespace

std::string LogDamage::text() const {
  if (where == Where::Missing) return fmt::format("the log, which had {} pages, is gone or cut short", frames);
  if (where == Where::Pages) return fmt::format("the log can be read up to page {} of {}", whole, frames);
  const std::string said = "the header of the log is damaged";
  return said + (frames > 0 ? fmt::format(", and none of its {} pages can be read", frames) : "");
}

std::optional<LogDamage> damageOfLog(const fs::path& store) { return lookAtLog(store, {}); }
std::optional<LogDamage> keepDamagedLog(const fs::path& store) { return lookAtLog(store, copyOfLog); }

std::vector<fs::path> keptLogs(const fs::path& store) {
  std::vector<fs::path> kept;
  std::error_code ignored;
  const auto folder = store.has_parent_path() ? store.parent_path() : fs::path(".");
  const auto begin = store.filename().string() + "-wal.damaged";
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(begin)) kept.push_back(entry.path());
  std::ranges::sort(kept);
  return kept;
}

}  // namespace kerf::inline storage::inline database
