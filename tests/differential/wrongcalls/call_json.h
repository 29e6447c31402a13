// Calls as JSON, for programs that make them too (PyTorch).
#pragma once

#include <optional>
#include <string>

#include "tests/differential/wrongcalls/call_case.h"

namespace kerf::wrongcalls {

/// One line: op, args, kwargs, the bytes of the tensors' storages, what is wrong, and what the interpreter says.
std::string jsonOf(const CallCase& call, std::string_view refusal);

/// The call of such a line; nothing where it holds what lines do not say (devices), or an op that the table lacks.
std::optional<CallCase> callOfJson(std::string_view line);

}  // namespace kerf::wrongcalls
