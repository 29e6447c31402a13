#include "ui/shell/jobs_button.h"

#include <cmath>

#include <QMenu>

#include "ui/models/format.h"

namespace kerf::ui::inline shell {
namespace {

struct JobName {
  const char *key, *title;
};
constexpr JobName jobNames[] = {{"open", "Reading the file"},
                                {"graph", "Reading the graph"},
                                {"compile", "Compiling for view"},
                                {"compare", "Comparing"},
                                {"bisect", "Bisecting"},
                                {"minify", "Minifying"},
                                {"partition", "Partitioning"},
                                {"shard", "Placing values over ranks"},
                                {"planted", "Compiling as it is run"},
                                {"program", "Running the program in the sandbox"},
                                {"runs", "Comparing two runs"},
                                {"align", "Aligning two recordings"},
                                {"ranks", "Comparing ranks"},
                                {"verify", "Verifying stages"},
                                {"value", "Computing a value"},
                                {"guards", "Reading guards"},
                                {"fusion", "Reading fusion groups"},
                                {"code", "Reading output code"},
                                {"log", "Reading the log"},
                                {"record", "Reading a record"},
                                {"export", "Exporting"},
                                {"store", "Reading the store"},
                                {"picture", "Drawing the picture"}};
constexpr double worthSaying = 1;  ///< seconds, from which on a clock is shown

}  // namespace

QString jobTitle(const QString& key) {
  const auto kind = key.section(':', 0, 0);
  for (const auto& name : jobNames)
    if (kind == name.key) return JobsButton::tr(name.title);
  return JobsButton::tr("Working");
}

JobsButton::JobsButton(Session& session, QWidget* parent) : QToolButton(parent), m_session(session) {
  setObjectName("jobs");
  setToolTip(tr("What is under way; a click lists it and stops it"));
  setPopupMode(QToolButton::InstantPopup);
  setToolButtonStyle(Qt::ToolButtonTextOnly);
  setFocusPolicy(Qt::TabFocus);
  setMenu(new QMenu(this));
  connect(menu(), &QMenu::aboutToShow, this, &JobsButton::fillMenu);
  m_tick.setInterval(500);
  connect(&m_tick, &QTimer::timeout, this, &JobsButton::refresh);
  for (const auto signal : {&Session::busyChanged, &Session::minifyChanged, &Session::bisectChanged})
    connect(&session, signal, this, &JobsButton::refresh);
  refresh();
}

void JobsButton::setOwn(const QString& doing) {
  m_own = doing;
  refresh();
}

QString JobsButton::lineOf(const JobQueue::Work& work) const {
  auto line = jobTitle(work.key) + "…";
  const auto minified = m_session.minified();
  const bool minifying = work.key.startsWith("minify") && minified && minified->state == MinifyDoc::State::Running;
  const auto bisected = m_session.bisected();
  if (work.key.startsWith("bisect") && bisected && bisected->running && !bisected->progress.isEmpty())
    line += " " + bisected->progress;
  if (work.seconds >= worthSaying) line += "  " + formatSeconds(std::floor(work.seconds));
  if (minifying && minified->paused) line += tr("  ·  paused");
  if (minifying && !minified->paused && minified->secondsLeft >= 0)
    line += tr("  ·  about %1 left").arg(formatSeconds(minified->secondsLeft));
  return work.stopping ? line + tr("  ·  stopping") : line;
}

void JobsButton::refresh() {
  const auto works = m_session.jobs().works();
  works.empty() ? m_tick.stop() : m_tick.start();
  auto said = works.empty() ? m_own.isEmpty() ? tr("Ready") : m_own : lineOf(works.front());
  if (works.size() > 1) said += tr("  (+%1)").arg(works.size() - 1);
  if (said != text()) setText(said);
  setAccessibleName(said);
}

void JobsButton::fillMenu() {
  menu()->clear();
  for (const auto& work : m_session.jobs().works()) {
    auto* action = menu()->addAction(tr("Stop: %1").arg(lineOf(work)), this,
                                     [this, key = work.key] { m_session.jobs().stop(key); });
    action->setEnabled(!work.stopping);
  }
  if (menu()->isEmpty()) menu()->addAction(tr("Nothing is under way"))->setEnabled(false);
}

}  // namespace kerf::ui::inline shell
