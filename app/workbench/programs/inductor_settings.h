// What torch._inductor.config of a program says to Kerf's compiler.
#pragma once

#include <string>

#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

/// Options of a compilation by the settings of Inductor, a JSON object of names and values. Names that Kerf's compiler
/// has no counterpart of change nothing. BadInput for text that is no object.
Result<CompileOptions> inductorOptions(const std::string& settings);

}  // namespace kerf::workbench
