#include "ui/session/session.h"

#include <algorithm>

#include <QFileInfo>

#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

constexpr std::chrono::milliseconds scrubPause{350};  ///< passes of a graph run only where somebody stays so long
constexpr std::chrono::milliseconds blink{150};       ///< so long nobody notices that the old graph is still listed
constexpr std::int64_t mostRecordBytes = 8 << 20;

/// A file's full path; a name of the store as it is.
QString placeOf(const QString& path) {
  const bool isStored = !QFileInfo::exists(path) && isStoreName(path);
  return isStored ? path : QFileInfo(path).absoluteFilePath();
}

ShownRecordPtr shownRecord(int capture, int index, const Result<workbench::RecordDoc>& result) {
  auto shown = std::make_shared<ShownRecord>();
  shown->capture = capture;
  shown->index = index;
  if (!result) {
    shown->title = Session::tr("Record");
    shown->text = windowText(result.error());
    return shown;
  }
  const auto& entry = result->entry;
  shown->title = text(entry.name.empty() ? entry.kind : entry.name);
  shown->detail = QFileInfo(text(entry.file)).fileName() + QString(":%1").arg(entry.line);
  if (!entry.compileId.empty()) shown->detail += "  ·  " + text(entry.compileId);
  if (!entry.name.empty() && entry.name != entry.kind) shown->detail += "  ·  " + text(entry.kind);
  shown->text = text(result->text);
  return shown;
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {
  connect(&m_jobs, &JobQueue::busyChanged, this, &Session::busyChanged);
  connect(this, &Session::capturesChanged, this, &Session::reachWanted);
  m_loading.setInterval(100);
  connect(&m_loading, &QTimer::timeout, this, [this] {
    if (std::ranges::none_of(m_captures, [](const auto& item) { return item.second->loading; })) m_loading.stop();
    emit loadingProgressed();
  });
  m_left.setSingleShot(true);
  m_left.setInterval(blink);
  connect(&m_left, &QTimer::timeout, this, &Session::showNothing);
  m_compileSoon.setSingleShot(true);
  m_compileSoon.setInterval(scrubPause);
  connect(&m_compileSoon, &QTimer::timeout, this, [this] {
    if (state() && state()->document) compile();
    emit busyChanged();
  });
}

/// Nobody waits for an answer any more: with their conversations the jobs end, and all workers at the same time.
Session::~Session() {
  m_jobs.stopAll();
  m_workers.hangUpAll();
}

void Session::setStorePath(const QString& path) { m_workers.setStore(path); }

void Session::open(const QStringList& paths, bool show) {
  m_showNext = show;
  for (const auto& path : paths) openNamed(placeOf(path).toStdString());
}

/// What was refused before is tried again; what is open already is shown.
void Session::openNamed(const std::string& name) {
  const auto known = std::ranges::find_if(m_captures, [&](const auto& item) { return item.second->name == name; });
  if (known != m_captures.end()) {
    const auto doc = known->second;
    if (doc->loading) return;
    if (doc->error.empty() && doc->graphs.empty() && hasPage(doc->id)) return showGraphless(doc->id);
    if (doc->error.empty()) return go({doc->id, 0, Location::Stage::Captured, -1, {}});
    close(doc->id);
  }
  auto doc = std::make_shared<CaptureDoc>();
  const int id = doc->id = m_nextId++;
  doc->name = doc->path = name;
  doc->loading = true;
  const auto percent = doc->percent = std::make_shared<std::atomic<int>>(0);
  m_captures[id] = doc;
  m_browsers[id] = m_workers.forBrowsing();
  m_loading.start();
  emit capturesChanged();
  m_jobs.submit<Result<std::vector<workbench::CaptureIndex>>>(
      "open:" + QString::number(id),
      [worker = m_browsers[id], name = doc->name, percent](std::stop_token stop) {
        const auto follow = [percent](const workbench::JobEvent& event) {
          if (const auto* step = std::get_if<workbench::ProgressEvent>(&event)) percent->store(int(step->done * 100));
        };
        return worker->perform(workbench::OpenRequest{name}, {follow, stop});
      },
      [this, id](Result<std::vector<workbench::CaptureIndex>> result) { opened(id, std::move(result)); });
}

/// The first capture takes the place of the entry that was loading; a folder's others follow.
void Session::opened(int id, Result<std::vector<workbench::CaptureIndex>> result) {
  if (!result) {
    auto refused = std::make_shared<CaptureDoc>(*m_captures[id]);
    refused->loading = false;
    refused->error = windowText(result.error()).toStdString();
    m_captures[id] = refused;
    emit capturesChanged();
    emit failed(tr("Cannot open %1").arg(QFileInfo(text(refused->path)).fileName()), text(refused->error));
    if (workbench::mayBeProgram(result.error())) emit programMet(QString::fromStdString(refused->path));
    return;
  }
  int next = id;
  for (auto& index : *result) {
    auto doc = std::make_shared<CaptureDoc>();
    static_cast<workbench::CaptureIndex&>(*doc) = std::move(index);
    doc->id = next;
    m_captures[next] = doc;
    m_browsers[next] = m_browsers[id];
    next = m_nextId;
    if (&index != &result->back()) ++m_nextId;
  }
  emit capturesChanged();
  if (m_showNext && capture(id)->graphs.empty() && hasPage(id)) return showGraphless(id);
  if (!m_showNext || capture(id)->graphs.empty()) return;
  m_showNext = false;
  go({id, 0, Location::Stage::Captured, -1, {}});
}

RemotePtr Session::browser(int capture) {
  const auto worker = m_browsers.at(capture);
  m_workers.touch(worker);
  return worker;
}

void Session::showRecord(int capture, int record) {
  const auto doc = this->capture(capture);
  if (!doc || doc->loading) return;
  const workbench::RecordRequest request{doc->name, record, workbench::RecordRequest::Form::Indented, mostRecordBytes};
  m_jobs.submit<Result<workbench::RecordDoc>>(
      "record",
      [worker = browser(capture), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, capture, record](const Result<workbench::RecordDoc>& result) {
        m_record = shownRecord(capture, record, result);
        emit recordChanged();
      });
}

FusionRowsPtr Session::fusion(int capture) const {
  const auto found = m_fusion.find(capture);
  return found == m_fusion.end() ? nullptr : found->second;
}

void Session::findFusion(int capture) {
  const auto doc = this->capture(capture);
  const QString job = "fusion:" + QString::number(capture);
  if (!doc || doc->loading || !doc->error.empty() || fusion(capture) || m_jobs.busy(job)) return;
  m_jobs.submit<Result<std::vector<FusionRow>>>(
      job,
      [worker = browser(capture), request = workbench::FusionRequest{doc->name}](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, capture](Result<std::vector<FusionRow>> result) {
        if (!this->capture(capture)) return;
        if (!result) emit noted(windowText(result.error()));
        m_fusion[capture] =
            std::make_shared<const std::vector<FusionRow>>(result ? std::move(*result) : std::vector<FusionRow>());
        emit fusionChanged();
      });
}

/// The planted fault stays planted.
void Session::reload() {
  const auto doc = capture(m_location.capture);
  if (!doc) return;
  const auto plant = this->plant();
  close(doc->id);
  if (!plant.isEmpty()) m_plants[doc->name] = plant;
  m_showNext = true;
  openNamed(doc->name);
}

void Session::close(int capture) {
  const auto doc = this->capture(capture);
  if (!doc) return;
  m_jobs.cancel("open:" + QString::number(capture));
  m_jobs.cancel("fusion:" + QString::number(capture));
  m_jobs.cancel("ranks:" + QString::number(capture));
  if (m_location.capture == capture) m_jobs.cancel("compile");
  for (const auto& [key, known] : m_states)
    for (const char* work : {"compare", "bisect", "minify", "candidate", "guards"})
      if (key.capture == capture) m_jobs.cancel(jobKey(work, key));
  if (m_compiler) {
    m_jobs.submit<Result<workbench::Done>>(
        "forget:" + QString::number(capture),
        [worker = m_compiler, name = doc->name](std::stop_token stop) {
          return worker->perform(workbench::CloseRequest{name}, {{}, stop});
        },
        [](const Result<workbench::Done>&) {});
  }
  std::erase_if(m_states, [&](const auto& item) { return item.first.capture == capture; });
  m_captures.erase(capture);
  m_plants.erase(doc->name);
  m_logs.erase(capture);
  m_programs.erase(capture);
  m_jobs.cancel("log:" + QString::number(capture));
  m_jobs.cancel("program:" + QString::number(capture));
  m_jobs.cancel("ranks:" + QString::number(capture));
  m_fusion.erase(capture);
  m_ranks.erase(capture);
  forgetStages(capture);
  m_browsers.erase(capture);
  forgetValue();
  if (m_record && m_record->capture == capture) {
    m_record = nullptr;
    emit recordChanged();
  }
  emit capturesChanged();
  if (m_graphless == capture) leaveGraphless();
  if (m_location.capture == capture) emptyPlace();
}

void Session::emptyPlace() {
  m_location = {};
  m_graph = nullptr;
  m_node = -1;
  m_left.stop();
  m_reading = false;
  emit locationChanged();
  emit graphChanged();
  emit nodeChanged();
  emit guardsChanged();
  emit compiledChanged();
  emit accuracyChanged();
  emit bisectChanged();
  emit minifyChanged();
  emit stagesChanged();
  emit verifiedChanged();
  findDifference();
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

GraphState* Session::state(const Key& key) const {
  const auto found = m_states.find(key);
  return found == m_states.end() ? nullptr : found->second.get();
}

GraphState* Session::state() const { return state(key()); }

GuardsDocPtr Session::guards() const { return state() ? state()->guards : nullptr; }
CompileDocPtr Session::compiled() const { return state() ? state()->compiled : nullptr; }
AccuracyDocPtr Session::accuracy() const { return state() ? state()->accuracy : nullptr; }
BisectDocPtr Session::bisected() const { return state() ? state()->bisected : nullptr; }
MinifyDocPtr Session::minified() const { return state() ? state()->minified : nullptr; }

const NodeDoc* Session::nodeDoc() const {
  return m_graph && m_node >= 0 ? &m_graph->nodes[std::size_t(m_node)] : nullptr;
}

bool Session::busy() const {
  if (m_jobs.busy() || m_compileSoon.isActive()) return true;
  return std::any_of(m_states.begin(), m_states.end(), [](const auto& item) {
    const auto& known = *item.second;
    return (known.accuracy && known.accuracy->running) || (known.minify && known.minify->running());
  });
}

}  // namespace kerf::ui::inline session
