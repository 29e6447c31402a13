// Comparison reports as bytes, to pass them out of a candidate process. NaN and infinities survive.
#pragma once

#include <string>
#include <string_view>

#include "engine/accuracy/same_two_models.h"

namespace kerf::inline minifier::inline oracle {

std::string encodeReport(const ComparisonReport& report);
/// Internal if the bytes are no report.
Result<ComparisonReport> decodeReport(std::string_view bytes);

}  // namespace kerf::inline minifier::inline oracle
