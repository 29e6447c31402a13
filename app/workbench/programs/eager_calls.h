// The Python that runs a recorded program's calls and describes what they give.
#pragma once

#include <string_view>

namespace kerf::workbench {

/// resources/programs/eager_calls.py: defines _kerf_run(compiled).
std::string_view eagerCalls();

}  // namespace kerf::workbench
