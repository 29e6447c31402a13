// cleanEnvironment(): what a program is told of its surroundings when it is not to see all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline process {

/// Whether a variable is on the allowlist: where programs, libraries, Python, compilers and devices are, language and
/// time zone. Nothing that may hold a token, a password or the address of an agent.
bool isHarmlessVariable(std::string_view name);

/// "NAME=VALUE" of all of this process's variables.
std::vector<std::string> wholeEnvironment();

/// The same of those that are on the allowlist or in `kept`.
std::vector<std::string> cleanEnvironment(const std::vector<std::string>& kept);

}  // namespace kerf::inline process
