// Store: Kerf's SQLite database of captures, graphs, snapshots, runs, comparisons, reductions and repros.
// One Store per thread; two processes may have the same file open (WAL). Blobs and graphs are content-addressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/accuracy/verdict.h"
#include "engine/ir/graph_module.h"
#include "engine/support/hash.h"
#include "engine/support/result.h"
#include "engine/tensor/file_pieces.h"

namespace kerf::inline storage::inline database {
class Database;
}

namespace kerf::inline storage::inline stores {

/// Ids print as "c3" (capture), "c3/g1" (graph 1 of capture 3), "r5" (run), "m2" (reduction), "p4" (repro).
struct CaptureRow {
  std::int64_t id = 0;
  std::string kind, path, torchVersion, importedAt;  ///< importedAt: ISO 8601 UTC
  std::string contentHash;
  int graphCount = 0;
  int compileCount = 0, recordCount = 0;
  int fileCount = 0;  ///< 0: graphs are kept as repro texts, else read back from these files
};
/// Where a graph or record of a capture came from.
struct SourceRow {
  std::string compileId;  ///< "[0/0]"; empty outside a trace
  int rank = -1;          ///< -1: none
  std::string stage;      ///< record kind or pass
  std::string file;
  int line = 0;  ///< 1-based; 0: unknown
};
struct GraphRow {
  std::int64_t id = 0, captureId = 0;
  int ordinal = 1;         ///< the 1 in "c3/g1"
  std::string name, hash;  ///< hash of the snapshot; empty while not parsed
  int nodes = 0;           ///< -1 while not parsed
  SourceRow source = {};
};
/// A record of a log or a file of a debug folder.
struct RecordRow {
  int ordinal = 1;  ///< the 17 in "c3/r17"
  std::string kind, name;
  SourceRow source;
  std::string form;               ///< "none", "text", "json", "python"
  std::int64_t bytes = 0;         ///< of the payload as it is in the file
  std::optional<int> graph = {};  ///< ordinal of the graph that it is
};
/// A compile id with its status.
struct CompileRow {
  int ordinal = 1;
  std::string id;  ///< "[0/0]"
  int rank = -1;
  std::string status;  ///< "ok", "failed", "empty", "cache hit", "incomplete", "restarted"
  std::string failure, frame;
  int graphs = 0, records = 0;                                     ///< counts
  double milliseconds = std::numeric_limits<double>::quiet_NaN();  ///< whole compile; NaN: not recorded
};
struct SnapshotRow {
  std::int64_t id = 0, runId = 0;
  int index = 0;
  std::string pass, stage, hashBefore, hashAfter;
  int nodesBefore = 0, nodesAfter = 0;
  std::int64_t nanoseconds = 0;
  bool changed = false;
};
struct RunRow {
  std::int64_t id = 0, graphId = 0;
  std::string kind, backend, options, startedAt, status;
  std::int64_t nanoseconds = 0;
};
struct ReductionRow {
  std::int64_t id = 0, graphId = 0;
  std::string oracle, status, startedAt;
  int startNodes = 0, bestNodes = 0, tests = 0;
  std::string fingerprint;
};
struct StepRow {
  std::int64_t id = 0, reductionId = 0;
  int index = 0, test = 0;
  std::string reduction, graphHash, fingerprint;
  int nodes = 0, outputs = 0;
  std::int64_t inputBytes = 0, nanoseconds = 0;
};
/// Another failure that a reduction met: "m3/slip1".
struct SlipRow {
  std::int64_t id = 0, reductionId = 0;
  int number = 1;
  std::string fingerprint, detail;
  int tests = 0;  ///< candidates that failed in this way
  std::string graphHash;
  int nodes = 0;
};
/// What a person left at a node of a graph.
struct NoteRow {
  std::string graphHash, node, text, capture, graph;
  std::string changedAt = {};  ///< ISO 8601 UTC; set when it is put
};
struct ReproRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> reductionId;
  std::int64_t graphId = 0;
  std::string path, hash, createdAt;
  int nodes = 0;
};

/// A captured graph on its way into the store: the repro text it can be read back from and the blobs that it names.
struct StoredBlob {
  std::string name;  ///< content-store hash of the storage
  std::span<const std::byte> bytes;
  std::optional<FilePart> file = {};  ///< where they lie instead, to be read piece by piece

  std::int64_t size() const { return file ? file->length : std::ssize(bytes); }
};
struct NewGraph {
  std::string name;
  std::string hash;  ///< CapturedGraph::contentHash().hex()
  int nodes = 0;
  std::string reproText;          ///< exact text that imports to this graph and its inputs
  std::vector<StoredBlob> blobs;  ///< storages that could be read
  SourceRow source = {};
  std::function<Result<void>()> check = {};  ///< of those in files; runs on another thread while they are stored
};
/// A file that a capture was read from. Its name is a relative path below the folder that it is written to again.
struct NewFile {
  std::string name;
  std::filesystem::path source;
  bool copy = true;                  ///< false: stays where it is, only its path, size and hash are kept
  std::optional<Hash128> hash = {};  ///< of its bytes, where it is known already
};
/// With `files`, graphs without a repro text are read back from those.
struct NewCapture {
  std::string kind, path, torchVersion, contentHash;
  std::vector<NewGraph> graphs;
  std::vector<NewFile> files = {};
  std::vector<RecordRow> records = {};
  std::vector<CompileRow> compiles = {};
};
/// Progress in [0, 1]; return false to stop.
using StoreProgress = std::function<bool(double)>;

