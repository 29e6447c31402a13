// Whether a store is whole.
#include "storage/database/database.h"
#include "storage/database/log_check.h"
#include "storage/database/sqlite_error.h"
#include "storage/stores/blobs.h"
#include "storage/stores/capture_files.h"
#include "storage/stores/contents.h"
#include "storage/stores/store_care.h"

namespace kerf::inline storage::inline stores {

namespace {

struct SizedBlob {
  std::string hash;
  std::int64_t size = 0;
};

class Verifier {
 public:
  Verifier(Database& database, const StoreProgress& progress) : m_database(database), m_progress(progress) {}

  Result<StoreCheck> run() {
    KERF_CHECK(measure());
    m_database.setWatch([this] { return goOn(); });
    auto outcome = runParts();
    m_database.setWatch({});
    KERF_CHECK(outcome);
    return std::move(m_check);
  }

 private:
  Result<void> runParts() {
    logs();
    KERF_CHECK(pages());
    KERF_CHECK(rows());
    KERF_CHECK(blobs());
    KERF_CHECK(contents());
    return links();
  }
  /// A list that cannot be read is damage, and the rest is looked at all the same.
  Result<void> tolerate(Result<void> outcome, const char* what, const std::string& id) {
    if (outcome || outcome.error().code == ErrorCode::Cancelled) return outcome;
    m_check.damage.push_back({what, id, outcome.error().message});
    return {};
  }
  bool goOn() { return !m_progress || m_progress(std::min(1.0, m_done / m_total)); }
  Result<void> step(double bytes) {
    m_done += bytes;
    if (goOn()) return {};
    return fail(ErrorCode::Cancelled, "stopped while checking the store");
  }

  Result<void> measure() {
    const auto count = m_database.queryInteger("PRAGMA page_count"), size = m_database.queryInteger("PRAGMA page_size");
    m_check.pages = count ? count->value_or(0) : 0;
    m_pageBytes = double(m_check.pages) * double(size ? size->value_or(0) : 0);
    m_total = 1 + 2 * m_pageBytes;  // all pages, then about the same again for the blobs
    return {};
  }
  void logs() {
    for (const auto& log : keptLogs(m_database.path()))
      m_check.damage.push_back({"log", log.string(),
                                "changes were lost when this log was damaged: import and minify again what is not "
                                "there, then delete the file"});
  }
  Result<void> pages() {
    std::vector<std::string> found;
    const auto read = m_database.query("PRAGMA integrity_check(50)", {}, [&](const SqlRow& row) {
      if (const auto text = row.text(0); text != "ok") found.push_back(text);
    });
    KERF_CHECK(tolerate(read, "page", {}));
    for (auto& text : found)
      m_check.damage.push_back({"page",
                                {},
                                std::move(text) + "; restore a copy of the store, or export what is undamaged to "
                                                  "another one"});
    return step(m_pageBytes);
  }
  Result<void> rows() {
    return tolerate(
        m_database.query("PRAGMA foreign_key_check", {},
                         [&](const SqlRow& row) {
                           m_check.damage.push_back({"row", row.text(0),
                                                     fmt::format("a row of {} names something in {} that is not there",
                                                                 row.text(0), row.text(2))});
                         }),
        "row", {});
  }
  Result<void> blobs() {
    const auto rows = queryAll<SizedBlob>(m_database, "SELECT hash, size FROM blobs ORDER BY hash", {},
                                          [](const SqlRow& row) { return SizedBlob{row.text(0), row.integer(1)}; });
    if (!rows) return tolerate(fail(rows.error()), "row", "blobs");
    for (const auto& row : *rows) {
      KERF_CHECK(tolerate(checkBlob(m_database, row.hash), "blob", row.hash));
      ++m_check.blobs;
      m_check.blobBytes += row.size;
      KERF_CHECK(step(double(row.size)));
    }
    return {};
  }
  Result<void> contents() {
    const auto hashes = queryAll<std::string>(m_database, "SELECT hash FROM contents WHERE hash <> '' ORDER BY hash",
                                              {}, [](const SqlRow& row) { return row.text(0); });
    if (!hashes) return tolerate(fail(hashes.error()), "row", "contents");
    for (const auto& hash : *hashes) {
      KERF_CHECK(tolerate(checkContent(m_database, hash), "content", hash));
      ++m_check.contents;
      KERF_CHECK(step(0));
    }
    return {};
  }
  Result<void> links() {
    const auto files = linkedFiles(m_database);
    if (!files) return tolerate(fail(files.error()), "row", "capture_files");
    for (const auto& file : *files) {
      const auto same = checkLinkedFile(m_database, file);
      KERF_CHECK(tolerate(same ? Result<void>() : fail(same.error()), "link", file.source));
      ++m_check.links;
      KERF_CHECK(step(0));
    }
    return {};
  }

  Database& m_database;
  const StoreProgress& m_progress;
  StoreCheck m_check;
  double m_pageBytes = 0, m_done = 0, m_total = 1;
};

}  // namespace

Result<StoreCheck> verifyStore(Store& store, const StoreProgress& progress) {
  return Verifier(store.database(), progress).run();
}

std::optional<StoreDamage> damageOfOpening(const Error& error) {
  const auto damage = damageIn(error);
  if (!damage) return std::nullopt;
  return StoreDamage{"page", {}, *damage + ": the list of tables cannot be read, so nothing else can; restore a copy"};
}

}  // namespace kerf::inline storage::inline stores
