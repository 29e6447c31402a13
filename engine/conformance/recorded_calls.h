// Replays recorded PyTorch op calls (jsonl with a safetensors file beside it) and compares results, strides and
// mutations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline conformance {

struct OverloadConformance {
  std::string op;  ///< "aten.add.Tensor"
  int passed = 0;
  int failed = 0;
  int unsupported = 0;
  std::vector<std::string> failures;  ///< "id: what differs", the first few
  bool complete() const { return failed == 0 && unsupported == 0; }
};

struct OpConformanceReport {
  std::vector<OverloadConformance> overloads;  ///< sorted by name
  int passed = 0;
  int failed = 0;
  int unsupported = 0;
  int completeOverloads() const;
};

/// `path`: a .jsonl file, or a folder with one. Each line: op, args, kwargs, out, mutates, post (the recording's own
/// format). Compared as torch.testing.assert_close does; integers and bools exactly; sizes, strides and dtypes exactly.
/// Recorded arguments are dense copies: strides of a view of an argument that was not dense count as equal when the
/// op's rule gives them for some original that is copied so. BadInput names the line that cannot be read.
Result<OpConformanceReport> checkRecordedCalls(const std::filesystem::path& path);

/// The .jsonl file itself, or the first one in the folder; NotFound if there is none.
Result<std::filesystem::path> recordedCallsFile(const std::filesystem::path& path);

}  // namespace kerf::inline conformance
