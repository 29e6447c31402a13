// Recorded values that the op of their node does not give, as text.
#pragma once

#include <vector>

#include "app/workbench/protocol/annotations.h"

namespace kerf::cli {

/// A line for each, at most ten, and how many more there are.
void printAnnotations(const std::vector<workbench::AnnotationRow>& rows);

}  // namespace kerf::cli
