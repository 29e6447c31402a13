#include "storage/stores/capture_transfer.h"

#include "storage/stores/blobs.h"
#include "storage/stores/contents.h"

namespace kerf::inline storage::inline stores {

namespace {

/// Of a graph `g` of the source: the same one in the target. ?1 is the capture there.
constexpr std::string_view graphThere = "(SELECT id FROM main.graphs WHERE capture = ?1 AND ordinal = g.ordinal)";

constexpr std::string_view parts[] = {
    "INSERT INTO main.capture_files(capture, position, name, source, size, modified, blob, hash) SELECT ?1, position, "
    "name, source, size, modified, blob, hash FROM other.capture_files WHERE capture = ?2",
    "INSERT INTO main.graphs(capture, ordinal, name, hash, nodes, content, compile_id, rank, stage, file, line) SELECT "
    "?1, ordinal, name, hash, nodes, content, compile_id, rank, stage, file, line FROM other.graphs WHERE capture = ?2 "
    "ORDER BY ordinal",
    "INSERT INTO main.records(capture, ordinal, kind, name, compile_id, rank, file, line, form, bytes, graph) SELECT "
    "?1, ordinal, kind, name, compile_id, rank, file, line, form, bytes, graph FROM other.records WHERE capture = ?2",
    "INSERT INTO main.compiles(capture, ordinal, compile_id, rank, status, failure, frame, graphs, records, "
    "milliseconds) SELECT ?1, ordinal, compile_id, rank, status, failure, frame, graphs, records, milliseconds FROM "
    "other.compiles WHERE capture = ?2",
};

/// Contents and blobs that a capture and all that was made of it need; ?1 is its id in the source.
constexpr std::string_view neededContents =
    "SELECT content FROM other.graphs WHERE capture = ?1 "
    "UNION SELECT steps.content FROM other.steps AS steps JOIN other.reductions AS m ON m.id = steps.reduction JOIN "
    "other.graphs AS g ON g.id = m.graph WHERE g.capture = ?1 AND m.deletion IS NULL "
    "UNION SELECT slips.content FROM other.slips AS slips JOIN other.reductions AS m ON m.id = slips.reduction JOIN "
    "other.graphs AS g ON g.id = m.graph WHERE g.capture = ?1 AND m.deletion IS NULL "
    "UNION SELECT p.content FROM other.repros AS p JOIN other.graphs AS g ON g.id = p.graph WHERE g.capture = ?1 AND "
    "p.deletion IS NULL";

class CaptureCopy {
 public:
  CaptureCopy(Database& source, Database& target, std::int64_t id, StoreTransfer& report)
      : m_source(source), m_target(target), m_from(id), m_report(report) {}

  Result<TransferredCapture> run() {
    KERF_CHECK(copyBlobs());
    KERF_CHECK(copyContents());
    KERF_TRY(auto row, copyRow());
    KERF_CHECK(copyRuns());
    KERF_CHECK(copyReductions());
    KERF_CHECK(copyRepros());
    return row;
  }

 private:
  Result<std::vector<std::int64_t>> numbers(std::string_view sql, const SqlValues& values) {
    return queryAll<std::int64_t>(m_target, sql, values, [](const SqlRow& row) { return row.integer(0); });
  }

