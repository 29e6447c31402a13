// What a user can do about an error, in the words of the command line.
#pragma once

#include "engine/support/error.h"

namespace kerf::cli {

/// "`kerf ls graphs c3` lists them"; empty where there is no advice.
std::string hintText(const Hint& hint);
/// Prints the error, and what to do about it on a line of its own.
void complainOf(const Error& error);

}  // namespace kerf::cli
