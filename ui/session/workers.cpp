#include "ui/session/workers.h"

#include "app/workbench/protocol/worker_process.h"

namespace kerf::ui::inline session {

namespace {
constexpr std::size_t mostBrowsing = 8;
}

RemotePtr Workers::start() {
  std::erase_if(m_all, [](const auto& worker) { return worker.expired(); });
  auto made = std::make_shared<workbench::RemoteWorkbench>(workbench::workerProgram(), m_store);
  m_all.push_back(made);
  return made;
}

RemotePtr Workers::forBrowsing() {
  auto made = start();
  touch(made);
  return made;
}

void Workers::touch(const RemotePtr& worker) {
  std::erase_if(m_browsing, [&](const auto& known) { return known.expired() || known.lock() == worker; });
  m_browsing.push_back(worker);
  for (auto idle = m_browsing.begin(); m_browsing.size() > mostBrowsing && idle != std::prev(m_browsing.end());) {
    const auto known = idle->lock();
    idle = !known || known->rest() ? m_browsing.erase(idle) : std::next(idle);
  }
}

RemotePtr Workers::forJob() { return start(); }

void Workers::abandonAll() {
  for (const auto& worker : m_all)
    if (const auto known = worker.lock()) known->abandon();
}

}  // namespace kerf::ui::inline session
