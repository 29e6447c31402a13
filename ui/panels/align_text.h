// What is said of two recordings of runs.
#pragma once

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

/// "Different: the first step with equal inputs and unequal results is relu  ·  12 pairs: 9 the same, …".
QString alignmentHeadline(const AlignmentDoc& alignment);
/// The steps of a pair, why they belong together, and what was recorded of their values.
QString alignedRowHtml(const workbench::AlignedRow& row);

}  // namespace kerf::ui::inline panels
