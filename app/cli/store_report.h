// The answers about the store as JSON and as text.
#pragma once

#include <cstdint>
#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// "512 B", "3.1 kB", "1.2 GB".
std::string byteText(std::int64_t bytes);

void printInfo(const StoreInfo& info);
void printVerdict(const StoreVerdict& verdict);
void printSwept(const Swept& swept);
/// `verb`: "written to", "added from".
void printCarried(const Carried& carried, const char* verb);

}  // namespace kerf::cli
