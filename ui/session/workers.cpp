#include "ui/session/workers.h"

#include "app/workbench/protocol/worker_process.h"

namespace kerf::ui::inline session {

namespace {
constexpr std::size_t mostBrowsing = 8;
constexpr int mostFarewells = 32;  ///< at once; all they do is wait
}  // namespace

Workers::Workers() { m_farewells.setMaxThreadCount(mostFarewells); }

RemotePtr Workers::start() {
  std::erase_if(m_all, [](const auto& worker) { return worker.expired(); });
  const auto end = [this](workbench::RemoteWorkbench* worker) {
    worker->hangUp();
    m_farewells.start([worker] { delete worker; });
  };
  const RemotePtr made(new workbench::RemoteWorkbench(workbench::workerProgram(), m_store), end);
  m_all.push_back(made);
  return made;
}

RemotePtr Workers::forBrowsing() {
  auto made = start();
  touch(made);
  return made;
}

/// Idle ones are let go off this thread, since that takes until they have ended.
void Workers::touch(const RemotePtr& worker) {
  std::erase_if(m_browsing, [&](const auto& known) { return known.expired() || known.lock() == worker; });
  m_browsing.push_back(worker);
  for (auto idle = m_browsing.begin(); m_browsing.size() > mostBrowsing && idle != std::prev(m_browsing.end());) {
    m_farewells.start([known = *idle] {
      if (const auto worker = known.lock()) (void)worker->rest();
    });
    idle = m_browsing.erase(idle);
  }
}

RemotePtr Workers::forJob() { return start(); }

void Workers::hangUpAll() {
  for (const auto& worker : m_all)
    if (const auto known = worker.lock()) known->hangUp();
}

}  // namespace kerf::ui::inline session
