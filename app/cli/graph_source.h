// GraphSource: what a GRAPH argument names: a path, one graph of a file ("trace.log#aot_joint_graph"), or a store id
// ("c3", "c3/g1", "c3/g1@pass:cse", "m2", "m2@step:4", "p4"). What the store holds is written to a private folder that
// lives as long as the source.
#pragma once

#include <optional>
#include <string>

#include "app/cli/context.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/symbolic.h"
#include "engine/process/temporary_folder.h"

namespace kerf::cli {

struct GraphSource {
  std::string text;  ///< as the user wrote it
  Capture capture;
  std::size_t index = 0;
  std::optional<std::int64_t> graphId;    ///< row in the store, if it came from there
  std::optional<TemporaryFolder> folder;  ///< of a materialised store id
  bool edited = false;                    ///< not the stored graph itself: after a pass, a reduction's step
  SymbolBindings symbols;                 ///< of --sym

  CapturedGraph& graph() { return capture.graphs[index]; }
  const CapturedGraph& graph() const { return capture.graphs[index]; }
};

/// The graph is parsed. NotFound when neither a path nor a store id; BadUsage, listing the names, when there are
/// several graphs and none was chosen with '#'. `symbols` are the texts of --sym: BadUsage for one that the graph does
/// not have.
Result<GraphSource> resolveGraph(Context& context, const std::string& text,
                                 const std::vector<std::string>& symbols = {});

/// Shapes of all nodes, from the recorded inputs, annotations and --sym; symbols without a value keep their shapes
/// unknown.
Result<void> annotateShapes(GraphSource& source);
/// Graph with shapes, and the inputs to run it on. Missing storages are reported as warnings.
Result<ValueList> prepareToRun(GraphSource& source);

/// What the store keeps of the graph (its repro text and the bytes of its storages).
struct StorableGraph {
  NewGraph row;
  std::vector<StoragePtr> keep;  ///< owners of the bytes that row.blobs look at
};
Result<StorableGraph> storableGraph(const Capture& capture, std::size_t index);

/// Stores the whole capture (once, however often it is asked) and returns its id: a repro as text and storages,
/// anything else as its original files. Graphs that are only indexed stay so. Cancelled when `progress` says so.
Result<std::int64_t> storeCapture(Store& store, const Capture& capture, const StoreProgress& progress = {});
/// Row id of the source's graph in the store; stores the capture first where it came from a path.
Result<std::int64_t> storedGraphId(Store& store, const GraphSource& source);

}  // namespace kerf::cli
