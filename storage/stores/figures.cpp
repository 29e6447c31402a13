// What a store takes, by kind.
#include "storage/database/database.h"
#include "storage/stores/store_care.h"

namespace kerf::inline storage::inline stores {

namespace {

/// count and bytes of one kind.
struct Share {
  std::string_view kind, sql;
};
constexpr Share shares[] = {
    {"captures", "SELECT count(*), 0 FROM captures WHERE deletion IS NULL"},
    {"graphs", "SELECT count(*), coalesce(sum(length(name)), 0) FROM graphs"},
    {"records", "SELECT count(*), coalesce(sum(length(kind) + length(name) + length(file)), 0) FROM records"},
    {"runs", "SELECT count(*), coalesce(sum(length(options)), 0) FROM runs WHERE deletion IS NULL"},
    {"reductions", "SELECT count(*), coalesce(sum(length(oracle)), 0) FROM reductions WHERE deletion IS NULL"},
    {"steps", "SELECT count(*), 0 FROM steps"},
    {"slips", "SELECT count(*), coalesce(sum(length(fingerprint) + length(detail)), 0) FROM slips"},
    {"notes", "SELECT count(*), coalesce(sum(length(text) + length(capture) + length(graph)), 0) FROM notes"},
    {"repros", "SELECT count(*), 0 FROM repros WHERE deletion IS NULL"},
    {"graph texts", "SELECT count(*), coalesce(sum(length(text)), 0) FROM contents WHERE hash <> ''"},
    {"graphs after passes", "SELECT count(*), coalesce(sum(length(text)), 0) FROM snapshots"},
    {"verdicts", "SELECT count(*), coalesce(sum(length(key) + length(json)), 0) FROM verdicts"},
    {"files",
     "SELECT count(DISTINCT blob_parts.blob), coalesce(sum(length(bytes)), 0) FROM (SELECT DISTINCT blob FROM "
     "capture_files) AS used "
     "JOIN blob_parts ON blob_parts.blob = used.blob"},
    {"storages",
     "SELECT count(DISTINCT blob_parts.blob), coalesce(sum(length(bytes)), 0) FROM (SELECT DISTINCT blob FROM "
     "content_blobs) AS used JOIN blob_parts ON blob_parts.blob = used.blob"},
    {"unused blobs",
     "SELECT count(*), coalesce(sum(size), 0) FROM blobs WHERE hash NOT IN (SELECT blob FROM "
     "content_blobs UNION SELECT blob FROM capture_files WHERE blob IS NOT NULL)"},
    {"links", "SELECT count(*), 0 FROM capture_files WHERE blob IS NULL"},
    {"deleted items",
     "SELECT (SELECT count(*) FROM captures WHERE deletion IS NOT NULL) + (SELECT count(*) FROM runs WHERE deletion IS "
     "NOT NULL) + (SELECT count(*) FROM reductions WHERE deletion IS NOT NULL) + (SELECT count(*) FROM repros WHERE "
     "deletion IS NOT NULL), 0"},
};

std::int64_t bytesOf(const std::filesystem::path& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : std::int64_t(size);
}

}  // namespace

Result<StoreFigures> figuresOf(Store& store) {
  auto& database = store.database();
  StoreFigures figures;
  figures.fileBytes = bytesOf(store.path());
  figures.logBytes = bytesOf(store.path().string() + "-wal");
  KERF_TRY(const auto pages, database.queryInteger("PRAGMA freelist_count"));
  KERF_TRY(const auto pageBytes, database.queryInteger("PRAGMA page_size"));
  KERF_TRY(const auto schema, database.queryInteger("PRAGMA user_version"));
  KERF_TRY(const auto linked,
           database.queryInteger("SELECT coalesce(sum(size), 0) FROM capture_files WHERE blob IS NULL"));
  figures.freeBytes = pages.value_or(0) * pageBytes.value_or(0);
  figures.schema = int(schema.value_or(0));
  figures.checkedPages = database.checksPages();
  figures.linkedBytes = linked.value_or(0);
  for (const auto& share : shares) {
    KERF_CHECK(database.query(share.sql, {}, [&](const SqlRow& row) {
      figures.shares.push_back({std::string(share.kind), row.integer(0), row.integer(1)});
    }));
  }
  return figures;
}

}  // namespace kerf::inline storage::inline stores
