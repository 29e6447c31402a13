// RecordedSide: what a capture brings with it of its nodes' values, and what a file of expected values has.
#pragma once

#include <optional>
#include <string>

#include "app/workbench/captures/graph_source.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

/// A value and where it is recorded: "input x of the capture", "parameter fc.weight", "out0 of mlp_io.safetensors".
struct RecordedValue {
  Value value;
  std::string source;
};

class RecordedSide {
 public:
  /// Of the file `expect`, which must be there; without one of a file beside the capture ("mlp_io.safetensors",
  /// "mlp.out.safetensors" of "mlp.pt2"), which need not be. Errors: those of reading it, at the file.
  static Result<RecordedSide> of(const GraphSource& source, const std::string& expect);

  /// To run on the file's inputs, where it has any and the address gives none; else as runnable().
  Result<RunnableGraph> runnableOnIts(GraphSource source, const Job& job) const;
  /// What is recorded of a node. NotFound saying what could be recorded of it.
  Result<RecordedValue> find(const RunnableGraph& source, NodeId node) const;
  /// The file's path; empty: none.
  const std::string& path() const { return m_path; }

 private:
  std::optional<RecordedValue> ofFile(const GraphSource& source, const Node& node) const;
  std::optional<RecordedValue> ofCapture(const RunnableGraph& source, const Node& node) const;

  std::string m_path;
  SafetensorsFile m_file;
};

}  // namespace kerf::workbench
