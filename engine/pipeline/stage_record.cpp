#include "engine/pipeline/stage_record.h"

#include "engine/support/log.h"

namespace kerf::inline pipeline {

Result<void> StageRecorder::finish(StageRecord record, const Graph& before, const Graph& after) {
  record.time = std::chrono::steady_clock::now() - m_start;
  record.nodesBefore = before.size();
  record.nodesAfter = after.size();
  if (m_listener) {
    record.before = std::make_shared<const Graph>(before);
    record.after = std::make_shared<const Graph>(after);
  }
  add(std::move(record));
  restart();
  if (m_stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped after {}", m_records.back().title());
  return {};
}

void StageRecorder::add(StageRecord record) {
  logAt(LogCategory::Compile, LogLevel::Debug, "{}: {:.3f} ms", record.title(), double(record.time.count()) / 1e6);
  if (m_listener) m_listener(record);
  record.before = record.after = nullptr;
  m_records.push_back(std::move(record));
}

}  // namespace kerf::inline pipeline
