// What a capture holds beside its graphs: compile ids with status, records, the timeline, fusion groups.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/capture/common/origin.h"
#include "engine/support/result.h"

namespace kerf::inline capture {

/// One record of a TORCH_TRACE log or one file of a debug folder that is not a graph (or is one: then `graph` names
/// it).
struct CaptureRecord {
  enum class Form { None, Text, Json, Python };
  std::string kind;  ///< "compilation_metrics", "artifact", "inductor_output_code", "ir_pre_fusion"; unknown kinds kept
  std::string name;  ///< artifact's name, output code's file; else the kind
  GraphOrigin origin;
  std::string metadata;  ///< the record's JSON line, verbatim; empty for files
  Form form = Form::None;
  FileRange payload;    ///< raw bytes in the file (a log's payload still has its leading tabs)
  bool tabbed = false;  ///< payload lines start with one tab that is not part of the text
  int graph = -1;       ///< index in Capture::graphs if this record is a graph

  /// The payload without its tabs; NotFound if the file is gone, TooLarge above `limit` bytes.
  Result<std::string> text(std::int64_t limit = 64LL << 20) const;
};

/// A symbol as PyTorch made it while it traced (create_symbol, create_unbacked_symbol).
struct TracedSymbol {
  std::string name;
  std::optional<std::int64_t> value;         ///< at which it was traced; none of an unbacked one
  std::optional<std::int64_t> lower, upper;  ///< of its first range; none: no bound
  std::string source;                        ///< "L['x'].size()[0]"
  std::string where;                         ///< user frame, "file.py:12 in forward"
};

/// A condition on symbols that PyTorch recorded. The texts of compiled guards name sources, and are kept with the
/// symbols that stand for them.
struct TracedGuard {
  std::string expression;  ///< "Eq(s50, 16)"
  std::string kind;        ///< of the record: "guard_added_fast", "symbolic_shape_specialization", "dynamo_guards", …
  std::string reason;      ///< of a specialisation: "range_refined_to_singleton"
  std::string where;       ///< user frame; empty where it was the compiler that asked
  int line = 0;            ///< of the record, in its log
};

/// One compile id: everything that PyTorch logged while it compiled one frame once.
struct CompileEntry {
  /// Restarted: Dynamo gave this attempt up and began the next ("[0/0]" before "[0/0_1]"). Incomplete: no metrics.
  enum class Status { Ok, Failed, Empty, CacheHit, Incomplete, Restarted };
  std::string id;  ///< "[0/0]"; "(unknown)" for records that carry a stack instead of a compile id
  int rank = -1;
  Status status = Status::Incomplete;
  std::string failure;                       ///< "fail_type: fail_reason" of its compilation_metrics
  std::string frame;                         ///< user frame "file.py:12 in forward" (from dynamo_start's stack)
  std::vector<std::size_t> graphs, records;  ///< indices into Capture::graphs and CaptureDetails::records
  /// Numbers of compilation_metrics, in their own units by name; those of other kinds as
  /// "bwd_compilation_metrics.<name>".
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<std::string> restartReasons;                    ///< of its compilation_metrics
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< create_symbol: symbol and the value it was traced at
  std::vector<TracedSymbol> tracedSymbols;
  std::vector<TracedGuard> guards;  ///< in the order of the log, each expression of a kind once
};

/// "ok", "failed", "empty", "cache hit", "incomplete", "restarted".
std::string_view compileStatusName(CompileEntry::Status status);

/// A complete chromium event, in microseconds since the first event of its log.
struct TimelineEvent {
  std::string name, category, compileId;
  int rank = -1;
  std::int64_t thread = 0, beginUs = 0, durationUs = 0;
  int depth = 0;  ///< nesting within its thread
};

/// One generated kernel and the nodes that were fused into it (inductor_provenance_tracking_node_mappings,
/// ir_post_fusion).
struct RecordedFusionGroup {
  std::string kernel;  ///< "cpp_fused_relu_0", "triton_poi_fused_mul_1:2"; "" before fusion
  GraphOrigin origin;
  std::vector<std::string> buffers;  ///< scheduler nodes: "buf0", "op0"
  std::vector<std::string> postGradNodes, preGradNodes;
  /// Of postGradNodes' graph: what the kernel loads from memory and what it stores there, as the comments of the output
  /// code say. Names of buffers ("buf7") are values that no node stands for. Both empty: not told.
  std::vector<std::string> loads, stores;
};

struct CaptureDetails {
  std::vector<CaptureRecord> records;
  std::vector<CompileEntry> compiles;  ///< in order of first appearance, by rank
  std::vector<TimelineEvent> timeline;
  std::vector<RecordedFusionGroup> fusionGroups;
  std::map<std::string, std::vector<std::string>> preToPost, postToPre;  ///< "compileId node" → nodes
  /// Source file names that a log's frames refer to by number: log → number → name.
  std::map<std::filesystem::path, std::map<std::int64_t, std::string>> internedFiles;
  std::map<std::filesystem::path, int> cutLogs;  ///< logs that end in the middle: line of the last record they begin
  std::vector<std::shared_ptr<const void>> keepAlive;  ///< bytes of compressed logs while the capture lives

  /// "file.py:12 in forward" for each frame of the record's stack (its own or inside its kind), outermost first.
  std::vector<std::string> stackOf(const CaptureRecord& record) const;
  /// The entry of a compile id as printed, with or without brackets; null if there is none. rank -1: the first found.
  const CompileEntry* compile(std::string_view id, int rank = -1) const;
};

}  // namespace kerf::inline capture
