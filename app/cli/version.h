// What this kerf was built with.
#pragma once

#include <string>

namespace kerf::cli {

/// Kerf's version, store schema, and each component, found or not.
std::string versionText();
/// "0.1.0"
std::string versionNumber();

}  // namespace kerf::cli
