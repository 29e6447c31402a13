// Names that builtins are bound under: of functions, of methods, of the modules of torch._C.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kerf::inline torch_api {

/// Names of ATen ops, without module and overload: "add", "linalg_norm".
const std::set<std::string, std::less<>>& functionNames();
/// Those whose first argument is a tensor called self: methods.
const std::set<std::string, std::less<>>& methodNames();

}  // namespace kerf::inline torch_api
