// MinifiedGraphs: the smallest graph that fails, and beside it the nearest one that passes: what differs is marked in
// both, and said in words.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QLabel;

namespace kerf::ui::inline panels {

class CandidateView;

class MinifiedGraphs : public QWidget {
  Q_OBJECT

 public:
  explicit MinifiedGraphs(Session& session, QWidget* parent = nullptr);
  /// Null: nothing is being minified.
  void setMinified(const MinifyDoc* doc);
  CandidateView& failing() { return *m_failing; }
  CandidateView& passing() { return *m_passing; }
  /// "One edit apart (bypass_operand): …"; empty: not known.
  QString edit() const;

 private:
  CandidateView *m_failing, *m_passing;
  QLabel* m_edit;
};

/// "2 queries under way  ·  worker 1: 12 asked, the last passes (0.12 s)  ·  …"
QString workersText(const MinifyDoc& doc);

}  // namespace kerf::ui::inline panels
