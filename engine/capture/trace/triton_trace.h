// tritonparse's log of Triton kernels: a line of JSON for each compilation (TTIR, TTGIR, LLVM IR, PTX, source) and each
// launch, as a capture of records.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Whether the first lines are events of tritonparse.
bool looksLikeTritonTrace(std::string_view head);

/// Every compilation becomes a record `triton_compilation` and one for each of its texts ("add_kernel.ttir"), under the
/// compile id of PyTorch where the log has one; the launches of a kernel become one record `triton_launches`. Lines that
/// are no events are left out, and a note counts them. BadInput where none is one.
Result<Capture> importTritonTrace(std::string_view text, const std::filesystem::path& path,
                                  const ImportLimits& limits = {});

}  // namespace kerf::inline capture
