// The one error type of Kerf: a code, a message for people, where it happened, and the trail of who passed it on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "engine/support/fields.h"
#include "engine/support/hint.h"

namespace kerf::inline support {

/// What went wrong, coarse enough to act on. Each code maps to one process exit code (see exitCode()).
enum class ErrorCode : std::uint8_t {
  BadUsage,       ///< the caller asked for something that makes no sense (exit 2)
  BadInput,       ///< a file or value from outside is malformed (exit 2)
  NotFound,       ///< a named file, graph, node or store id does not exist (exit 2)
  UnsupportedOp,  ///< an op that no kernel, shape rule or lowering knows (exit 2)
  ShapeMismatch,  ///< shapes, dtypes or devices of arguments do not fit the op (exit 2)
  TooLarge,       ///< a size, count or nesting depth beyond the documented limits (exit 2)
  CompileFailed,  ///< lowering or code generation refused the graph (exit 1)
  RuntimeFailed,  ///< a kernel reported a failure while running (exit 1)
  Different,      ///< results differ beyond tolerance (exit 1)
  Cancelled,      ///< the user asked to stop (exit 3)
  Environment,    ///< missing program, permission, disk, library (exit 3)
  Internal,       ///< a broken invariant of Kerf itself (exit 3)
};

constexpr ErrorCode lastOf(ErrorCode) { return ErrorCode::Internal; }

/// Stable lower_snake name of a code, as printed in `--json` output ("bad_input").
std::string_view errorCodeName(ErrorCode code);

/// Process exit code of a command that ends with this error: 1, 2 or 3.
int exitCode(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;             ///< one sentence: what is wrong
  std::string file;                ///< the input file, empty if none
  int line = 0;                    ///< 1-based line in `file`, 0 if unknown
  std::string node;                ///< FX node name that the UI can jump to, empty if none
  std::vector<std::string> trail;  ///< outermost context last ("while importing x.py")
  Hint hint;                       ///< what to do, for the door to say in its own words

  // Not inline: nearly every function returns a Result, and the code for these would be most of it.
  Error();
  Error(ErrorCode code, std::string message, std::string file = {}, int line = 0, std::string node = {},
        std::vector<std::string> trail = {});
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(const Error&);
  Error& operator=(Error&&) noexcept;
  ~Error();

  Error& atFile(std::string path, int lineNumber = 0);
  Error& atNode(std::string name);
  Error& while_(std::string context);
  Error& advise(Advice advice, std::string subject = {});
  /// "file:line: node: message (trail)" on one line, without the hint.
  std::string text() const;

  KERF_FIELDS(code, message, file, line, node, trail, hint)
};

/// An error with the formatted message of `fail`.
Error formatError(ErrorCode code, fmt::string_view format, fmt::format_args arguments);

}  // namespace kerf::inline support