  Result<void> copyBlobs() {
    KERF_TRY(
        const auto hashes,
        (queryAll<std::string>(
            m_target,
            fmt::format("SELECT blob FROM other.capture_files WHERE capture = ?1 AND blob IS NOT NULL UNION SELECT "
                        "blob FROM other.content_blobs WHERE content IN ({})",
                        neededContents),
            {m_from}, [](const SqlRow& row) { return row.text(0); })));
    for (const auto& hash : hashes) KERF_CHECK(copyBlob(hash));
    return {};
  }
  Result<void> copyBlob(const std::string& hash) {
    KERF_TRY(const auto known,
             m_target.queryInteger("SELECT size FROM main.blobs WHERE hash = ?", {std::string_view(hash)}));
    if (known) return {};
    KERF_CHECK(checkBlob(m_source, hash));
    KERF_CHECK(
        m_target.execute("INSERT INTO main.blobs(hash, size, encoding) SELECT hash, size, encoding FROM "
                         "other.blobs WHERE hash = ?",
                         {std::string_view(hash)}));
    KERF_CHECK(
        m_target.execute("INSERT INTO main.blob_parts(blob, part, bytes) SELECT blob, part, bytes FROM "
                         "other.blob_parts WHERE blob = ? ORDER BY part",
                         {std::string_view(hash)}));
    KERF_TRY(const auto bytes,
             m_target.queryInteger("SELECT size FROM main.blobs WHERE hash = ?", {std::string_view(hash)}));
    ++m_report.blobs;
    m_report.bytes += bytes.value_or(0);
    return {};
  }
  Result<void> copyContents() {
    KERF_TRY(const auto hashes, (queryAll<std::string>(m_target, neededContents, {m_from},
                                                       [](const SqlRow& row) { return row.text(0); })));
    for (const auto& hash : hashes) {
      if (hash.empty()) continue;  // of graphs that are read back from files
      KERF_CHECK(checkContent(m_source, hash));
      KERF_CHECK(
          m_target.execute("INSERT OR IGNORE INTO main.contents(hash, text) SELECT hash, text FROM "
                           "other.contents WHERE hash = ?",
                           {std::string_view(hash)}));
      if (m_target.changes() == 0) continue;
      KERF_CHECK(
          m_target.execute("INSERT INTO main.content_blobs(content, name, blob) SELECT content, name, blob FROM "
                           "other.content_blobs WHERE content = ? ORDER BY rowid",
                           {std::string_view(hash)}));
    }
    return {};
  }

  Result<TransferredCapture> copyRow() {
    TransferredCapture row;
    row.from = m_from;
    KERF_CHECK(m_target.query("SELECT path FROM other.captures WHERE id = ?", {m_from},
                              [&](const SqlRow& found) { row.path = found.text(0); }));
    KERF_TRY(const auto known,
             m_target.queryInteger("SELECT mine.id FROM main.captures AS mine JOIN other.captures AS theirs USING "
                                   "(content_hash, path) WHERE theirs.id = ?",
                                   {m_from}));
    row.known = known.has_value();
    if (known) {
      m_to = row.to = *known;
      KERF_CHECK(
          m_target.execute("UPDATE main.captures SET deletion = NULL WHERE id = ? AND deletion IS NOT NULL", {m_to}));
      return row;
    }
    KERF_CHECK(
        m_target.execute("INSERT INTO main.captures(kind, path, torch_version, content_hash, imported_at) SELECT "
                         "kind, path, torch_version, content_hash, imported_at FROM other.captures WHERE id = ?",
                         {m_from}));
    m_to = row.to = m_target.lastInsertId();
    for (const auto sql : parts) KERF_CHECK(m_target.execute(sql, {m_to, m_from}));
    return row;
  }

  /// Rows of `table` (alias r) of this capture that the target has not, by `same` (columns that tell them apart).
  Result<std::vector<std::int64_t>> missing(std::string_view table, std::string_view same) {
    return numbers(fmt::format("SELECT r.id FROM other.{0} AS r JOIN other.graphs AS g ON g.id = r.graph WHERE "
                               "g.capture = ?2 AND r.deletion IS NULL AND NOT EXISTS (SELECT 1 FROM main.{0} AS mine "
                               "WHERE mine.graph = {1} AND {2}) ORDER BY r.id",
                               table, graphThere, same),
                   {m_to, m_from});
  }

