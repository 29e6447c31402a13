// StoryBar: the way of one failure from the capture to the issue: what is known at each step, and which one is next.
#pragma once

#include <array>

#include <QWidget>

#include "ui/session/session.h"

class QToolButton;

namespace kerf::ui::inline shell {

enum class StoryStep { Open, Compare, FirstBad, Bisect, Minify, Issue };
constexpr int storySteps = 6;

class StoryBar : public QWidget {
  Q_OBJECT

 public:
  explicit StoryBar(Session& session, QWidget* parent = nullptr);
  /// The step that is to be done next; Open where nothing is open.
  StoryStep next() const { return m_next; }
  QToolButton& button(StoryStep step) { return *m_buttons[std::size_t(step)]; }

 signals:
  void stepAsked(kerf::ui::StoryStep step);

 private:
  struct State {
    QString title, tip;
    QColor color;  ///< of its mark; invalid: not done
    bool enabled = true;
  };
  State stateOf(StoryStep step) const;
  State compareState() const;
  State badState() const;
  State bisectState() const;
  State minifyState() const;
  StoryStep findNext() const;
  void showSteps();

  Session& m_session;
  std::array<QToolButton*, storySteps> m_buttons{};
  StoryStep m_next = StoryStep::Open;
};

}  // namespace kerf::ui::inline shell
