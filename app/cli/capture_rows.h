// Captures as rows: what the store keeps of graphs, records and compile ids, also for a capture that is only a file.
#pragma once

#include <string>
#include <vector>

#include "app/cli/context.h"
#include "engine/capture/common/capture.h"

namespace kerf::cli {

SourceRow sourceRow(const GraphOrigin& origin);
std::vector<RecordRow> recordRows(const CaptureDetails& details);
std::vector<CompileRow> compileRows(const CaptureDetails& details);

/// A capture's index, from the store or from a file that was opened for it.
struct CaptureIndex {
  std::string id;  ///< "c3", or the path
  std::string kind, path, torchVersion;
  std::vector<GraphRow> graphs;
  std::vector<RecordRow> records;
  std::vector<CompileRow> compiles;
  std::vector<std::string> notes;

  std::string graphId(const GraphRow& graph) const;     ///< "c3/g1", "trace.log#aot_joint_graph"
  std::string recordId(const RecordRow& record) const;  ///< "c3/r17", "trace.log#r17"
};
/// NotFound when `text` is neither a capture of the store nor a path.
Result<CaptureIndex> captureIndex(Context& context, const std::string& text);

Json graphRowJson(const CaptureIndex& index, const GraphRow& graph);
Json recordRowJson(const CaptureIndex& index, const RecordRow& record);
Json compileRowJson(const CaptureIndex& index, const CompileRow& compile);
/// Compile ids with status, and under each of them its graphs.
std::string compileTree(const CaptureIndex& index);
/// "c3  torch_trace  path  torch 2.11.0".
std::string headline(const CaptureIndex& index);

}  // namespace kerf::cli
