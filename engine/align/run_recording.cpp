#include "engine/align/run_recording.h"

#include <unordered_map>

#include <fmt/ranges.h>

namespace kerf::inline align {

std::int64_t StepValue::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

std::string StepValue::text() const { return fmt::format("{}[{}]", dtype, fmt::join(shape, ", ")); }

std::string baseOpName(std::string_view op) {
  for (const std::string_view prefix : {"torch.ops.", "<built-in method ", "<built-in function "})
    if (op.starts_with(prefix)) op.remove_prefix(prefix.size());
  const auto colons = op.find("::");
  const std::string_view space = op.substr(0, colons == std::string_view::npos ? op.find('.') : colons);
  if (space.size() == op.size()) return std::string(op);
  std::string_view rest = op.substr(space.size() + (colons == std::string_view::npos ? 1 : 2));
  // "torch.nn.functional.linear" keeps its modules: only what ATen's namespaces hold has overloads.
  if (colons == std::string_view::npos && space == "torch") return std::string(op);
  rest = rest.substr(0, rest.find('.'));
  return fmt::format("{}.{}", space, rest);
}

std::string_view shortOpName(std::string_view op) { return op.substr(op.rfind('.') + 1); }

bool writesInPlace(std::string_view base) {
  const std::string_view name = shortOpName(base);
  return name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
}

bool namesValue(std::string_view hash) { return !hash.empty() && !hash.ends_with(":0"); }

void nameSteps(RunRecording& recording) {
  std::unordered_map<std::string, int> seen;
  for (RunStep& step : recording.steps) step.name = fmt::format("{} #{}", step.op, ++seen[step.op]);
}

}  // namespace kerf::inline align
