// exportPt2: a captured graph as an archive that torch.export.load of PyTorch 2.11 reads (schema 8).
#pragma once

#include <filesystem>

#include "engine/capture/audit/allowed_calls.h"
#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

struct Pt2ExportOptions {
  bool sampleInputs = true;      ///< of a graph that came from no archive: store its inputs' data as example inputs
  ExtraCalls allowedCalls = {};  ///< targets that the audit lets through (audit.h)
  std::vector<std::string>* notes = nullptr;  ///< hears which ops are written as others
};

/// Writes the file through a temporary one beside it. A graph from an archive keeps its signature, weights (copied as
/// they lie), sample inputs and extra files; any other graph takes all of its inputs from the caller, tensors it holds
/// as attributes become constants, and ops that only Inductor registers become ATen's (pt2_stock_ops.h). BadInput,
/// naming the node, for what an exported program cannot hold: calls of methods and modules, Python objects, nodes whose
/// shape or schema is unknown; and for what may not be exported (audit.h): texts that torch.export.load would evaluate,
/// pickles of other things than tensors. Sample inputs of that kind are left out. Environment when writing fails.
Result<void> exportPt2(const CapturedGraph& graph, const std::filesystem::path& path,
                       const Pt2ExportOptions& options = {});

}  // namespace kerf::inline capture
