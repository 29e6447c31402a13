#include "engine/capture/trace/graph_estimates.h"

#include <algorithm>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/support/hash.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostOps = 100'000, longestName = 200;
constexpr std::int64_t longestCode = 16 << 20;

bool isWait(std::string_view op) { return op.find("wait_tensor") != std::string_view::npos; }

/// "torch.ops._c10d_functional.all_reduce_.default(" in lines that are no comments.
void countCalls(std::string_view program, CollectiveSchedule& schedule) {
  constexpr std::string_view mark = "c10d_functional.";
  schedule.called = schedule.waited = 0;
  while (!program.empty()) {
    std::string_view line = firstLineOf(program);
    program.remove_prefix(std::min(program.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    for (std::size_t at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1)) {
      const std::string_view call = line.substr(at + mark.size());
      const std::string_view name = call.substr(0, call.find('.'));
      if (call.substr(name.size()).starts_with(".default(")) ++(isWait(name) ? schedule.waited : schedule.called);
    }
  }
}

}  // namespace

void takeCollectives(const StoryRecord& record) {
  const std::string payload = record.payload();
  CollectiveSchedule schedule;
  schedule.direction = record.direction;
  schedule.line = record.line();
  std::size_t bytes = 0;
  JsonWalker elements(payload);
  while (schedule.ops.size() < mostOps && elements.nextElement()) {
    schedule.ops.push_back(jsonText(elements.value(), longestName));
    bytes += schedule.ops.back().size() + sizeof(std::string);
  }
  record.add(record.story.collectives, std::move(schedule), bytes);
}

void countCollectives(CompileLog& log, const CaptureDetails& details) {
  for (CompileStory& story : log.compiles) {
    std::map<std::string, std::size_t> next;  // the code of a schedule is the next one of its direction
    for (const LoggedCode& code : story.codes) {
      if (!code.isOutput) continue;
      std::size_t skip = next[code.direction]++;
      for (CollectiveSchedule& schedule : story.collectives) {
        if (schedule.direction != code.direction || skip-- > 0) continue;
        if (const auto text = details.records[code.record].text(longestCode)) countCalls(*text, schedule);
        break;
      }
    }
  }
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
    if (record.budget.take(id.size() + sizeof(std::string))) order.push_back(std::move(id));
  }
}

}  // namespace kerf::inline capture::trace

namespace kerf::inline capture {

std::int64_t CollectiveSchedule::waits() const { return std::ranges::count_if(ops, trace::isWait); }
std::int64_t CollectiveSchedule::scheduled() const { return std::ssize(ops) - waits(); }
std::int64_t CollectiveSchedule::unwaited() const {
  return std::max<std::int64_t>(0, called >= 0 ? called - waited : scheduled() - waits());
}

}  // namespace kerf::inline capture
