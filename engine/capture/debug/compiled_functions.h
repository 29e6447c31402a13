// Folders with one file for each graph of a compiled function, as depyf and vLLM leave them:
// "__compiled_fn_1.AFTER_POST_GRAD.0.py", "__transformed_code_0_for_f.py", "full_code_for_f_0.py".
#pragma once

#include <optional>
#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// What such a file is called.
struct CompiledFunctionFile {
  std::string function;  ///< "__compiled_fn_1"
  std::string stage;     ///< "AFTER_POST_GRAD", blanks as underscores
  std::int64_t number = 0;
};
/// None for other names. Older versions write blanks or underscores between the parts.
std::optional<CompiledFunctionFile> compiledFunctionFile(const std::string& name);

/// Whether the folder, or its folders of ranks, hold such files.
bool isCompiledFunctionDump(const std::filesystem::path& directory);
/// One capture: each function a compilation, its files the stages; other files as records.
Result<Capture> importCompiledFunctions(const std::filesystem::path& directory, const ImportLimits& limits,
                                        const ImportProgress& progress);

}  // namespace kerf::inline capture
