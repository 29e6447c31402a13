#include "storage/stores/contents.h"

#include <algorithm>
#include <cctype>

#include "engine/support/atomic_file.h"
#include "engine/tensor/torch_zip.h"
#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

/// A storage's name becomes a file name, so a damaged or hostile store must not choose where files go.
Result<void> checkFileName(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
  if (plain && !name.empty() && name.size() <= 128) return {};
  return fail(ErrorCode::BadInput, "the store names a storage \"{}\", which is not a content-store name", name);
}

struct NamedBlob {
  std::string name, hash;
};

Result<void> writeNamedBlob(Database& database, const NamedBlob& named, const std::filesystem::path& directory) {
  KERF_CHECK(checkFileName(named.name));
  KERF_TRY(const auto storage, blob(database, named.hash));
  return writeTorchStorage(directory / named.name, *storage);
}

std::string contentHash(const std::string& text, const std::vector<NamedBlob>& named) {
  std::string identity = text;
  for (const auto& entry : named) identity += fmt::format("\n{}={}", entry.name, entry.hash);
  return hashText(identity).hex();
}

struct Content {
  std::string text;
  std::vector<NamedBlob> named;
};

/// A content whose text and names are those that it was stored with.
Result<Content> contentOf(Database& database, const std::string& hash) {
  Content content;
  KERF_TRY(content.text, (queryOne<std::string>(
                             database, "SELECT text FROM contents WHERE hash = ?", {std::string_view(hash)},
                             [](const SqlRow& row) { return row.text(0); }, "the store lost a graph's text")));
  KERF_TRY(content.named,
           (queryAll<NamedBlob>(database, "SELECT name, blob FROM content_blobs WHERE content = ? ORDER BY rowid",
                                {std::string_view(hash)},
                                [](const SqlRow& row) { return NamedBlob{row.text(0), row.text(1)}; })));
  if (contentHash(content.text, content.named) == hash) return content;
  return fail(ErrorCode::BadInput, Hint{Advice::VerifyStore},
              "the text of a graph in the store (content {}) is damaged; import its capture again or restore a copy "
              "of the store",
              hash);
}

Result<std::vector<NamedBlob>> putBlobs(Database& database, const NewGraph& graph, std::span<const Hash128> hashes) {
  std::vector<NamedBlob> named;
  for (const auto& entry : graph.blobs) {
    const auto& hash = hashes[named.size()];
    KERF_CHECK(entry.file ? putFile(database, *entry.file, hash) : putBytes(database, entry.bytes, hash));
    named.push_back({entry.name, hash.hex()});
  }
  return named;
}

}  // namespace

Result<void> checkContent(Database& database, const std::string& hash) {
  KERF_TRY([[maybe_unused]] const auto content, contentOf(database, hash));
  return {};
}

Result<std::string> putContent(Database& database, const NewGraph& graph, std::span<const Hash128> hashes) {
  KERF_TRY(const auto named, putBlobs(database, graph, hashes));
  const std::string hash = contentHash(graph.reproText, named);
  KERF_CHECK(database.execute("INSERT OR IGNORE INTO contents(hash, text) VALUES (?, ?)",
                              {std::string_view(hash), std::string_view(graph.reproText)}));
  if (database.changes() == 0) return hash;
  for (const auto& entry : named) {
    KERF_CHECK(database.execute("INSERT OR IGNORE INTO content_blobs(content, name, blob) VALUES (?, ?, ?)",
                                {std::string_view(hash), std::string_view(entry.name), std::string_view(entry.hash)}));
  }
  return hash;
}

Result<void> healBlobs(Database& database, const NewGraph& graph, std::span<const Hash128> hashes) {
  KERF_TRY([[maybe_unused]] const auto named, putBlobs(database, graph, hashes));
  return {};
}

Result<std::filesystem::path> materializeContent(Database& database, const std::string& hash,
                                                 const std::filesystem::path& directory) {
  KERF_TRY(const auto content, contentOf(database, hash));
  const auto& [text, named] = content;
  KERF_CHECK(createFolder(named.empty() ? directory : directory / "storages"));
  for (const auto& entry : named) KERF_CHECK(writeNamedBlob(database, entry, directory / "storages"));
  const auto path = directory / "repro.py";
  const auto bytes = std::as_bytes(std::span(text));
  const std::span<const std::byte> pieces[] = {bytes};
  KERF_CHECK(writeFileAtomically(path, pieces));
  return path;
}

}  // namespace kerf::inline storage::inline stores
