// The parts of a Store: what it does with each table.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

// Captures and their graphs, and the snapshots that passes leave.

/// One transaction; the same content hash and path again returns the old row's id.
Result<std::int64_t> addCapture(Database& database, const NewCapture& capture, const StoreProgress& progress);
Result<std::vector<CaptureRow>> captures(Database& database);
Result<CaptureRow> capture(Database& database, std::int64_t id);
Result<std::vector<GraphRow>> graphs(Database& database, std::optional<std::int64_t> captureId);
Result<GraphRow> graph(Database& database, std::int64_t captureId, int ordinal);
Result<GraphRow> graphById(Database& database, std::int64_t id);
Result<void> completeGraph(Database& database, std::int64_t id, const std::string& hash, int nodes);
/// Hash of the graph's repro text; empty when the graph is read back from its capture's files.
Result<std::string> graphContent(Database& database, std::int64_t graphId);

Result<void> putSnapshot(Database& database, const std::string& hash, const std::string& graphText, int nodes);
Result<std::string> snapshotText(Database& database, const std::string& hash);

// Notes: bookmarks and remarks that people left at nodes, by the content of the graph.

/// In place of the one that the node had.
Result<void> putNote(Database& database, const NoteRow& note);
Result<void> forgetNote(Database& database, const std::string& graphHash, const std::string& node);
/// The newest first; of one graph, or of all where `graphHash` is empty.
Result<std::vector<NoteRow>> notes(Database& database, const std::string& graphHash);

// Reductions and their accepted steps, and the verdict cache that lets a second run resume.

Result<std::int64_t> startReduction(Database& database, const ReductionRow& reduction);
/// One transaction: content, step and the reduction's best figures.
Result<void> addStep(Database& database, const StepRow& step, const NewGraph& candidate);
Result<void> finishReduction(Database& database, std::int64_t id, const std::string& status, int bestNodes, int tests,
                             const std::string& fingerprint);
Result<std::optional<ReductionRow>> resumable(Database& database, std::int64_t graphId, const std::string& oracle);
Result<std::vector<ReductionRow>> reductions(Database& database, std::optional<std::int64_t> graphId);
Result<ReductionRow> reduction(Database& database, std::int64_t id);
Result<std::vector<StepRow>> steps(Database& database, std::int64_t reductionId);
Result<std::string> stepContent(Database& database, std::int64_t stepId);
Result<std::optional<std::string>> verdict(Database& database, const std::string& key);
Result<void> putVerdict(Database& database, const std::string& key, const std::string& json);

// Repros: minimized graphs with their inputs, as they were written for a bug report.

Result<std::int64_t> addRepro(Database& database, const ReproRow& repro, const NewGraph& content);
Result<std::vector<ReproRow>> repros(Database& database);
Result<ReproRow> repro(Database& database, std::int64_t id);
Result<std::string> reproContent(Database& database, std::int64_t id);

// Runs (compile, run, compare) of a stored graph, the passes they ran and the comparisons they made.

Result<std::int64_t> addRun(Database& database, const RunRow& run);
Result<void> finishRun(Database& database, std::int64_t runId, const std::string& status, std::int64_t nanoseconds);
Result<void> addPasses(Database& database, std::int64_t runId, const std::vector<SnapshotRow>& passes);
Result<void> addComparisons(Database& database, std::int64_t runId, const std::vector<OutputVerdict>& rows);
Result<std::vector<RunRow>> runs(Database& database, std::optional<std::int64_t> graphId);
Result<std::vector<SnapshotRow>> passes(Database& database, std::int64_t runId);
Result<std::vector<OutputVerdict>> comparisons(Database& database, std::int64_t runId);

// Slips: other failures that reductions met, with their graphs.

/// One transaction: content and row. One of the same reduction and number is replaced; its content is left to
/// the collection of garbage.
Result<void> putSlip(Database& database, const SlipRow& slip, const NewGraph& candidate);
/// By number.
Result<std::vector<SlipRow>> slips(Database& database, std::int64_t reductionId);
Result<std::string> slipContent(Database& database, std::int64_t slipId);

}  // namespace kerf::inline storage::inline stores
