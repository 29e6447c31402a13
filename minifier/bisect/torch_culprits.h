// Which backend, pass or option of the user's PyTorch makes a graph fail.
#pragma once

#include "minifier/bisect/culprit_search.h"
#include "minifier/oracle/torch_oracle.h"

namespace kerf::inline minifier::inline bisect {

/// By PyTorch's CompilerBisector. BadInput where PyTorch cannot test the graph; errors of bisectWithTorch.
Result<CulpritReport> torchSubsystemCulprits(TorchOracle& oracle, const Candidate& candidate,
                                             const std::stop_token& stop);

/// By the options that the oracle's capture sets and `more` ("max_autotune=True", "torch._dynamo.config.x=1"). BadUsage
/// where that is none at all, and for one that is no NAME=VALUE; BadInput where PyTorch cannot test the graph.
Result<CulpritReport> torchOptionCulprits(TorchOracle& oracle, const std::vector<std::string>& more,
                                          const Candidate& candidate, const WorkProgress& progress);

}  // namespace kerf::inline minifier::inline bisect
