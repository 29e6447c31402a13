// What goes between a job and its search: events out, wishes in.
#pragma once

#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/job_control.h"
#include "minifier/core/minify.h"
#include "minifier/core/minify_control.h"

namespace kerf::workbench {

class ReductionLog;

MinifyWorkEvent workEvent(const MinifyActivity& activity);
/// With the counts of the reduction that `log` keeps, of which this search may be a later part.
MinifyEvent minifyEvent(const MinifyProgress& progress, const ReductionLog& log);

/// While it lives, what a person wishes of the job is passed on to its search.
class SearchWishes {
 public:
  explicit SearchWishes(const Job& job) : m_job(job.control) {
    if (m_job) m_job->listen([this](const ControlMessage& message) { obey(message); });
  }
  ~SearchWishes() {
    if (m_job) m_job->listen({});
  }
  SearchWishes(const SearchWishes&) = delete;
  SearchWishes& operator=(const SearchWishes&) = delete;
  /// Null where nobody can wish anything: to be able to go back costs the memory of all steps.
  MinifyControl* search() { return m_job ? &m_search : nullptr; }

 private:
  void obey(const ControlMessage& message) {
    if (message.wish == ControlMessage::Wish::Undo) return m_search.undoTo(message.step);
    return message.wish == ControlMessage::Wish::Pause ? m_search.pause() : m_search.resume();
  }
  std::shared_ptr<JobControl> m_job;
  MinifyControl m_search;
};

}  // namespace kerf::workbench
