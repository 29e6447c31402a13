// Stages: what one compilation left behind, graph by graph, with how far each is from the one before it; and what each
// of Kerf's passes changed.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/difference.h"

namespace kerf::workbench {

/// How a graph differs from the one before it, in nodes.
struct ChangeCounts {
  int added = 0, removed = 0;
  int rewritten = 0;  ///< of the later graph: parts of rewrites
  int changed = 0;    ///< calls with other arguments
  int renamed = 0;

  bool any() const { return added + removed + rewritten + changed > 0; }

  KERF_FIELDS(added, removed, rewritten, changed, renamed)
};

/// A graph that PyTorch recorded.
struct RecordedStageDoc {
  int graph = -1;            ///< index in CaptureIndex::graphs
  std::string name, title;   ///< "inductor_post_grad_graph[0/0]", "forward, after post-grad passes"
  std::string part;          ///< "forward", "backward", "inference"; empty before the partition
  int parent = -1;           ///< place of the stage that it came from; -1: the first
  int nodes = -1;            ///< -1: the graph cannot be read
  double milliseconds = -1;  ///< that PyTorch took from the stage before; -1: not recorded
  ChangeCounts changes;
  std::string failure;  ///< why it cannot be read, or not be compared

  KERF_FIELDS(graph, name, title, part, parent, nodes, milliseconds, changes, failure)
};

/// Output code that PyTorch recorded.
struct RecordedCodeDoc {
  int record = -1;  ///< index in CaptureIndex::records
  std::string part;
  int parent = -1;  ///< place of the stage that was lowered; -1: not known
  int kernels = 0;
  double milliseconds = -1;

  KERF_FIELDS(record, part, parent, kernels, milliseconds)
};

struct RecordedStages {
  std::vector<RecordedStageDoc> stages;  ///< in the order of compilation, the backward part behind the forward part
  std::vector<RecordedCodeDoc> code;

  KERF_FIELDS(stages, code)
};
/// The stages of the compilation that made a graph of a capture; the graph alone where none is known.
struct RecordedStagesRequest {
  using Answer = RecordedStages;
  static constexpr std::string_view name = "recorded_stages";
  std::string capture;
  int graph = 0;  ///< index in CaptureIndex::graphs

  KERF_FIELDS(capture, graph)
};

struct PassDifference {
  int pass = 0;  ///< index in CompileDoc::passes
  GraphDifference difference;

  KERF_FIELDS(pass, difference)
};
/// What each pass that changed the graph did to it, AOTAutograd's stages included. Runs the passes in a child.
struct PassDifferencesRequest {
  using Answer = std::vector<PassDifference>;
  static constexpr std::string_view name = "pass_differences";
  GraphAddress graph;

  KERF_FIELDS(graph)
};

}  // namespace kerf::workbench
