// From a GraphAddress to a graph that can run, a type for each step: no step edits what the one before it gave.
//
//     resolveGraph(address)   GraphSource     what the address names, and what it says of running it
//     shaped(source)          ShapedGraph     with the shapes of all nodes
//     runnable(source)        RunnableGraph   with the inputs to run it on, and where each comes from
//
// Each is also what the steps before it are. Sources are taken by value: move one that is needed no more.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/workbench/workbench.h"
#include "engine/autograd/aot_graph.h"
#include "engine/capture/common/capture.h"
#include "engine/symbolic/shape_env.h"
#include "engine/symbolic/symbolic.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

/// A graph of a file or of the store.
struct AddressedGraph {
  std::string text;  ///< as the user wrote it
  Capture capture;
  std::size_t index = 0;
  std::optional<std::int64_t> graphId = {};  ///< row in the store, if it came from there
  std::shared_ptr<const void> keeps = {};    ///< owner of the folder that a stored graph was written to
  bool edited = false;                       ///< not the stored graph itself: after a pass, a reduction's step

  CapturedGraph& graph() { return capture.graphs[index]; }
  const CapturedGraph& graph() const { return capture.graphs[index]; }
};

/// With what the address says of running it.
struct GraphSource : AddressedGraph {
  SymbolBindings symbols = {};               ///< that the address gave
  InputFill fill = InputFill::Plausible;     ///< what stands in for missing data
  std::uint64_t seed = defaultInputSeed;     ///< of it
  std::string inputFile = {};                ///< the user's own inputs; empty: none
  bool allGiven = false;                     ///< the user gives every tensor: none is made up
  std::shared_ptr<const AotGraph> aot = {};  ///< of a stage of AOTAutograd, without its module; else null
};

/// With the shapes of its nodes.
struct ShapedGraph : GraphSource {
  std::optional<Error> incomplete = {};  ///< why some are missing
};

/// With what it runs on.
struct RunnableGraph : ShapedGraph {
  ValueList inputs = {};
  std::vector<InputOrigin> origins = {};  ///< of each input
};

/// The graph is parsed. NotFound when neither a path nor a store id; BadUsage, listing the names, when there are
/// several graphs and none was chosen, and for a symbol that the graph does not have.
Result<GraphSource> resolveGraph(Workbench& bench, const GraphAddress& address, const Job& job);

/// Shapes of all nodes, from the recorded inputs, annotations and given symbols; symbols without a value keep their
/// shapes unknown.
Result<ShapedGraph> shaped(GraphSource source);
/// As many shapes as can be found, with `env` then holding the graph's symbols and the guards under which they hold.
ShapedGraph shapedAsKnown(GraphSource source, ShapeEnv& env);
ShapedGraph shapedAsKnown(GraphSource source);
/// The same for drawings and texts, which are right without shapes too: what is missing becomes a note.
ShapedGraph shapedForReading(GraphSource source, const Job& job);
/// The same for what shows or exports the graph: recorded values stay where an op gives others, which is warned of.
ShapedGraph shapedAsRecorded(GraphSource source, const Job& job);
/// With inputs: recorded, made up, or of the user's file. Missing storages are warnings. BadInput and ShapeMismatch for a
/// file whose inputs do not fit.
Result<RunnableGraph> runnable(GraphSource source, const Job& job);
/// The same without the user's file.
Result<RunnableGraph> runnableOnRecorded(GraphSource source, const Job& job);
/// How the source's missing data is made up.
LoadOptions loadOptions(const GraphSource& source);

/// What the store keeps of the graph (its repro text and the bytes of its storages); the capture must outlive it.
struct StorableGraph {
  NewGraph row;
  std::vector<StoragePtr> keep;  ///< owners of the bytes that row.blobs look at
};
Result<StorableGraph> storableGraph(const Capture& capture, std::size_t index);

enum class KeptFiles { Copied, Linked };  ///< Linked: they stay where they are, and must not change
/// Stores the whole capture (once, however often it is asked) and returns its id: a repro as text and storages,
/// anything else as its original files. Graphs that are only indexed stay so. Cancelled when `progress` says so.
Result<std::int64_t> storeCapture(Store& store, const Capture& capture, const StoreProgress& progress = {},
                                  KeptFiles files = KeptFiles::Copied);
/// Row id of the source's graph in the store; stores the capture first where it came from a path.
Result<std::int64_t> storedGraphId(Store& store, const GraphSource& source);

}  // namespace kerf::workbench