  Result<void> copyRuns() {
    KERF_TRY(const auto ids, missing("runs",
                                     "mine.kind = r.kind AND mine.started_at = r.started_at AND mine.options = "
                                     "r.options AND mine.backend = r.backend AND mine.nanoseconds = "
                                     "r.nanoseconds"));
    for (const auto id : ids) {
      KERF_CHECK(m_target.execute(
          fmt::format(
              "INSERT INTO main.runs(graph, kind, backend, options, started_at, status, nanoseconds) SELECT {}, "
              "r.kind, r.backend, r.options, r.started_at, r.status, r.nanoseconds FROM other.runs AS r JOIN "
              "other.graphs AS g ON g.id = r.graph WHERE r.id = ?2",
              graphThere),
          {m_to, id}));
      const auto run = m_target.lastInsertId();
      KERF_CHECK(m_target.execute(
          "INSERT INTO main.passes(run, position, pass, stage, hash_before, hash_after, nodes_before, nodes_after, "
          "nanoseconds, changed) SELECT ?1, position, pass, stage, hash_before, hash_after, nodes_before, nodes_after, "
          "nanoseconds, changed FROM other.passes WHERE run = ?2 ORDER BY id",
          {run, id}));
      KERF_CHECK(m_target.execute(
          "INSERT INTO main.comparisons(run, output, same, reason, error, rmse_res, rmse_ref, ratio_to_limit, "
          "nan_count, "
          "inf_count) SELECT ?1, output, same, reason, error, rmse_res, rmse_ref, ratio_to_limit, nan_count, inf_count "
          "FROM other.comparisons WHERE run = ?2 ORDER BY id",
          {run, id}));
      KERF_CHECK(m_target.execute(
          "INSERT OR IGNORE INTO main.snapshots(hash, text, nodes) SELECT hash, text, nodes FROM other.snapshots WHERE "
          "hash IN (SELECT hash_before FROM other.passes WHERE run = ?1 UNION SELECT hash_after FROM other.passes "
          "WHERE "
          "run = ?1)",
          {id}));
      ++m_report.runs;
    }
    return {};
  }

  /// Nobody works on a reduction that was carried away.
  Result<void> copyReductions() {
    KERF_TRY(const auto ids, missing("reductions",
                                     "mine.oracle = r.oracle AND mine.started_at = r.started_at AND mine.start_nodes = "
                                     "r.start_nodes"));
    for (const auto id : ids) {
      KERF_CHECK(m_target.execute(
          fmt::format("INSERT INTO main.reductions(graph, oracle, status, started_at, start_nodes, best_nodes, tests, "
                      "fingerprint, owner) SELECT {}, r.oracle, CASE r.status WHEN 'running' THEN 'interrupted' ELSE "
                      "r.status END, r.started_at, r.start_nodes, r.best_nodes, r.tests, r.fingerprint, '' FROM "
                      "other.reductions AS r JOIN other.graphs AS g ON g.id = r.graph WHERE r.id = ?2",
                      graphThere),
          {m_to, id}));
      const auto copy = m_target.lastInsertId();
      KERF_CHECK(m_target.execute(
          "INSERT INTO main.steps(reduction, position, test, reduction_name, graph_hash, fingerprint, nodes, outputs, "
          "input_bytes, nanoseconds, content) SELECT ?1, position, test, reduction_name, graph_hash, fingerprint, "
          "nodes, "
          "outputs, input_bytes, nanoseconds, content FROM other.steps WHERE reduction = ?2 ORDER BY position",
          {copy, id}));
      KERF_CHECK(m_target.execute(
          "INSERT INTO main.slips(reduction, position, fingerprint, detail, tests, graph_hash, nodes, content) SELECT "
          "?1, position, fingerprint, detail, tests, graph_hash, nodes, content FROM other.slips WHERE reduction = ?2",
          {copy, id}));
      ++m_report.reductions;
    }
    return {};
  }

  Result<void> copyRepros() {
    KERF_TRY(const auto ids, missing("repros",
                                     "mine.created_at = r.created_at AND mine.hash = r.hash AND mine.path = "
                                     "r.path"));
    for (const auto id : ids) {
      KERF_CHECK(m_target.execute(
          fmt::format(
              "INSERT INTO main.repros(reduction, graph, path, hash, created_at, nodes, content) SELECT (SELECT "
              "mine.id FROM main.reductions AS mine JOIN other.reductions AS theirs ON theirs.id = r.reduction "
              "WHERE mine.graph = {0} AND mine.oracle = theirs.oracle AND mine.started_at = theirs.started_at), "
              "{0}, r.path, r.hash, r.created_at, r.nodes, r.content FROM other.repros AS r JOIN other.graphs "
              "AS g ON g.id = r.graph WHERE r.id = ?2",
              graphThere),
          {m_to, id}));
      ++m_report.repros;
    }
    return {};
  }

  Database& m_source;
  Database& m_target;
  std::int64_t m_from, m_to = 0;
  StoreTransfer& m_report;
};

}  // namespace

Result<TransferredCapture> copyCapture(Database& source, Database& target, std::int64_t id, StoreTransfer& report) {
  return CaptureCopy(source, target, id, report).run();
}

}  // namespace kerf::inline storage::inline stores
