#include "minifier/core/run_copy.h"

#include <algorithm>

#include "engine/accuracy/own_attributes.h"
#include "engine/ops/core/memory_writes.h"
#include "minifier/core/copied_values.h"

namespace kerf::inline minifier::inline core {

Result<RunCopy> runCopy(const Candidate& candidate) {
  const MemoryWrites writes = memoryWrites(candidate.module);
  std::vector<std::string> written;
  for (const auto& [path, answer] : writes.attributes) written.push_back(path);
  RunCopy copy{.module = {}, .inputs = candidate.inputs};
  KERF_TRY(copy.module, withOwnAttributes(candidate.module, written));
  if (std::ranges::any_of(writes.placeholders, [](auto answer) { return answer != MemoryWrites::Answer::No; })) {
    KERF_TRY(copy.inputs, copyInputs(candidate.inputs));
  }
  return copy;
}

}  // namespace kerf::inline minifier::inline core
