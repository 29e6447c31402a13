// A step of two recordings as a graph of its own: run in float64 beside what both recorded, written as a repro, minified.
#pragma once

#include <filesystem>

#include "app/workbench/align/open_recording.h"
#include "app/workbench/protocol/alignment.h"
#include "engine/align/alignment.h"
#include "engine/align/step_graph.h"

namespace kerf::workbench {

/// Two opened recordings whose steps are named after nodes.
class RecordedSteps {
 public:
  RecordedSteps(const OpenedRecording& a, const OpenedRecording& b);

  /// Where the pair's last step is a node of a recorded graph.
  struct Place {
    const OpenedRecording::NamedModule* graph = nullptr;
    std::string node;
  };
  std::optional<Place> placeOf(const AlignedPair& pair) const;
  /// The step with the values of the first recording. NotFound where no graph or no value is recorded; UnsupportedOp for
  /// one that draws random numbers; errors of stepGraph().
  Result<StepGraph> graphOf(const AlignedPair& pair) const;
  /// The same with the values of the second.
  Result<StepGraph> graphOfB(const AlignedPair& pair) const;
  /// What both recorded of the result; none where one of them has no values.
  std::optional<std::pair<Tensor, Tensor>> results(const AlignedPair& pair) const;

 private:
  using StepsByName = std::unordered_map<std::string_view, const RunStep*>;
  Result<StepGraph> graphWith(const StepsByName& values, const AlignedPair& pair) const;

  const OpenedRecording &m_a, &m_b;
  StepsByName m_byNameA, m_byNameB;
};

/// In a child process.
Fp64Distance fp64Distance(Workbench& bench, const StepGraph& step, const std::pair<Tensor, Tensor>& results,
                          const Job& job);

/// Writes the step into `folder`; the path of its repro.py.
Result<std::filesystem::path> writeStepRepro(const StepGraph& step, const std::filesystem::path& folder);

}  // namespace kerf::workbench
