#include "storage/stores/contents.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::string_view recordColumns =
    "SELECT ordinal, kind, name, compile_id, rank, file, line, form, bytes, graph FROM records ";

RecordRow recordRow(const SqlRow& row) {
  RecordRow record;
  record.ordinal = int(row.integer(0));
  record.kind = row.text(1);
  record.name = row.text(2);
  record.source = {row.text(3), int(row.integer(4)), record.kind, row.text(5), int(row.integer(6))};
  record.form = row.text(7);
  record.bytes = row.integer(8);
  if (!row.isNull(9)) record.graph = int(row.integer(9));
  return record;
}

CompileRow compileRow(const SqlRow& row) {
  CompileRow compile;
  compile.ordinal = int(row.integer(0));
  compile.id = row.text(1);
  compile.rank = int(row.integer(2));
  compile.status = row.text(3);
  compile.failure = row.text(4);
  compile.frame = row.text(5);
  compile.graphs = int(row.integer(6));
  compile.records = int(row.integer(7));
  compile.milliseconds = row.real(8);
  return compile;
}

}  // namespace

Result<void> addRecords(Database& database, std::int64_t captureId, const std::vector<RecordRow>& records) {
  for (const auto& record : records) {
    const SqlValue graph = record.graph ? SqlValue(std::int64_t{*record.graph}) : SqlValue();
    KERF_CHECK(database.execute(
        "INSERT INTO records(capture, ordinal, kind, name, compile_id, rank, file, line, form, bytes, graph) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {captureId, std::int64_t{record.ordinal}, std::string_view(record.kind), std::string_view(record.name),
         std::string_view(record.source.compileId), std::int64_t{record.source.rank},
         std::string_view(record.source.file), std::int64_t{record.source.line}, std::string_view(record.form),
         record.bytes, graph}));
  }
  return {};
}

Result<void> addCompiles(Database& database, std::int64_t captureId, const std::vector<CompileRow>& compiles) {
  for (const auto& compile : compiles) {
    KERF_CHECK(database.execute(
        "INSERT INTO compiles(capture, ordinal, compile_id, rank, status, failure, frame, graphs, records, "
        "milliseconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {captureId, std::int64_t{compile.ordinal}, std::string_view(compile.id), std::int64_t{compile.rank},
         std::string_view(compile.status), std::string_view(compile.failure), std::string_view(compile.frame),
         std::int64_t{compile.graphs}, std::int64_t{compile.records}, compile.milliseconds}));
  }
  return {};
}

Result<std::vector<RecordRow>> records(Database& database, std::int64_t captureId) {
  return queryAll<RecordRow>(database, fmt::format("{} WHERE capture = ? ORDER BY ordinal", recordColumns), {captureId},
                             recordRow);
}

Result<RecordRow> record(Database& database, std::int64_t captureId, int ordinal) {
  return queryOne<RecordRow>(database, fmt::format("{} WHERE capture = ? AND ordinal = ?", recordColumns),
                             {captureId, std::int64_t{ordinal}}, recordRow,
                             fmt::format("the store has no record c{}/r{}", captureId, ordinal));
}

Result<std::vector<CompileRow>> compiles(Database& database, std::int64_t captureId) {
  return queryAll<CompileRow>(database,
                              "SELECT ordinal, compile_id, rank, status, failure, frame, graphs, records, milliseconds "
                              "FROM compiles WHERE capture = ? ORDER BY ordinal",
                              {captureId}, compileRow);
}

}  // namespace kerf::inline storage::inline stores