class Store {
 public:
  /// Opens or creates. Environment if it cannot; BadInput when the file was written by a newer Kerf (message says so)
  /// or is no Kerf store. An older store is brought to this Kerf's schema first, and stays as a backup beside it. One
  /// that cannot be written is opened for reading.
  static Result<Store> open(const std::filesystem::path& path);
  /// An empty store that is gone with this object.
  static Result<Store> inMemory();
  /// $KERF_STORE, else $XDG_DATA_HOME/kerf/kerf.db, else ~/.local/share/kerf/kerf.db.
  static std::filesystem::path defaultPath();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  const std::filesystem::path& path() const;
  bool readOnly() const;
  /// The database itself, for what manages the store as a whole (store_life.h, store_transfer.h).
  Database& database();

  // Captures and graphs. addCapture is one transaction; the same content hash and path again returns the old row's
  // id (mends what was damaged of it, and brings it back if it was deleted).
  // Cancelled, with nothing stored, when `progress` says so.
  Result<std::int64_t> addCapture(const NewCapture& capture, const StoreProgress& progress = {});
  Result<std::vector<CaptureRow>> captures();
  Result<CaptureRow> capture(std::int64_t id);
  Result<std::vector<GraphRow>> graphs(std::optional<std::int64_t> captureId = {});
  Result<GraphRow> graph(std::int64_t captureId, int ordinal);
  Result<GraphRow> graphById(std::int64_t id);
  /// Writes the graph's repro.py and storages/ below `directory` (for import by engine/capture). Returns the .py path.
  Result<std::filesystem::path> materialize(std::int64_t graphId, const std::filesystem::path& directory);
  /// Writes a capture's files below `directory` and returns the path to import again. Files that stayed where they were
  /// become links; NotFound or BadInput when one is gone or has changed.
  Result<std::filesystem::path> materializeFiles(std::int64_t captureId, const std::filesystem::path& directory);
  /// Hash and node count of a graph that was stored before it was parsed.
  Result<void> completeGraph(std::int64_t graphId, const std::string& hash, int nodes);
  Result<std::vector<RecordRow>> records(std::int64_t captureId);
  Result<RecordRow> record(std::int64_t captureId, int ordinal);
  Result<std::vector<CompileRow>> compiles(std::int64_t captureId);

  // Snapshots: graph texts by content hash, stored once.
  Result<void> putSnapshot(const std::string& hash, const std::string& graphText, int nodes);
  Result<std::string> snapshotText(const std::string& hash);

  // Runs (compile, run, compare), their passes and comparisons
  Result<std::int64_t> addRun(const RunRow& run);
  Result<void> finishRun(std::int64_t runId, const std::string& status, std::int64_t nanoseconds);
  Result<void> addPasses(std::int64_t runId, const std::vector<SnapshotRow>& passes);
  Result<void> addComparisons(std::int64_t runId, const std::vector<OutputVerdict>& rows);
  Result<std::vector<RunRow>> runs(std::optional<std::int64_t> graphId = {});
  Result<std::vector<SnapshotRow>> passes(std::int64_t runId);
  /// With the figures that are kept: errors, ratio, NaN and infinities of the compiled side.
  Result<std::vector<OutputVerdict>> comparisons(std::int64_t runId);

  // Reductions. Each accepted step is committed before the search goes on, so kill -9 loses nothing accepted.
  Result<std::int64_t> startReduction(const ReductionRow& reduction);
  Result<void> addStep(const StepRow& step, const NewGraph& candidate);
  Result<void> finishReduction(std::int64_t reductionId, const std::string& status, int bestNodes, int tests,
                               const std::string& fingerprint);
  /// Newest reduction of this graph (by content hash) under this oracle identity that did not finish, if any.
  Result<std::optional<ReductionRow>> resumable(std::int64_t graphId, const std::string& oracle);
  Result<std::vector<ReductionRow>> reductions(std::optional<std::int64_t> graphId = {});
  Result<ReductionRow> reduction(std::int64_t id);
  Result<std::vector<StepRow>> steps(std::int64_t reductionId);
  Result<std::filesystem::path> materializeStep(std::int64_t stepId, const std::filesystem::path& directory);
  /// Keeps a finding with its graph; one of the same number is replaced.
  Result<void> putSlip(const SlipRow& slip, const NewGraph& candidate);
  Result<std::vector<SlipRow>> slips(std::int64_t reductionId);
  Result<std::filesystem::path> materializeSlip(std::int64_t slipId, const std::filesystem::path& directory);
  Result<std::optional<std::string>> verdict(const std::string& key);
  Result<void> putVerdict(const std::string& key, const std::string& json);

  // Notes: one for each node of a graph, by the graph's content
  Result<void> putNote(const NoteRow& note);
  Result<void> forgetNote(const std::string& graphHash, const std::string& node);
  /// The newest first; of one graph, or of all where `graphHash` is empty.
  Result<std::vector<NoteRow>> notes(const std::string& graphHash = {});

  // Repros
  Result<std::int64_t> addRepro(const ReproRow& repro, const NewGraph& content);
  Result<std::vector<ReproRow>> repros();
  Result<ReproRow> repro(std::int64_t id);
  Result<std::filesystem::path> materializeRepro(std::int64_t reproId, const std::filesystem::path& directory);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  /// `untouched`: for reading, with nothing made beside the file.
  static Result<Store> openWith(const std::filesystem::path& path, bool untouched);
  std::unique_ptr<Impl> m_impl;
};

}  // namespace kerf::inline storage::inline stores
