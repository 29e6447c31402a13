// What `kerf run` prints of a graph: where its inputs come from, and what its kernels take.
#pragma once

#include <string>
#include <vector>

#include "app/cli/context.h"
#include "app/workbench/protocol/runs.h"

namespace kerf::cli {

// Where the inputs of a graph come from, as text and JSON.

/// One line per input: name, value, source, why.
std::string inputsText(const std::vector<InputRow>& rows);

// Tables of kernel times, for people and as JSON.

/// {"ms", "copy_gb_s", "product_gflop_s", "roof_ms", "planned_bytes", "peak_bytes", "kernels": [{"kernel", "kind",
/// "nodes", "ms", "bytes", "flops", "share"}]}
Json profileJson(const KernelProfile& profile);
void printProfile(const KernelProfile& profile);

/// {"planned_peak_bytes", "peak_bytes", "steps": [{"kernel", "nodes", "planned_bytes", "live_bytes", "peak_bytes"}]}
Json memoryJson(const KernelProfile& profile);
/// The steps at which the bytes in use turn, with a bar each.
void printMemory(const KernelProfile& profile);

}  // namespace kerf::cli
