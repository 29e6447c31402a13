// The request about output code that PyTorch recorded: the program, and which of its lines belong to which nodes.
#pragma once

#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

/// Lines of a program, 0-based and both included, that belong to nodes of the graph that was asked for.
struct CodeSpan {
  enum class Kind {
    Definition,  ///< of a generated kernel, with the comments above it
    Access,      ///< a line inside of one that reads or writes the value of a node
    Call,        ///< of a kernel or an existing function, with the comments above it
  };
  Kind kind = Kind::Call;
  int first = 0, last = 0;
  std::string kernel;              ///< "triton_poi_fused_add_0", "extern_kernels.addmm"
  std::vector<std::string> nodes;  ///< in the order of the graph; of an access those whose value it touches

  KERF_FIELDS(kind, first, last, kernel, nodes)
};
constexpr CodeSpan::Kind lastOf(CodeSpan::Kind) { return CodeSpan::Kind::Call; }

struct RecordedProgram {
  int record = -1;   ///< index in CaptureIndex::records
  std::string name;  ///< of the record: "output_code.py"
  std::string part;  ///< "forward", "backward", "inference"; empty where the code does not say
  std::string text;
  std::vector<CodeSpan> spans;  ///< by their first line, outer ones first
  std::string note;             ///< why lines have no nodes; empty: they have

  KERF_FIELDS(record, name, part, note, spans, text)
};

/// The programs that a graph of a capture became: of a joint graph those of both parts, of a forward graph its own. The
/// nodes of the kernels, which are those of the graph after the post-grad passes, are followed back to the graph. Empty
/// where the capture has no output code of its compilation.
struct RecordedCodeRequest {
  using Answer = std::vector<RecordedProgram>;
  static constexpr std::string_view name = "recorded_code";
  std::string capture;  ///< or a graph of one, "trace.log#aot_joint_graph", without a number
  int graph = 0;        ///< index in CaptureIndex::graphs; -1: `capture` names the graph

  KERF_FIELDS(capture, graph)
};

}  // namespace kerf::workbench
