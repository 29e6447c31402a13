// bisectWithTorch(): PyTorch's CompilerBisector, every trial in a fork of the warm worker.
#pragma once

#include "minifier/oracle/torch_oracle.h"

namespace kerf::inline minifier::inline oracle {

/// One run of the graph with a backend, or with a part of one off or limited to its first steps.
struct TorchTrial {
  std::string backend;    ///< "eager", "aot_eager", "inductor"
  std::string subsystem;  ///< "post_grad_passes", "lowerings"; empty: all of the backend
  std::string state;      ///< "test_disable": without it; "find_max_bounds": counting its steps; "bisect"
  int steps = -1;         ///< of its steps, so many and one are on; negative: all or none
  bool same = true;
  std::string detail;
};

struct TorchCulprit {
  std::string backend, subsystem;  ///< as above; subsystem is empty where none is known
  int step = -1;                   ///< the first of its steps with which the graph fails; negative: not counted
  std::string info;                ///< what PyTorch says of that step, a node for example
};

struct TorchBisection {
  bool fails = false;
  std::string why;  ///< where it does not fail: why it cannot be tested; empty: it passes
  std::optional<TorchCulprit> culprit;
  std::vector<TorchTrial> trials;
};

/// Nothing is left in the user's caches. Errors: as TorchOracle::answer; Internal for an answer that is none.
Result<TorchBisection> bisectWithTorch(TorchOracle& oracle, const Candidate& candidate, const std::stop_token& stop);

/// Reads the worker's line of JSON. Internal when it is none.
Result<TorchBisection> parseTorchBisection(std::string_view json);

}  // namespace kerf::inline minifier::inline oracle
