// The fault that PyTorch plants by itself: its own minifier is tried with inject_relu_bug_TESTING_ONLY.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline minifier::inline report {

/// What the capture's config has PyTorch plant, as FaultPlan::text() says it: "relu=accuracy"; empty: nothing.
std::string injectedFault(const ReproEnvelope& envelope);
/// `fault` (FaultPlan::text()) unless PyTorch plants it, too: then what runs the repro meets it as well.
std::string faultOfKerfAlone(const std::string& fault, const ReproEnvelope& envelope);

}  // namespace kerf::inline minifier::inline report
