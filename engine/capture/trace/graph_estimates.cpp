#include "engine/capture/trace/graph_estimates.h"

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/support/hash.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostOps = 100'000, longestName = 200;

}  // namespace

void takeCollectives(const StoryRecord& record) {
  const std::string payload = record.payload();
  std::vector<std::string> ops;
  std::size_t bytes = 0;
  JsonWalker elements(payload);
  while (ops.size() < mostOps && elements.nextElement()) {
    ops.push_back(jsonText(elements.value(), longestName));
    bytes += ops.back().size() + sizeof(std::string);
  }
  record.add(record.story.collectives, std::move(ops), bytes);
}

void takeEstimates(const StoryRecord& record) {
  const std::string payload = record.payload();
  RuntimeEstimate estimate;
  estimate.line = record.line();
  std::string tensors;
  std::size_t bytes = 0;
  JsonWalker ops(jsonMember(payload, "ops"));
  while (estimate.ops.size() < mostOps && ops.nextElement()) {
    const double time = jsonNumber(jsonMember(ops.value(), "estimated_runtime_ns")).value_or(0);
    estimate.totalNs += time;
    estimate.ops.emplace_back(jsonText(jsonMember(ops.value(), "name"), longestName), time);
    tensors += jsonMember(ops.value(), "outputs");
    bytes += longestName;
  }
  std::erase_if(tensors, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  if (!tensors.empty()) estimate.tensors = hashText(tensors).hex().substr(0, 12);
  record.add(record.story.estimates, std::move(estimate), bytes);
}

void takeExecutionOrder(const StoryRecord& record) {
  const std::string payload = record.payload();
  auto& order = record.log.executions[record.record.origin.rank];
  JsonWalker runs(jsonMember(payload, "graph_execution_order"));
  while (order.size() < mostOps && runs.nextElement()) {
    std::string id = fmt::format("[{}]", jsonText(jsonMember(runs.value(), "compile_id"), longestName));
    if (record.room.take(id.size() + sizeof(std::string))) order.push_back(std::move(id));
  }
}

}  // namespace kerf::inline capture::trace
