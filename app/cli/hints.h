// What a user can do about an error, in the words of the command line.
#pragma once

#include <string_view>

#include "engine/support/error.h"

namespace kerf::cli {

/// Of a program that was taken for a graph.
inline constexpr std::string_view whatCapturingDoes = "it runs the program in a sandbox and captures what it compiles";

/// "`kerf ls graphs c3` lists them"; empty where there is no advice.
std::string hintText(const Hint& hint);
/// Prints the error, and what to do about it on a line of its own.
void complainOf(const Error& error);

}  // namespace kerf::cli
