// SearchBox: finds nodes as one types; Enter and Shift+Enter step through them.
#pragma once

#include <QLineEdit>

#include "ui/graph_view/graph_pane.h"

class QLabel;

namespace kerf::ui::inline shell {

class SearchBox : public QWidget {
  Q_OBJECT

 public:
  explicit SearchBox(GraphPane& pane, QWidget* parent = nullptr);
  QLineEdit& edit() { return *m_edit; }
  QString countText() const;
  void focus();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showCount();

  GraphPane& m_pane;
  QLineEdit* m_edit;
  QLabel* m_count;
};

}  // namespace kerf::ui::inline shell
