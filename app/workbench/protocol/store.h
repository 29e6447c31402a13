// Store: importing into it, what it holds, and exporting out of it (or of any file).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/captures.h"

namespace kerf::workbench {

struct ImportedGraph {
  std::string id, name;  ///< "c3/g1"
  int nodes = -1, inputs = 0,
      storages = 0;  ///< nodes -1: only indexed, nothing else is known
  std::vector<std::string> unknownOps, missingStorages;
  std::string compileId, stage;
  int rank = -1, line = 0;

  KERF_FIELDS(id, name, nodes, inputs, storages, unknownOps, missingStorages, compileId, rank, stage, line)
};
struct ImportedCapture {
  std::string id, path, kind, torchVersion;
  std::int64_t compiles = 0, records = 0;
  std::vector<ImportedGraph> graphs;
  std::vector<std::string> notes;

  KERF_FIELDS(id, path, kind, torchVersion, compiles, records, graphs, notes)
};
struct Imported {
  std::string store;  ///< its file
  std::vector<ImportedCapture> captures;

  KERF_FIELDS(store, captures)
};

/// Reads a file or everything in a folder into the store.
struct ImportRequest {
  enum class Parse { Small, All };  ///< Small: graphs of large files are only indexed
  using Answer = Imported;
  static constexpr std::string_view name = "import";
  std::string path;
  Parse parse = Parse::Small;
  bool link = false;  ///< files stay where they are, and the store only links to them

  KERF_FIELDS(path, parse, link)
};
constexpr ImportRequest::Parse lastOf(ImportRequest::Parse) { return ImportRequest::Parse::All; }

/// Follows a TORCH_TRACE log or folder that is still being written, with FollowEvents, until the job is stopped; then
/// stores what came.
struct FollowRequest {
  using Answer = Imported;
  static constexpr std::string_view name = "follow";
  std::string path;

  KERF_FIELDS(path)
};

struct StoredCapture {
  std::string id, kind, path, torchVersion,
      importedAt;  ///< "c3"; importedAt: ISO 8601 UTC
  int graphs = 0, compiles = 0, records = 0;

  KERF_FIELDS(id, kind, graphs, compiles, records, torchVersion, importedAt, path)
};
struct StoredRun {
  std::string id, graph, kind, backend, status, startedAt,
      options;  ///< "r5", "c3/g1"
  double milliseconds = 0;

  KERF_FIELDS(id, graph, kind, backend, status, milliseconds, startedAt, options)
};
struct StoredReduction {
  std::string id, graph, status, startedAt, fingerprint, oracle;  ///< "m2"
  int startNodes = 0, bestNodes = 0, steps = 0, tests = 0;

  KERF_FIELDS(id, graph, status, startNodes, bestNodes, steps, tests, startedAt, fingerprint, oracle)
};
struct StoredRepro {
  std::string id, graph, reduction, createdAt,
      path;  ///< "p4"; reduction is empty where there was none
  int nodes = 0;

  KERF_FIELDS(id, graph, reduction, nodes, createdAt, path)
};
struct StoreListing {
  std::string store;  ///< its file
  std::vector<StoredCapture> captures;
  std::vector<GraphEntry> graphs;
  std::vector<StoredRun> runs;
  std::vector<StoredReduction> reductions;
  std::vector<StoredRepro> repros;

  KERF_FIELDS(store, captures, graphs, runs, reductions, repros)
};
struct StoreRequest {
  using Answer = StoreListing;
  static constexpr std::string_view name = "store";
  std::string kind;  ///< "captures", "graphs", "runs", "reductions", "repros"; empty: all; "store": only its file

  KERF_FIELDS(kind)
};

struct ExportFormatDoc {
  std::string_view name;       ///< of --format
  std::string_view extension;  ///< of the output name that chooses this format
  std::string_view what;       ///< for people
};
/// Every form in which a graph can be written; the first is the default.
std::span<const ExportFormatDoc> exportFormats();

struct Exported {
  std::string path, format;
  std::int64_t nodes = 0, storages = 0;  ///< of a graph
  std::string record;                    ///< name of an exported record
  std::int64_t bytes = 0;                ///< of a record
  std::vector<std::string> notes = {};   ///< what the capture says and the file does not

  KERF_FIELDS(path, format, nodes, storages, record, bytes, notes)
};
/// Writes a graph, or the payload of a record (format "record", or a text such as "c3/r17"). Everything appears whole
/// or not at all.
struct ExportRequest {
  using Answer = Exported;
  static constexpr std::string_view name = "export";
  GraphAddress graph;
  std::string place;                           ///< file or folder
  std::string format;                          ///< empty: by the place's extension
  std::string values;                          ///< safetensors: node names, "outputs", "inputs" or "all"
  std::vector<std::string> allowedCalls = {};  ///< targets that may be called although nothing is known of them
  std::string runCommand = "run";              ///< of a repro: run_repro's command=
  std::string accuracy = {};                   ///< of a repro: run_repro's accuracy=; empty: the capture's

  KERF_FIELDS(graph, place, format, values, allowedCalls, runCommand, accuracy)
};

}  // namespace kerf::workbench
