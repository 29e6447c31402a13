// An alignment of two recordings as text.
#pragma once

#include <string>

#include "app/workbench/protocol/alignment.h"

namespace kerf::cli {

std::string alignmentText(const workbench::AlignDoc& doc, bool exact);

}  // namespace kerf::cli
