#include "ui/session/session.h"

#include <algorithm>

#include <QFileInfo>

#include "ui/session/capture_doc.h"
#include "ui/session/graph_state.h"
#include "ui/session/worker_jobs.h"

namespace kerf::ui::inline session {

Session::Session(QObject* parent) : QObject(parent) {
  connect(&m_jobs, &JobQueue::busyChanged, this, &Session::busyChanged);
  m_loading.setInterval(100);
  connect(&m_loading, &QTimer::timeout, this, [this] {
    if (std::ranges::none_of(m_captures, [](const auto& item) { return item.second->loading; })) m_loading.stop();
    emit loadingProgressed();
  });
}

Session::~Session() = default;

void Session::open(const QStringList& paths) {
  m_showNext = true;
  for (const auto& path : paths) openPath(path);
}

/// What was refused before is tried again; what is open already is shown.
void Session::openPath(const QString& path) {
  const auto absolute = QFileInfo(path).absoluteFilePath();
  const auto known = std::ranges::find_if(m_captures, [&](const auto& item) { return item.second->path == absolute; });
  if (known != m_captures.end()) {
    const auto doc = known->second;
    if (doc->loading) return;
    if (doc->error.isEmpty()) return go({doc->id, 0, Location::Stage::Captured, -1, {}});
    close(doc->id);
  }
  auto doc = std::make_shared<CaptureDoc>();
  const int id = doc->id = m_nextId++;
  doc->path = absolute;
  doc->loading = true;
  const auto percent = doc->percent = std::make_shared<std::atomic<int>>(0);
  m_captures[id] = doc;
  m_loading.start();
  emit capturesChanged();
  m_jobs.submit<std::vector<OpenedCapture>>(
      "open:" + QString::number(id),
      [absolute, percent](std::stop_token stop) { return openCaptures(absolute, percent, stop); },
      [this, id](std::vector<OpenedCapture> result) { opened(id, std::move(result)); });
}

/// The first capture takes the place of the entry that was loading; a folder's others follow.
void Session::opened(int id, std::vector<OpenedCapture> result) {
  int next = id;
  for (auto& item : result) {
    auto doc = std::make_shared<CaptureDoc>(*item.document);
    doc->id = next;
    m_captures[next] = doc;
    if (item.capture) m_sources[next] = std::move(item.capture);
    next = m_nextId;
    if (&item != &result.back()) ++m_nextId;
  }
  emit capturesChanged();
  const auto first = capture(id);
  if (!first->error.isEmpty())
    return emit failed(tr("Cannot open %1").arg(QFileInfo(first->path).fileName()), first->error);
  if (!m_showNext || first->graphs.empty()) return;
  m_showNext = false;
  go({id, 0, Location::Stage::Captured, -1, {}});
}

void Session::showRecord(int capture, int record) {
  const auto source = m_sources.find(capture);
  if (source == m_sources.end()) return;
  m_jobs.submit<RecordDocPtr>(
      "record",
      [capture, record, source = source->second](std::stop_token) { return readRecord(capture, *source, record); },
      [this](RecordDocPtr document) {
        m_record = std::move(document);
        emit recordChanged();
      });
}

void Session::reload() {
  const auto doc = capture(m_location.capture);
  if (!doc) return;
  const auto path = doc->path;
  close(doc->id);
  open({path});
}

void Session::close(int capture) {
  m_jobs.cancel("open:" + QString::number(capture));
  std::erase_if(m_states, [&](const auto& item) { return item.first.first == capture; });
  m_captures.erase(capture);
  m_sources.erase(capture);
  if (m_record && m_record->capture == capture) {
    m_record = nullptr;
    emit recordChanged();
  }
  emit capturesChanged();
  if (m_location.capture != capture) return;
  m_location = {};
  m_graph = nullptr;
  m_node = -1;
  emit locationChanged();
  emit graphChanged();
  emit nodeChanged();
  emit compiledChanged();
  emit accuracyChanged();
  emit minifyChanged();
}

std::vector<CaptureDocPtr> Session::captures() const {
  std::vector<CaptureDocPtr> list;
  for (const auto& [id, doc] : m_captures) list.push_back(doc);
  return list;
}

CaptureDocPtr Session::capture(int id) const {
  const auto found = m_captures.find(id);
  return found == m_captures.end() ? nullptr : found->second;
}

GraphState* Session::state(Key key) const {
  const auto found = m_states.find(key);
  return found == m_states.end() ? nullptr : found->second.get();
}

GraphState* Session::state() const { return state(key()); }

CompileDocPtr Session::compiled() const { return state() ? state()->compiled : nullptr; }
AccuracyDocPtr Session::accuracy() const { return state() ? state()->accuracy : nullptr; }
MinifyDocPtr Session::minified() const { return state() ? state()->minified : nullptr; }

const NodeDoc* Session::nodeDoc() const {
  return m_graph && m_node >= 0 ? &m_graph->nodes[std::size_t(m_node)] : nullptr;
}

bool Session::busy() const {
  if (m_jobs.busy()) return true;
  return std::any_of(m_states.begin(), m_states.end(), [](const auto& item) {
    return (item.second->accuracy && item.second->accuracy->running) ||
           (item.second->minify && item.second->minify->running());
  });
}

void Session::exportTo(const QString& directory) {
  const auto source = m_sources.find(m_location.capture);
  if (source == m_sources.end() || !state() || !state()->captured) return;
  m_jobs.submit<ExportOutcome>(
      "export",
      [capture = source->second, graph = state()->captured, directory](std::stop_token) {
        return exportGraph(*capture, *graph, directory);
      },
      [this](ExportOutcome outcome) {
        if (outcome.error.isEmpty()) return emit exported(outcome.path);
        emit failed(tr("Export failed"), outcome.error);
      });
}

void Session::exportMinified(const QString& directory) {
  const auto doc = minified();
  if (!doc || doc->reproPath.isEmpty()) return;
  m_jobs.submit<ExportOutcome>(
      "export",
      [from = QFileInfo(doc->reproPath).absolutePath(), directory](std::stop_token) {
        return copyRepro(from, directory);
      },
      [this](ExportOutcome outcome) {
        if (outcome.error.isEmpty()) return emit exported(outcome.path);
        emit failed(tr("Export failed"), outcome.error);
      });
}

}  // namespace kerf::ui::inline session
