#include "ui/shell/screenshot.h"

#include <algorithm>

#include <QApplication>

#include "ui/graph_view/picture_export.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/values_panel.h"
#include "ui/shell/main_window.h"
#include "ui/shell/search_box.h"

namespace kerf::ui::inline shell {
namespace {
constexpr int pollMs = 15, quietPolls = 4;
constexpr int mostPictures = 40;  ///< a window that never comes to rest is taken as it is
}  // namespace

Screenshot::Screenshot(MainWindow& window, ScreenshotOptions options)
    : QObject(&window), m_window(window), m_options(std::move(options)) {
  m_timer.setInterval(pollMs);
  connect(&m_timer, &QTimer::timeout, this, &Screenshot::poll);
  connect(&window.session(), &Session::failed, this,
          [this](const QString& title, const QString& detail) { m_problem = title + ": " + detail; });
}

void Screenshot::start() {
  m_window.setDeterministic();
  QApplication::setCursorFlashTime(0);
  m_window.resize(m_options.size);
  m_window.show();
  m_window.open(m_options.paths);
  m_timer.start();
}

void Screenshot::poll() {
  m_quiet = m_window.idle() ? m_quiet + 1 : 0;
  if (m_quiet < quietPolls) return;
  m_quiet = 0;
  if (!m_options.paths.isEmpty() && !m_window.session().graph() && m_window.session().shownCapture() < 0) {
    m_timer.stop();
    return emit finished(2, m_problem.isEmpty() ? tr("nothing could be opened") : m_problem);
  }
  if (!nextStep()) shoot();
}

/// Does what was asked for, one thing after the other; false once all is done.
bool Screenshot::nextStep() {
  using Step = void (Screenshot::*)();
  static constexpr Step steps[] = {&Screenshot::showGraph, &Screenshot::showAotStage, &Screenshot::compare,
                                   &Screenshot::bisect,    &Screenshot::minify,       &Screenshot::showPass,
                                   &Screenshot::enterBody, &Screenshot::outline,      &Screenshot::select,
                                   &Screenshot::showValue, &Screenshot::arrange,      &Screenshot::moveView,
                                   &Screenshot::find};
  if (m_step == std::size(steps)) return false;
  (this->*steps[m_step++])();
  return true;
}

/// A trace shows its overview unless something of a graph is asked for.
bool Screenshot::isOverview() const {
  const bool ofGraph = !m_options.graph.isEmpty() || !m_options.stage.isEmpty() || !m_options.select.isEmpty() ||
                       !m_options.body.isEmpty() || !m_options.search.isEmpty() || !m_options.picture.isEmpty() ||
                       m_options.pass >= 0 || m_options.compare || m_options.minify || m_options.hulls;
  return m_options.panel == "overview" || (m_options.panel.isEmpty() && !ofGraph);
}

void Screenshot::showGraph() {
  if (!isOverview()) m_window.places().go(WorkPlace::Graph);
  if (m_options.graph.isEmpty()) return;
  auto& session = m_window.session();
  const auto capture = session.capture(session.location().capture);
  const auto found = std::ranges::find(capture->graphs, m_options.graph.toStdString(), &GraphEntry::name);
  if (found == capture->graphs.end())
    m_problem = tr("no graph is called %1").arg(m_options.graph);
  else
    session.go({session.location().capture, int(found - capture->graphs.begin())});
}

void Screenshot::showAotStage() {
  if (!m_options.stage.isEmpty()) m_window.session().showAotStage(m_options.stage.toStdString());
}

void Screenshot::compare() {
  if (!m_options.plant.isEmpty()) m_window.session().setPlant(m_options.plant);
  if (m_options.compare) m_window.actions()["compare"]->trigger();
}

void Screenshot::bisect() {
  if (m_options.bisect.isEmpty()) return;
  m_window.actions()[m_options.bisect == "pass" ? "bisectPass" : "bisectNode"]->trigger();
}

void Screenshot::minify() {
  if (m_options.minify) m_window.actions()["minify"]->trigger();
}

void Screenshot::enterBody() {
  if (!m_options.body.isEmpty()) m_window.session().enterBody(m_options.body.toStdString());
}

void Screenshot::outline() {
  if (m_options.hulls) m_window.actions()["hulls"]->trigger();
}

void Screenshot::find() {
  if (!m_options.search.isEmpty()) m_window.searchBox().edit().setText(m_options.search);
}

void Screenshot::drawPicture() {
  m_timer.stop();
  const auto& view = m_window.pane().view();
  Picture picture{view.scene(), view.state(), {}, m_options.scale};
  if (picture.scene) picture.part = m_options.wholeGraph ? wholePart(*picture.scene) : view.visibleScene();
  const auto problem = writePicture(picture, m_options.picture);
  emit finished(problem.isEmpty() ? 0 : 3, problem);
}

void Screenshot::showPass() {
  if (m_options.pass >= 0) m_window.session().showStage(Location::Stage::Pass, m_options.pass);
}

void Screenshot::select() {
  auto& session = m_window.session();
  if (!m_options.panel.isEmpty()) m_window.raisePanel(m_options.panel);
  if (m_options.select.isEmpty()) return;
  if (!session.graph() || session.graph()->find(m_options.select.toStdString()) < 0)
    m_problem = tr("no node is called %1").arg(m_options.select);
  session.selectNode(m_options.select);
}

void Screenshot::showValue() {
  if (m_options.panel == "values") m_window.valuesPanel().ask();
  if (m_options.panel == "runs") m_window.runsPanel().compare();
}

/// Docks grew with what came first into them: now that all is there, their sizes are the same every time.
void Screenshot::arrange() { m_window.arrange(); }

void Screenshot::moveView() {
  m_window.pane().view().startView();
  if (const int node = m_window.session().node(); node >= 0) m_window.pane().view().centerOn(node);
}

/// Takes pictures until two in a row are equal: on a busy machine late resizes and repaints may still be under way.
void Screenshot::shoot() {
  const auto& session = m_window.session();
  const bool otherStage = !m_options.stage.isEmpty() && session.location().aotStage != m_options.stage.toStdString();
  const auto capture = session.capture(session.location().capture);
  const bool otherGraph = !m_options.graph.isEmpty() &&
                          capture->graphs[std::size_t(session.location().graph)].name != m_options.graph.toStdString();
  const bool nothing = otherGraph || otherStage || (!m_options.select.isEmpty() && session.node() < 0);
  if (!nothing && !m_options.picture.isEmpty()) return drawPicture();
  const auto picture = nothing ? QImage() : m_window.grab().toImage();
  const bool atRest = picture == m_last || ++m_pictures >= mostPictures;
  m_last = picture;
  if (!nothing && !atRest) return;
  m_timer.stop();
  if (nothing) return emit finished(2, m_problem);
  const bool written = picture.save(m_options.output);
  emit finished(written ? 0 : 3, written ? QString() : tr("%1 could not be written").arg(m_options.output));
}

}  // namespace kerf::ui::inline shell
