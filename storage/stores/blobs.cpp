#include "storage/stores/blobs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include <fmt/chrono.h>

#include "engine/support/atomic_file.h"
#include "engine/support/hash_stream.h"
#include "engine/tensor/file_pieces.h"
#include "storage/stores/packing.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::size_t mostPartBytes = 64u << 20;  // what Kerf before schema 3 wrote; now pieceBytes

Result<void> putPart(Database& database, std::string_view hash, std::int64_t part, std::span<const std::byte> piece,
                     bool pack) {
  const auto packed = pack ? compressed(piece) : std::vector<std::byte>();
  if (pack) piece = packed;
  return database.execute("INSERT INTO blob_parts(blob, part, bytes) VALUES (?, ?, ?)", {hash, part, piece});
}

/// Blobs that this process has written or found whole: a minification names the same ones at every step.
class KnownBlobs {
 public:
  /// False at the first time.
  bool note(const Database& database, const std::string& hash) {
    const std::scoped_lock lock(m_mutex);
    return !m_names.insert(nameOf(database, hash)).second;
  }
  bool has(const Database& database, const std::string& hash) {
    const std::scoped_lock lock(m_mutex);
    return m_names.contains(nameOf(database, hash));
  }
  void forget(const Database& database, const std::string& hash) {
    const std::scoped_lock lock(m_mutex);
    m_names.erase(nameOf(database, hash));
  }

 private:
  static std::string nameOf(const Database& database, const std::string& hash) {
    return database.path().string() + '\0' + hash;
  }
  std::mutex m_mutex;
  std::unordered_set<std::string> m_names;
};

KnownBlobs& knownBlobs() {
  static auto& blobs = *new KnownBlobs();
  return blobs;
}

/// Makes the row of a blob, uncompressed; whether its parts are to be written. A damaged blob is made anew.
Result<bool> startBlob(Database& database, const std::string& hash, std::int64_t size) {
  KERF_CHECK(database.execute("INSERT OR IGNORE INTO blobs(hash, size, encoding) VALUES (?, ?, '')",
                              {std::string_view(hash), size}));
  const bool fresh = database.changes() > 0;
  if (knownBlobs().note(database, hash) && !fresh) return false;
  if (fresh) return true;
  const auto whole = checkBlob(database, hash);
  if (whole || whole.error().code != ErrorCode::BadInput) return whole ? Result<bool>(false) : fail(whole.error());
  KERF_CHECK(database.execute("DELETE FROM blob_parts WHERE blob = ?", {std::string_view(hash)}));
  KERF_CHECK(
      database.execute("UPDATE blobs SET size = ?, encoding = '' WHERE hash = ?", {size, std::string_view(hash)}));
  return true;
}

struct BlobHead {
  std::int64_t size = 0;
  bool packed = false;
};

Result<BlobHead> headOf(Database& database, const std::string& hash) {
  return queryOne<BlobHead>(
      database, "SELECT size, encoding FROM blobs WHERE hash = ?", {std::string_view(hash)},
      [](const SqlRow& row) { return BlobHead{row.integer(0), row.text(1) == "zlib"}; },
      fmt::format("the store holds no blob {}", hash));
}

std::unexpected<Error> damaged(Database& database, const std::string& hash, const std::string& what) {
  knownBlobs().forget(database, hash);
  const auto users = usersOfBlob(database, hash);
  return fail(ErrorCode::BadInput, Hint{Advice::VerifyStore},
              "blob {} of the store is damaged: {}. {}; import that again or restore a copy of the store", hash, what,
              users.empty() ? "Nothing needs it" : "It belongs to " + users);
}

/// Hands the blob's bytes on piece by piece and checks them behind that.
Result<void> readBlob(Database& database, const std::string& hash, const BlobHead& head, const TakePiece& take) {
  HashStream stream;
  std::vector<std::byte> buffer;
  std::size_t filled = 0;
  const auto total = std::size_t(std::max<std::int64_t>(head.size, 0));
  Result<void> taken;
  const auto read = database.query(
      "SELECT bytes FROM blob_parts WHERE blob = ? ORDER BY part", {std::string_view(hash)}, [&](const SqlRow& row) {
        const auto room = std::min(mostPartBytes, total - filled);
        const auto piece = unpacked(row.bytes(0), head.packed, std::max<std::size_t>(room, 1), buffer);
        if (!taken || piece.size() > total - filled) return;
        stream.add(piece);
        filled += piece.size();
        taken = take(piece);
      });
  if (!read && read.error().code == ErrorCode::BadInput) return damaged(database, hash, "a page has lost its checksum");
  KERF_CHECK(read);
  KERF_CHECK(taken);
  if (filled != total) return damaged(database, hash, fmt::format("it has {} of {} bytes", filled, total));
  if (stream.finish().hex() != hash) return damaged(database, hash, "its bytes do not have its hash");
  return {};
}

}  // namespace

