// Documents: immutable plain snapshots that models and panels show. Those of the workbench as they are, and what the
// window knows beside: that something is still being read, running, or went wrong.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <QString>
#include <QStringList>

#include "app/workbench/protocol/requests.h"
#include "ui/session/text.h"

namespace kerf::ui::inline session {

using workbench::ArgumentDoc, workbench::NodeDoc, workbench::NodeKind, workbench::nodeKindName, workbench::nodeKinds;
using workbench::BisectTrial, workbench::StepDoc;
using workbench::ChangeCounts, workbench::DiffRow, workbench::OpCountDoc, workbench::RecordedCodeDoc;
using workbench::CompileDocPtr, workbench::KernelDoc, workbench::PassDoc;
using workbench::CompileEntryDoc, workbench::FusionRow, workbench::GraphEntry, workbench::RecordEntry;
using workbench::GraphDoc, workbench::GraphDocPtr, workbench::SymbolDoc;
using workbench::GuardsDoc, workbench::GuardsDocPtr, workbench::RecordedGuardDoc, workbench::ReplacementDoc;
using workbench::RecordedStageDoc, workbench::RecordedStages, workbench::RewriteDoc;
using workbench::StoreListing, workbench::TimelineDoc, workbench::TimelineLane, workbench::TimelineSpan;

/// Whether a text is how the store names what it holds: "c3", "c3/g1", "m2@step:4", "p4".
bool isStoreName(const QString& text);

/// One opened file, folder or stored capture: being read (`loading`), refused (`error` not empty) or ready.
struct CaptureDoc : workbench::CaptureIndex {
  int id = 0;
  std::string error;
  bool loading = false;
  std::shared_ptr<std::atomic<int>> percent;  ///< read so far, while loading
  /// It is the store's own copy, which goes by a name ("c3"); `path` is where it came from.
  bool isStored() const;
};
using CaptureDocPtr = std::shared_ptr<const CaptureDoc>;

/// One record as it is shown.
struct ShownRecord {
  int capture = -1, index = -1;
  QString title, detail, text;
};
using ShownRecordPtr = std::shared_ptr<const ShownRecord>;

/// Recorded fusion groups of a whole capture.
using FusionRowsPtr = std::shared_ptr<const std::vector<FusionRow>>;

/// How the compilations of a trace went; `error`: why that cannot be told.
struct TraceLogDoc : workbench::CompileLogDoc {
  QString error;
  std::unordered_map<int, std::vector<int>> kernelLines;  ///< rows of the table "triton-lines", by their record
  /// Null where there is no such table.
  const workbench::LogTable* table(std::string_view name) const {
    const auto found = std::ranges::find(tables, name, &workbench::LogTable::name);
    return found == tables.end() ? nullptr : &*found;
  }
  /// What there is to say of a compile id: why it was compiled again, where it broke.
  QStringList remarksOf(const std::string& id, int rank) const;
  /// To be called by whoever filled the tables.
  void afterReading();
};
using TraceLogPtr = std::shared_ptr<const TraceLogDoc>;

/// Results that agree because there is nothing but NaN and infinities to compare.
struct OddNodes {
  int wholly = 0;           ///< nodes without a finite element
  int partly = 0;           ///< nodes with some that are none
  std::string first;        ///< in the order of the graph: of those without a finite element, else of the others
  std::vector<int> places;  ///< of all of them, in that order
};

struct AccuracyDoc : workbench::Comparison {
  enum class Oddity { NaN, Infinity };
  bool running = false;
  QString plant, error;                                          ///< error: why there is no comparison
  std::string backend;                                           ///< of the compiled side
  bool isOfBefore = false;                                       ///< it was compared before a restart
  std::unordered_map<std::string, int> nodeIndex, figuresIndex;  ///< places in `nodes` and `values`
  /// Null if the node was not compared.
  const NodeDivergence* find(const std::string& node) const {
    const auto found = nodeIndex.find(node);
    return found == nodeIndex.end() ? nullptr : &nodes[std::size_t(found->second)];
  }
  /// What a node's values are like on the sides that have it; null where that is not known.
  const workbench::NodeFigures* figuresOf(const std::string& node) const {
    const auto found = figuresIndex.find(node);
    return found == figuresIndex.end() ? nullptr : &values[std::size_t(found->second)];
  }
  /// To be called by whoever filled `nodes` and `values`.
  void afterReading();
  /// Name of the node where the results part; empty if nowhere.
  std::string firstBadNode() const {
    const auto row = std::ranges::find_if(nodes, &NodeDivergence::firstBad);
    return row == nodes.end() ? std::string() : row->node;
  }
  /// What is NaN or infinite, but for what constants make so: a mask of -inf is meant.
  OddNodes odd(const GraphDoc& graph) const;
  /// Inputs and nodes with such an element on some side, in the order of the graph; constants are left out.
  std::vector<int> withOddity(const GraphDoc& graph, Oddity oddity) const;
  /// How many of the inputs were made up.
  int madeUpInputs() const { return int(std::ranges::count(inputs, "generated", &workbench::InputRow::source)); }
};
using AccuracyDocPtr = std::shared_ptr<const AccuracyDoc>;

struct BisectDoc : workbench::Bisection {
  bool running = false;
  workbench::BisectRequest::By by = workbench::BisectRequest::By::Node;
  std::string backend;      ///< of the compiled side; empty: another than Kerf decides
  QString progress, error;  ///< error: why there is no result
};
using BisectDocPtr = std::shared_ptr<const BisectDoc>;

struct MinifyPoint {
  int test = 0, nodes = 0;
  qint64 inputBytes = 0;
  bool accepted = false;
  std::string reduction;
};

/// What one of the parallel queries of a minification has done so far.
struct MinifyWorkerDoc {
  int queries = 0;
  std::string verdict;  ///< of the last one: "passes", "fails", …
  double seconds = 0;   ///< that the last one took
};

/// State of one minification.
struct MinifyDoc {
  enum class State { Running, Done, Cancelled, Failed };
  State state = State::Running;
  QString plant, error;
  std::string backend;                        ///< of the compiled side; empty: another than Kerf decides
  std::string fingerprint, reduction, repro;  ///< "m2", "p4"
  int startNodes = 0, bestNodes = 0, tests = 0;
  int slips = 0;  ///< candidates that failed in another way
  double elapsedSeconds = 0, secondsLeft = -1;
  bool paused = false;  ///< no new query begins
  std::optional<bool> oneMinimal;
  std::string stoppedBy;                     ///< "max_tests", "max_time"; empty: neither
  std::vector<workbench::SlipDoc> findings;  ///< other failures that were met, known when it has ended
  GraphDocPtr candidate;                     ///< the smallest that failed so far; null until it has been read
  std::shared_ptr<const workbench::Neighbour> neighbour;  ///< one edit away, passes; null until it is known
  std::vector<MinifyPoint> points;
  std::vector<StepDoc> steps;
  std::vector<MinifyWorkerDoc> workers;
  int underWay = 0;  ///< queries that were asked and not answered yet
};
using MinifyDocPtr = std::shared_ptr<const MinifyDoc>;

using workbench::NodeNoteDoc;
using NodeNotesPtr = std::shared_ptr<const std::vector<NodeNoteDoc>>;

using StoreListingPtr = std::shared_ptr<const StoreListing>;

using RecordedStagesPtr = std::shared_ptr<const RecordedStages>;

/// The output code that a graph became; `error`: why it cannot be read.
struct RecordedCodeList {
  std::vector<workbench::RecordedProgram> programs;
  QString error;
};
using RecordedCodePtr = std::shared_ptr<const RecordedCodeList>;

/// What stands in for input data that a capture does not have, as GraphAddress has it.
struct InputsChoice {
  std::string inputs = workbench::GraphAddress::usualInputs;
  std::uint64_t seed = workbench::GraphAddress::usualSeed;
  bool operator==(const InputsChoice&) const = default;
};

/// Recorded stages of one compile id against each other.
struct VerifyDoc : workbench::Verification {
  bool running = false;
  QString progress, error;  ///< error: why there is no verdict
};
using VerifyDocPtr = std::shared_ptr<const VerifyDoc>;

/// A graph as it is worked on: one of a capture, at a stage of AOTAutograd ("joint"; empty: as it was captured).
struct GraphKey {
  int capture = -1;
  int graph = 0;
  std::string aotStage = {};
  auto operator<=>(const GraphKey&) const = default;
};

/// Where the user is: a capture, one of its graphs at a stage of AOTAutograd, what passes or a minification made of
/// that one, a node of it.
struct Location {
  enum class Stage { Captured, Pass, Step };
  int capture = -1;
  int graph = 0;
  Stage stage = Stage::Captured;
  int index = -1;  ///< pass (-1: before the first of AOTAutograd's stages) or step
  QString node;
  std::string aotStage = {};
  std::string body = {};  ///< a nested graph of it ("body_graph_0/true_graph_0"); empty: the graph itself
  bool operator==(const Location&) const = default;
  GraphKey key() const { return {capture, graph, aotStage}; }
  /// The same for places with the same graph, whatever node is selected.
  auto place() const { return std::tuple(key(), stage, index, body); }
  bool sameGraph(const Location& other) const {
    return key() == other.key() && stage == other.stage && index == other.index && body == other.body;
  }
};

/// A place that is named rather than numbered, so that it can be kept and found again.
struct NamedPlace {
  std::string capture, graph;  ///< what opens the capture, and the graph's name in it; empty: its first
  Location place;              ///< stage, body and node; its numbers of capture and graph mean nothing
};

/// A joint graph's partitions, one for each budget from 0 to 1.
struct PartitionsDoc : workbench::PartitionReport {
  bool running = false;
  QString error;  ///< why there are none
};
using PartitionsDocPtr = std::shared_ptr<const PartitionsDoc>;

/// What torch.compile made of a captured program; `error`: why that cannot be told.
struct ProgramDocument : workbench::ProgramReport {
  QString error;
};
using ProgramDocumentPtr = std::shared_ptr<const ProgramDocument>;

/// Two captures beside each other; `error`: why that cannot be told.
struct RunsDoc : workbench::CaptureDifference {
  int before = -1, after = -1;  ///< captures
  bool running = false;
  QString error;
  std::vector<std::optional<DiffRow>> firstRows;  ///< by compilation: the first node that differs, where it is known
  /// Place of the first stage that differs; -1: none.
  static int firstDifferent(const workbench::CompileDifference& compile);
};
using RunsDocPtr = std::shared_ptr<const RunsDoc>;

/// Two recordings of runs, step by step; `error`: why that cannot be told.
struct AlignmentDoc : workbench::AlignDoc {
  bool running = false;
  QString error;
  /// Null: none has this number.
  const workbench::AlignedRow* rowOf(int pair) const {
    const auto found = std::ranges::find(rows, pair, &workbench::AlignedRow::pair);
    return found == rows.end() ? nullptr : &*found;
  }
};
using AlignmentDocPtr = std::shared_ptr<const AlignmentDoc>;

/// What several ranks of a trace recorded, beside each other; `error`: why that cannot be told.
struct RankLanesDoc : workbench::RanksDoc {
  QString error;
};
using RankLanesPtr = std::shared_ptr<const RankLanesDoc>;

/// A graph over a mesh of ranks; `error`: why it cannot be sharded.
struct ShardingDoc : workbench::ShardedGraphDoc {
  bool running = false;
  QString askedMesh, askedPlacements, error;
  std::vector<std::string> kinds;              ///< distinct placements, in the order of the graph: "[S(0)]"
  std::unordered_map<std::string, int> index;  ///< places in `nodes`, by name
  /// Null for a node without a placement.
  const workbench::ShardedNodeDoc* find(const std::string& node) const;
  /// Place in `kinds`; -1: none.
  int kindOf(const std::string& node) const;
  /// Whole on every rank: nothing of it is ever moved.
  static bool isReplicated(const std::string& placements);
  /// To be called by whoever filled `nodes`.
  void afterReading();
};
using ShardingDocPtr = std::shared_ptr<const ShardingDoc>;

/// A node's value as somebody asked for it.
struct ValueDoc : workbench::NodeValue {
  Location place;  ///< of the graph
  workbench::NodeValueRequest asked;
  bool running = false;
  QString error;  ///< why there is none
};
using ValueDocPtr = std::shared_ptr<const ValueDoc>;

/// How the shown graph differs from another one: the stage before it, or what the user chose.
struct DifferenceDoc : workbench::GraphDifference {
  Location from;
  GraphDocPtr before;    ///< the graph at `from`
  QString title, error;  ///< title: of `before`; error: why nothing can be said
  /// Name of the node that a node of the earlier graph is now; empty where it is gone.
  std::string after(const std::string& node) const;
  /// And the other way round.
  std::string earlier(const std::string& node) const;
};
using DifferenceDocPtr = std::shared_ptr<const DifferenceDoc>;

}  // namespace kerf::ui::inline session
