// Where the fields of each row of the store lie: table and column. What is asked and written goes by these lists.
#pragma once

#include "storage/database/table_rows.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// A part of the source of a graph or record.
template <class Member>
constexpr auto sourceColumn(const char* name, Member SourceRow::* member) {
  return column(name, [member](auto& row) -> auto& { return row.source.*member; });
}

}  // namespace kerf::inline storage::inline stores

namespace kerf::inline storage::inline database {

template <>
inline constexpr auto columnsOf<CaptureRow> = tableColumns(
    "captures", readOnly("id", &CaptureRow::id), column("kind", &CaptureRow::kind), column("path", &CaptureRow::path),
    column("torch_version", &CaptureRow::torchVersion), column("imported_at", &CaptureRow::importedAt),
    column("content_hash", &CaptureRow::contentHash),
    readOnly("(SELECT count(*) FROM graphs WHERE graphs.capture = captures.id)", &CaptureRow::graphCount),
    readOnly("(SELECT count(*) FROM compiles WHERE compiles.capture = captures.id)", &CaptureRow::compileCount),
    readOnly("(SELECT count(*) FROM records WHERE records.capture = captures.id)", &CaptureRow::recordCount),
    readOnly("(SELECT count(*) FROM capture_files WHERE capture_files.capture = captures.id)", &CaptureRow::fileCount));

template <>
inline constexpr auto columnsOf<GraphRow> = tableColumns(
    "graphs", readOnly("id", &GraphRow::id), column("capture", &GraphRow::captureId),
    column("ordinal", &GraphRow::ordinal), column("name", &GraphRow::name), column("hash", &GraphRow::hash),
    column("nodes", &GraphRow::nodes), sourceColumn("compile_id", &SourceRow::compileId),
    sourceColumn("rank", &SourceRow::rank), sourceColumn("stage", &SourceRow::stage),
    sourceColumn("file", &SourceRow::file), sourceColumn("line", &SourceRow::line));

template <>
inline constexpr auto columnsOf<RecordRow> = tableColumns(
    "records", column("ordinal", &RecordRow::ordinal), column("kind", &RecordRow::kind),
    readOnly("kind", [](auto& row) -> auto& { return row.source.stage; }), column("name", &RecordRow::name),
    sourceColumn("compile_id", &SourceRow::compileId), sourceColumn("rank", &SourceRow::rank),
    sourceColumn("file", &SourceRow::file), sourceColumn("line", &SourceRow::line), column("form", &RecordRow::form),
    column("bytes", &RecordRow::bytes), column("graph", &RecordRow::graph));

template <>
inline constexpr auto columnsOf<CompileRow> = tableColumns(
    "compiles", column("ordinal", &CompileRow::ordinal), column("compile_id", &CompileRow::id),
    column("rank", &CompileRow::rank), column("status", &CompileRow::status), column("failure", &CompileRow::failure),
    column("frame", &CompileRow::frame), column("graphs", &CompileRow::graphs), column("records", &CompileRow::records),
    column("milliseconds", &CompileRow::milliseconds));

template <>
inline constexpr auto columnsOf<SnapshotRow> = tableColumns(
    "passes", readOnly("id", &SnapshotRow::id), readOnly("run", &SnapshotRow::runId),
    column("position", &SnapshotRow::index), column("pass", &SnapshotRow::pass), column("stage", &SnapshotRow::stage),
    column("hash_before", &SnapshotRow::hashBefore), column("hash_after", &SnapshotRow::hashAfter),
    column("nodes_before", &SnapshotRow::nodesBefore), column("nodes_after", &SnapshotRow::nodesAfter),
    column("nanoseconds", &SnapshotRow::nanoseconds), column("changed", &SnapshotRow::changed));

template <>
inline constexpr auto columnsOf<RunRow> = tableColumns(
    "runs", readOnly("id", &RunRow::id), column("graph", &RunRow::graphId), column("kind", &RunRow::kind),
    column("backend", &RunRow::backend), column("options", &RunRow::options), column("started_at", &RunRow::startedAt),
    column("status", &RunRow::status), column("nanoseconds", &RunRow::nanoseconds));

template <>
inline constexpr auto columnsOf<OutputVerdict> =
    tableColumns("comparisons", column("output", &OutputVerdict::name), column("same", &OutputVerdict::same),
                 column("reason", &OutputVerdict::reason), column("error", &OutputVerdict::maxAbsError),
                 column("rmse_res", &OutputVerdict::rmseRes), column("rmse_ref", &OutputVerdict::rmseRef),
                 column("ratio_to_limit", &OutputVerdict::ratioToLimit), column("nan_count", &OutputVerdict::nanRes),
                 column("inf_count", &OutputVerdict::infRes));

template <>
inline constexpr auto columnsOf<ReductionRow> =
    tableColumns("reductions", readOnly("id", &ReductionRow::id), column("graph", &ReductionRow::graphId),
                 column("oracle", &ReductionRow::oracle), column("status", &ReductionRow::status),
                 column("started_at", &ReductionRow::startedAt), column("start_nodes", &ReductionRow::startNodes),
                 column("best_nodes", &ReductionRow::bestNodes), column("tests", &ReductionRow::tests),
                 column("fingerprint", &ReductionRow::fingerprint));

template <>
inline constexpr auto columnsOf<StepRow> = tableColumns(
    "steps", readOnly("id", &StepRow::id), column("reduction", &StepRow::reductionId),
    column("position", &StepRow::index), column("test", &StepRow::test), column("reduction_name", &StepRow::reduction),
    column("graph_hash", &StepRow::graphHash), column("fingerprint", &StepRow::fingerprint),
    column("nodes", &StepRow::nodes), column("outputs", &StepRow::outputs), column("input_bytes", &StepRow::inputBytes),
    column("nanoseconds", &StepRow::nanoseconds));

template <>
inline constexpr auto columnsOf<SlipRow> =
    tableColumns("slips", readOnly("id", &SlipRow::id), column("reduction", &SlipRow::reductionId),
                 column("position", &SlipRow::number), column("fingerprint", &SlipRow::fingerprint),
                 column("detail", &SlipRow::detail), column("tests", &SlipRow::tests),
                 column("graph_hash", &SlipRow::graphHash), column("nodes", &SlipRow::nodes));

template <>
inline constexpr auto columnsOf<NoteRow> = tableColumns(
    "notes", column("graph_hash", &NoteRow::graphHash), column("node", &NoteRow::node), column("text", &NoteRow::text),
    column("capture", &NoteRow::capture), column("graph", &NoteRow::graph), column("changed_at", &NoteRow::changedAt));

template <>
inline constexpr auto columnsOf<ReproRow> =
    tableColumns("repros", readOnly("id", &ReproRow::id), column("reduction", &ReproRow::reductionId),
                 column("graph", &ReproRow::graphId), column("path", &ReproRow::path), column("hash", &ReproRow::hash),
                 column("created_at", &ReproRow::createdAt), column("nodes", &ReproRow::nodes));

}  // namespace kerf::inline storage::inline database
