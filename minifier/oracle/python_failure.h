// Python failures: what of a traceback tells one bug from another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline minifier::inline oracle {

struct PythonFailure {
  std::string exception;            ///< class without its module: "ValueError"
  std::string message;              ///< as it was raised, several lines
  std::vector<std::string> frames;  ///< names of functions, innermost first
};

/// The last traceback that a program has printed: the exception that ended it. Nothing if there is none.
std::optional<PythonFailure> lastTraceback(std::string_view errors);

/// The line of a message that names the bug: a compiler's first "error: …", the end of what Triton's compiler says,
/// else the first line with something in it. PyTorch's "target: aten.mm.default", where a lowering failed, is added.
std::string tellingLine(std::string_view message);

/// The line of a program's errors that tells most where no exception was raised: the last one that is no warning.
std::string lastTellingLine(std::string_view errors);

/// "ValueError:masked telling line@function", where the function is the innermost frame: what raises stays, its callers
/// change with the graph. A part that is missing is left out.
std::string pythonFingerprint(const PythonFailure& failure);

}  // namespace kerf::inline minifier::inline oracle
