// LogPanel: what this program logged, by level and category.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/log_feed.h"

class QComboBox;
class QPushButton;

namespace kerf::ui::inline panels {

class LogPanel : public QWidget {
  Q_OBJECT

 public:
  explicit LogPanel(LogFeed& feed, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QComboBox& level() { return *m_level; }
  QComboBox& category() { return *m_category; }
  QPushButton& clearButton() { return *m_clear; }
  QPushButton& copyButton() { return *m_copy; }

 private:
  void showMessages();
  /// Rows below the chosen level or of another category are hidden.
  bool keeps(int row) const;
  void filter();
  void copy();

  LogFeed& m_feed;
  LogModel* m_model;
  DataTable* m_table;
  QComboBox *m_level, *m_category;
  QPushButton *m_clear, *m_copy;
};

}  // namespace kerf::ui::inline panels
