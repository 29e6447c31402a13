#include "ui/graph_view/layout_service.h"

#include <csignal>

#include <QStandardPaths>

#include <sys/prctl.h>

#include "ui/graph_view/dot_text.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/session/freed_elsewhere.h"
#include "ui/session/log_feed.h"

namespace kerf::ui::inline graph_view {
namespace {

struct Prepared {
  ScenePtr scene;
  QByteArray dot;  ///< empty: the scene is laid out already; null then if it was stopped
};

}  // namespace

LayoutService::LayoutService(JobQueue& jobs, const QString& job, QObject* parent)
    : QObject(parent), m_jobs(jobs), m_job(job), m_program(QStandardPaths::findExecutable("dot")) {
  m_timeout.setSingleShot(true);
  m_timeout.setInterval(timeoutMs);
  connect(&m_timeout, &QTimer::timeout, this, [this] {
    logUi("info", "layout: dot takes too long, layers are used instead");
    killDot();
    fallBack();
  });
}

LayoutService::~LayoutService() {
  m_jobs.cancel(m_job);
  killDot();
}

void LayoutService::layOut(GraphDocPtr graph, const SceneOptions& options, ScenePtr before) {
  cancel();
  if (!graph) return;
  setBusy(true);
  m_began.start();
  const auto work = [graph, options, before, program = m_program](std::stop_token stop) -> Prepared {
    if (options.dot && !program.isEmpty()) {
      auto scene = std::make_shared<Scene>(buildScene(graph, options));
      scene->frames.clear();
      if (scene->cards.size() <= std::size_t(mostForDot)) return {scene, writeDot(*scene)};
    }
    return {layOutGraph(graph, options, stop, before), {}};
  };
  m_jobs.submit<Prepared>(m_job, work, [this](Prepared prepared) {
    if (prepared.scene)
      logUi("debug", QString("layout of %1 cards by %2")
                         .arg(prepared.scene->cards.size())
                         .arg(prepared.dot.isEmpty() ? "layers" : "dot"));
    if (prepared.dot.isEmpty()) return deliver(std::move(prepared.scene));
    m_unplaced = prepared.scene;
    m_dot = new QProcess(this);
    connect(m_dot, &QProcess::finished, this, &LayoutService::readDot);
    connect(m_dot, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
      if (error == QProcess::FailedToStart) readDot();
    });
    m_dot->setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });  // it must not outlive the window
    m_dot->start(m_program, {"-Tplain"});
    m_dot->write(prepared.dot);
    m_dot->closeWriteChannel();
    m_timeout.start();
  });
}

void LayoutService::readDot() {
  if (!m_dot) return;
  m_timeout.stop();
  const bool good = m_dot->exitStatus() == QProcess::NormalExit && m_dot->exitCode() == 0;
  const auto plain = m_dot->readAllStandardOutput();
  killDot();
  if (!good || plain.isEmpty()) return fallBack();
  m_jobs.submit<ScenePtr>(
      m_job,
      [unplaced = m_unplaced, plain](std::stop_token stop) -> ScenePtr {
        auto scene = std::make_shared<Scene>(*unplaced);
        if (readPlain(plain, *scene)) return scene;
        *scene = *unplaced;
        return layOutLayered(*scene, stop) ? scene : nullptr;
      },
      [this](ScenePtr scene) { deliver(std::move(scene)); });
}

void LayoutService::fallBack() {
  m_jobs.submit<ScenePtr>(
      m_job,
      [unplaced = m_unplaced](std::stop_token stop) -> ScenePtr {
        auto scene = std::make_shared<Scene>(*unplaced);
        return layOutLayered(*scene, stop) ? scene : nullptr;
      },
      [this](ScenePtr scene) { deliver(std::move(scene)); });
}

void LayoutService::deliver(ScenePtr scene) {
  m_unplaced = nullptr;
  logUi("debug", QString("layout took %1 ms").arg(m_began.elapsed()));
  setBusy(false);
  if (scene) emit ready(freedElsewhere(std::move(scene)));
}

void LayoutService::cancel() {
  m_jobs.cancel(m_job);
  killDot();
  m_unplaced = nullptr;
  setBusy(false);
}

void LayoutService::killDot() {
  m_timeout.stop();
  if (!m_dot) return;
  auto* process = std::exchange(m_dot, nullptr);
  process->disconnect(this);
  if (process->state() == QProcess::NotRunning) return process->deleteLater();
  connect(process, &QProcess::finished, process, &QObject::deleteLater);
  process->kill();
}

void LayoutService::setBusy(bool busy) {
  if (m_busy == busy) return;
  m_busy = busy;
  emit busyChanged();
}

}  // namespace kerf::ui::inline graph_view
