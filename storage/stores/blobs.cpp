#include "storage/stores/blobs.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>

#include <fmt/chrono.h>
#include <zlib.h>

#include "engine/support/hash.h"
#include "engine/tensor/atomic_file.h"
#include "engine/tensor/torch_zip.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::size_t partBytes = 64u << 20;

constexpr std::size_t sampleBytes = 64u << 10;
constexpr int fastest = 1;  // zlib's level: imports wait for it

std::vector<std::byte> compressed(std::span<const std::byte> bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::vector<std::byte> packed(size);
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), fastest);
  packed.resize(status == Z_OK ? size : 0);
  return packed;
}

/// Whether the beginning of the bytes shrinks by a tenth at least.
bool shrinks(std::span<const std::byte> bytes) {
  const auto sample = bytes.first(std::min(sampleBytes, bytes.size()));
  const auto packed = compressed(sample);
  return !packed.empty() && packed.size() < sample.size() / 10 * 9;
}

Result<void> putParts(Database& database, std::string_view hash, std::span<const std::byte> bytes, bool pack) {
  std::int64_t part = 0;
  for (std::size_t at = 0; at < bytes.size(); at += partBytes) {
    auto piece = bytes.subspan(at, std::min(partBytes, bytes.size() - at));
    const auto packed = pack ? compressed(piece) : std::vector<std::byte>();
    if (pack) piece = packed;
    KERF_CHECK(database.execute("INSERT INTO blob_parts(blob, part, bytes) VALUES (?, ?, ?)", {hash, part++, piece}));
  }
  return {};
}

/// Writes one stored part to `target`; how many bytes it gave (another number than `target`'s size means damage).
std::size_t takePart(std::span<const std::byte> piece, std::span<std::byte> target, bool packed) {
  if (!packed) {
    const auto count = std::min(piece.size(), target.size());
    if (count > 0) std::memcpy(target.data(), piece.data(), count);
    return piece.size();
  }
  uLongf size = static_cast<uLongf>(target.size());
  const int status = uncompress(reinterpret_cast<Bytef*>(target.data()), &size,
                                reinterpret_cast<const Bytef*>(piece.data()), static_cast<uLong>(piece.size()));
  return status == Z_OK ? size : 0;
}

/// A storage's name becomes a file name, so a damaged or hostile store must not choose where files go.
Result<void> checkFileName(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
  if (plain && !name.empty() && name.size() <= 128) return {};
  return fail(ErrorCode::BadInput, "the store names a storage \"{}\", which is no content-store name", name);
}

struct NamedBlob {
  std::string name, hash;
};

Result<void> writeNamedBlob(Database& database, const NamedBlob& named, const std::filesystem::path& directory) {
  KERF_CHECK(checkFileName(named.name));
  KERF_TRY(const auto storage, blob(database, named.hash));
  return writeTorchStorage(directory / named.name, *storage);
}

}  // namespace

Result<void> createFolder(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return {};
  return fail(ErrorCode::Environment, "cannot create the folder {}: {}", directory.string(), error.message());
}

Result<std::string> putBlob(Database& database, std::span<const std::byte> bytes, BlobForm form) {
  const std::string hash = hashBytes(bytes).hex();
  const bool pack = form == BlobForm::Compressed && shrinks(bytes);
  KERF_CHECK(
      database.execute("INSERT OR IGNORE INTO blobs(hash, size, encoding) VALUES (?, ?, ?)",
                       {std::string_view(hash), std::int64_t(bytes.size()), std::string_view(pack ? "zlib" : "")}));
  if (database.changes() > 0) KERF_CHECK(putParts(database, hash, bytes, pack));
  return hash;
}

Result<StoragePtr> blob(Database& database, const std::string& hash) {
  std::optional<std::int64_t> size;
  bool packed = false;
  KERF_CHECK(database.query("SELECT size, encoding FROM blobs WHERE hash = ?", {std::string_view(hash)},
                            [&](const SqlRow& row) {
                              size = row.integer(0);
                              packed = row.text(1) == "zlib";
                            }));
  if (!size) return fail(ErrorCode::NotFound, "the store holds no blob {}", hash);
  KERF_TRY(auto storage, Storage::allocate(*size));
  const auto total = std::size_t(*size);
  std::size_t filled = 0;
  KERF_CHECK(database.query(
      "SELECT bytes FROM blob_parts WHERE blob = ? ORDER BY part", {std::string_view(hash)}, [&](const SqlRow& row) {
        const auto left = filled < total ? std::min(partBytes, total - filled) : 0;
        filled += takePart(row.bytes(0), {storage->data() + std::min(filled, total), left}, packed);
      }));
  if (filled != total) return fail(ErrorCode::BadInput, "blob {} of the store has {} of {} bytes", hash, filled, total);
  return storage;
}

Result<std::string> putContent(Database& database, const NewGraph& graph) {
  std::vector<NamedBlob> named;
  std::string identity = graph.reproText;
  for (const auto& entry : graph.blobs) {
    KERF_TRY(auto hash, putBlob(database, entry.bytes));
    identity += fmt::format("\n{}={}", entry.name, hash);
    named.push_back({entry.name, std::move(hash)});
  }
  const std::string hash = hashText(identity).hex();
  KERF_CHECK(database.execute("INSERT OR IGNORE INTO contents(hash, text) VALUES (?, ?)",
                              {std::string_view(hash), std::string_view(graph.reproText)}));
  if (database.changes() == 0) return hash;
  for (const auto& entry : named) {
    KERF_CHECK(database.execute("INSERT OR IGNORE INTO content_blobs(content, name, blob) VALUES (?, ?, ?)",
                                {std::string_view(hash), std::string_view(entry.name), std::string_view(entry.hash)}));
  }
  return hash;
}

Result<std::filesystem::path> materializeContent(Database& database, const std::string& hash,
                                                 const std::filesystem::path& directory) {
  KERF_TRY(const auto text, (queryOne<std::string>(
                                database, "SELECT text FROM contents WHERE hash = ?", {std::string_view(hash)},
                                [](const SqlRow& row) { return row.text(0); }, "the store lost a graph's text")));
  KERF_TRY(const auto named,
           (queryAll<NamedBlob>(database, "SELECT name, blob FROM content_blobs WHERE content = ? ORDER BY name",
                                {std::string_view(hash)}, [](const SqlRow& row) {
                                  return NamedBlob{row.text(0), row.text(1)};
                                })));
  KERF_CHECK(createFolder(named.empty() ? directory : directory / "storages"));
  for (const auto& entry : named) KERF_CHECK(writeNamedBlob(database, entry, directory / "storages"));
  const auto path = directory / "repro.py";
  const auto bytes = std::as_bytes(std::span(text));
  const std::span<const std::byte> pieces[] = {bytes};
  KERF_CHECK(writeFileAtomically(path, pieces));
  return path;
}

std::string nowUtc() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace kerf::inline storage::inline stores
