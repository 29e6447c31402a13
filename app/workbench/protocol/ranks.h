// Requests about several ranks: a graph sharded over a mesh, traces of ranks beside each other, sharding rules proved.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

struct MovedOperandDoc {
  std::string from, to;      ///< placements: "[S(0)]"
  double cost = 0;           ///< estimated, in microseconds
  std::string operand = {};  ///< the op's name for it ("mat2"); empty: of a step within the node
  std::string source = {};   ///< the node that it is; empty: a value within the node

  KERF_FIELDS(from, to, cost, operand, source)
};
/// A strategy that was not taken.
struct OtherStrategyDoc {
  std::string call, inputs, outputs;  ///< overload; placements: "[S(0)], [R]"
  double cost = 0;                    ///< of redistributing the operands, estimated, in microseconds

  KERF_FIELDS(call, inputs, outputs, cost)
};
struct ShardedNodeDoc {
  std::string name, target, placements;
  std::vector<std::string> calls;  ///< overloads that the node was broken down to
  std::vector<MovedOperandDoc> moved;
  double cost = 0;
  std::vector<std::string> inputs = {};       ///< nodes that it takes
  std::vector<OtherStrategyDoc> others = {};  ///< the cheapest of each call

  KERF_FIELDS(name, target, placements, calls, moved, cost, inputs, others)
};
struct CollectiveCountDoc {
  std::string op;
  std::int64_t calls = 0;

  KERF_FIELDS(op, calls)
};
struct ShardedGraphDoc {
  std::vector<std::int64_t> mesh;
  std::vector<std::string> ranks;  ///< readable texts, one a rank
  std::vector<ShardedNodeDoc> nodes;
  std::vector<CollectiveCountDoc> collectives;  ///< of one rank
  std::vector<std::string> outputs;             ///< placements
  bool isRun = false;                           ///< on the graph's inputs, whole and on simulated ranks
  double difference = 0;                        ///< largest, of all results
  std::string notRun;                           ///< why it was not run

  KERF_FIELDS(mesh, ranks, nodes, collectives, outputs, isRun, difference, notRun)
};
/// One graph per rank, with collectives. BadUsage for a mesh, an input or a placement that does not fit.
struct ShardRequest {
  using Answer = ShardedGraphDoc;
  static constexpr std::string_view name = "shard";
  GraphAddress graph;
  std::vector<std::int64_t> mesh;
  std::vector<std::string> placements;  ///< "x=S0", "w=S(1),R" with one for each dimension of the mesh
  bool wholeOutputs = false;            ///< results are gathered

  KERF_FIELDS(graph, mesh, placements, wholeOutputs)
};

/// Where ranks have something in their graphs.
struct RankPlaceDoc {
  std::vector<int> ranks;
  std::string compileId, stage;
  int graph = 0;          ///< number among a rank's graphs of that id and stage
  std::string node = {};  ///< empty: the graph as a whole

  KERF_FIELDS(ranks, compileId, stage, graph, node)
};
struct RankGroupDoc {
  std::vector<int> ranks;
  std::string what;
  std::vector<RankPlaceDoc> places = {};  ///< each rank once; none of a rank that has it in no graph

  KERF_FIELDS(ranks, what, places)
};
struct DifferingGraphDoc {
  std::string compileId, stage;
  int index = -1;  ///< of the first node that differs; -1: some ranks have no such graph
  std::vector<RankGroupDoc> groups;

  KERF_FIELDS(compileId, stage, index, groups)
};
struct TimelineRowDoc {
  std::int64_t number = 0;
  std::string compileId;  ///< of the first rank that issues it; each rank's own is in its place
  std::vector<RankGroupDoc> groups;

  KERF_FIELDS(number, compileId, groups)
};
struct CulpritDoc {
  std::vector<int> ranks, waiting;
  std::int64_t number = 0;
  std::string collective, mismatch;
  std::vector<RankGroupDoc> lastDone;
  bool isUnfinished = false;  ///< all its ranks issue it, and it ends nowhere
  std::size_t row = 0;        ///< of the timeline
  std::string group = {};     ///< "group '0'"; of messages "0 -> 1 in group 0"

  KERF_FIELDS(ranks, waiting, number, collective, mismatch, lastDone, isUnfinished, row, group)
};
/// A log that ends in the middle.
struct TornLogDoc {
  int rank = 0;
  std::string file;
  int line = 0;           ///< where its last record begins; 0: the log is whole, and ends within a compilation
  std::string compileId;  ///< of that compilation

  KERF_FIELDS(rank, file, line, compileId)
};
struct RanksDoc {
  std::vector<int> ranks;
  std::vector<int> absent;  ///< ranks of which there is no file
  std::vector<DifferingGraphDoc> graphs;
  std::vector<TimelineRowDoc> timeline;
  std::vector<CulpritDoc> culprits;     ///< the first collective that does not meet; none where all do
  std::int64_t uncomparedMessages = 0;  ///< whose other end is in no record, or in one without its first entries
  std::vector<TornLogDoc> torn;         ///< of these ranks nothing is said beyond what their logs have
  std::int64_t comparedGraphs = 0;      ///< 0: flight records alone

  KERF_FIELDS(ranks, absent, graphs, timeline, culprits, uncomparedMessages, torn, comparedGraphs)
};
struct RanksRequest {
  using Answer = RanksDoc;
  static constexpr std::string_view name = "ranks";
  std::string path;

  KERF_FIELDS(path)
};

struct ShardingProofDoc {
  std::string op;
  std::int64_t samples = 0, right = 0, wrong = 0, refused = 0, missing = 0;
  std::vector<std::string> findings;
  std::int64_t complex = 0;       ///< of the samples, those in complex128; 0: the op does not run on complex tensors
  std::vector<std::string> left;  ///< why the op, or how many of the calls that were tried, proves nothing

  KERF_FIELDS(op, samples, right, wrong, refused, missing, findings, complex, left)
};
struct ShardingProofs {
  std::vector<ShardingProofDoc> ops;
  std::chrono::nanoseconds time{};

  KERF_FIELDS(ops, time)
};
struct ShardingCheckRequest {
  using Answer = ShardingProofs;
  static constexpr std::string_view name = "sharding_check";
  std::string pattern;     ///< part of an overload's name, or a pattern with *; empty: all
  std::string recordings;  ///< recorded calls; empty: those that the build knows
  int samples = 4;

  KERF_FIELDS(pattern, recordings, samples)
};

}  // namespace kerf::workbench