Result<void> createFolder(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return {};
  return fail(ErrorCode::Environment, "cannot create the folder {}: {}", directory.string(), error.message());
}

Result<void> putBytes(Database& database, std::span<const std::byte> bytes, const Hash128& hash) {
  const auto name = hash.hex();
  KERF_TRY(const bool fresh, startBlob(database, name, std::ssize(bytes)));
  std::int64_t part = 0;
  for (std::size_t at = 0; fresh && at < bytes.size(); at += pieceBytes)
    KERF_CHECK(putPart(database, name, part++, bytes.subspan(at, std::min(pieceBytes, bytes.size() - at)), false));
  return {};
}

Result<void> putFile(Database& database, const FilePart& file, const Hash128& hash,
                     const std::function<bool(std::int64_t)>& goOn) {
  const auto name = hash.hex();
  KERF_TRY(const bool fresh, startBlob(database, name, 0));
  if (!fresh) return {};
  HashStream stream;
  std::int64_t done = 0, part = 0;
  bool pack = false;
  KERF_CHECK(readPieces(file, [&](std::span<const std::byte> piece) -> Result<void> {
    if (part == 0) pack = shrinks(piece);
    stream.add(piece);
    done += std::ssize(piece);
    if (goOn && !goOn(done)) return fail(ErrorCode::Cancelled, "stopped while storing {}", file.path.string());
    return putPart(database, name, part++, piece, pack);
  }));
  if (stream.finish() != hash)
    return fail(
        Error{ErrorCode::BadInput, "the file changed while it was stored; import it again", file.path.string()});
  return database.execute("UPDATE blobs SET size = ?, encoding = ? WHERE hash = ?",
                          {done, std::string_view(pack ? "zlib" : ""), std::string_view(name)});
}

bool isStoredWhole(Database& database, const Hash128& hash) {
  const auto name = hash.hex();
  if (knownBlobs().has(database, name)) return true;
  const bool whole = checkBlob(database, name).has_value();
  if (whole) knownBlobs().note(database, name);
  return whole;
}

Result<StoragePtr> blob(Database& database, const std::string& hash) {
  KERF_TRY(const auto head, headOf(database, hash));
  KERF_TRY(auto storage, Storage::allocate(head.size));
  std::size_t filled = 0;
  KERF_CHECK(readBlob(database, hash, head, [&](std::span<const std::byte> piece) -> Result<void> {
    if (!piece.empty()) std::memcpy(storage->data() + filled, piece.data(), piece.size());
    filled += piece.size();
    return {};
  }));
  return storage;
}

Result<void> writeBlob(Database& database, const std::string& hash, const std::filesystem::path& target) {
  KERF_TRY(const auto head, headOf(database, hash));
  KERF_TRY(auto file, AtomicFile::create(target));
  KERF_CHECK(readBlob(database, hash, head, [&](std::span<const std::byte> piece) { return file.write(piece); }));
  return file.commit();
}

Result<void> checkBlob(Database& database, const std::string& hash) {
  KERF_TRY(const auto head, headOf(database, hash));
  return readBlob(database, hash, head, [](std::span<const std::byte>) { return Result<void>(); });
}

std::string usersOfBlob(Database& database, const std::string& hash) {
  constexpr std::string_view sql =
      "SELECT 'capture c' || id || ' (' || path || ')' FROM captures WHERE id IN (SELECT capture FROM capture_files "
      "WHERE blob = ?1 UNION SELECT capture FROM graphs JOIN content_blobs USING (content) WHERE blob = ?1) "
      "UNION ALL SELECT DISTINCT 'reduction m' || reduction FROM (SELECT reduction, content FROM steps UNION SELECT "
      "reduction, content FROM slips) JOIN content_blobs USING (content) WHERE blob = ?1 "
      "UNION ALL SELECT 'repro p' || id FROM repros JOIN content_blobs USING (content) WHERE blob = ?1 LIMIT 4";
  std::vector<std::string> names;
  (void)database.query(sql, {std::string_view(hash)}, [&](const SqlRow& row) { names.push_back(row.text(0)); });
  if (names.size() == 4) names.back() = "others";
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string nowUtc() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace kerf::inline storage::inline stores
