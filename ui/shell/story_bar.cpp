#include "ui/shell/story_bar.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

#include "ui/graph_view/theme_change.h"
#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline shell {
namespace {

constexpr const char* stepNames[storySteps] = {"storyOpen",   "storyCompare", "storyFirstBad",
                                               "storyBisect", "storyMinify",  "storyIssue"};
constexpr int longest = 16;  ///< letters of a name in a step

QString brief(const std::string& name) {
  const auto whole = text(name);
  return whole.size() <= longest ? whole : whole.left(longest - 5) + "…" + whole.right(4);
}

}  // namespace

StoryBar::StoryBar(Session& session, QWidget* parent) : QWidget(parent), m_session(session) {
  setObjectName("storyBar");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(1);
  for (int i = 0; i < storySteps; ++i) {
    if (i > 0) {
      auto* arrow = new QLabel("›");
      arrow->setObjectName("quiet");
      row->addWidget(arrow);
    }
    auto* button = m_buttons[std::size_t(i)] = new QToolButton;
    button->setObjectName(stepNames[i]);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setFocusPolicy(Qt::TabFocus);
    row->addWidget(button);
    connect(button, &QToolButton::clicked, this, [this, step = StoryStep(i)] { emit stepAsked(step); });
  }
  for (const auto signal : {&Session::accuracyChanged, &Session::bisectChanged, &Session::minifyChanged,
                            &Session::graphChanged, &Session::locationChanged, &Session::plantChanged})
    connect(&session, signal, this, &StoryBar::showSteps);
  onThemeChange(*this, [this] { showSteps(); });
  showSteps();
}

StoryBar::State StoryBar::compareState() const {
  const auto doc = m_session.accuracy();
  State state{tr("Compare"), tr("Compare the compiled graph with the interpreter and fp64  (Ctrl+R)"), {}};
  if (!doc) return state;
  if (doc->running) return {tr("Comparing…"), state.tip, theme().warn};
  const auto planted = doc->plant.isEmpty() ? QString() : tr(" (planted)");
  if (!doc->error.isEmpty()) return {tr("Not compared"), doc->error, theme().bad};
  if (!doc->failure.empty()) return {tr("Fails") + planted, text(doc->failure), theme().bad};
  if (!doc->same) return {tr("Different") + planted, state.tip, theme().bad};
  const auto graph = m_session.graph();
  const bool odd = graph && doc->odd(*graph).wholly > 0;
  return {(odd ? tr("Same, but NaN") : tr("Same")) + planted, state.tip, odd ? theme().warn : theme().good};
}

StoryBar::State StoryBar::badState() const {
  const auto doc = m_session.accuracy();
  const auto first = doc && !doc->running ? doc->firstBadNode() : std::string();
  const auto tip = tr("Go to the node where the results part  (B); N goes on to the next one");
  if (!first.empty()) return {tr("First bad: %1").arg(brief(first)), tip, theme().bad};
  const bool none = doc && !doc->running && doc->error.isEmpty() && doc->same;
  return {none ? tr("No bad node") : tr("First bad"), tip, none ? theme().good : QColor(), !none};
}

StoryBar::State StoryBar::bisectState() const {
  const auto doc = m_session.bisected();
  State state{tr("Bisect"), tr("Find the pass that makes the compiled result leave the reference  (Ctrl+Shift+B)"), {}};
  if (!doc) return state;
  if (doc->running) return {tr("Bisecting…"), doc->progress, theme().warn};
  if (!doc->error.isEmpty()) return {tr("Not bisected"), doc->error, theme().bad};
  if (doc->culprits.empty()) return {tr("Nothing to blame"), text(doc->note), theme().good};
  return {tr("Blame: %1").arg(brief(doc->culprits.front())), texts(doc->culprits).join(", "), theme().bad};
}

StoryBar::State StoryBar::minifyState() const {
  const auto doc = m_session.minified();
  State state{tr("Minify"), tr("Reduce the failing graph to the smallest one that still fails  (Ctrl+M)"), {}};
  if (!doc) return state;
  if (!doc->error.isEmpty()) return {tr("Not minified"), doc->error, theme().bad};
  const auto sizes = QString("%1 → %2").arg(doc->startNodes).arg(doc->bestNodes);
  if (doc->state == MinifyDoc::State::Running)
    return {doc->bestNodes > 0 ? sizes : tr("Minifying…"), state.tip, theme().warn};
  return {tr("Minified %1").arg(sizes), state.tip, doc->repro.empty() ? theme().warn : theme().good};
}

StoryBar::State StoryBar::stateOf(StoryStep step) const {
  const auto capture = m_session.capture(m_session.location().capture);
  const auto minified = m_session.minified();
  switch (step) {
    case StoryStep::Open:
      return {tr("Open"), capture ? text(capture->path) : tr("Open a capture  (Ctrl+O)"),
              capture ? theme().good : QColor()};
    case StoryStep::Compare:
      return compareState();
    case StoryStep::FirstBad:
      return badState();
    case StoryStep::Bisect:
      return bisectState();
    case StoryStep::Minify:
      return minifyState();
    case StoryStep::Issue:
      return {tr("Issue…"),
              tr("Read and copy the text of an issue about the minified failure"),
              {},
              minified && !minified->repro.empty()};
  }
  return {};
}

StoryStep StoryBar::findNext() const {
  const auto accuracy = m_session.accuracy();
  const auto minified = m_session.minified();
  const auto bisected = m_session.bisected();
  if (!m_session.graph()) return StoryStep::Open;
  if (minified && !minified->repro.empty()) return StoryStep::Issue;
  if (!accuracy || accuracy->running || !accuracy->error.isEmpty()) return StoryStep::Compare;
  if (accuracy->same) return StoryStep::Compare;
  const auto first = accuracy->firstBadNode();
  const auto* node = m_session.nodeDoc();
  if (!first.empty() && (!node || node->name != first) && !bisected) return StoryStep::FirstBad;
  return bisected && !bisected->running ? StoryStep::Minify : StoryStep::Bisect;
}

void StoryBar::showSteps() {
  m_next = findNext();
  for (int i = 0; i < storySteps; ++i) {
    const auto step = StoryStep(i);
    const auto state = stateOf(step);
    auto& button = *m_buttons[std::size_t(i)];
    button.setText(state.title);
    button.setAccessibleName(state.title);
    button.setToolTip(state.tip);
    button.setIcon(
        qvariant_cast<QIcon>(dotIcon(state.color.isValid() ? state.color : theme().faint, state.color.isValid())));
    button.setEnabled(state.enabled && (step == StoryStep::Open || m_session.graph()));
    button.setProperty("next", step == m_next);
    button.style()->polish(&button);
  }
}

}  // namespace kerf::ui::inline shell
