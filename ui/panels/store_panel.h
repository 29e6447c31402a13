// StorePanel: what the store holds; double click opens it.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QStandardItemModel;
class QTreeView;

namespace kerf::ui::inline panels {

class StorePanel : public QWidget {
  Q_OBJECT

 public:
  explicit StorePanel(Session& session, QWidget* parent = nullptr);
  QTreeView& tree() { return *m_tree; }
  QPushButton& refresh() { return *m_refresh; }
  /// Leaves only the rows in which its words occur, and what is around and below them.
  QLineEdit& filter() { return *m_filter; }
  /// Deletes the chosen captures, runs, reductions and repros.
  void deleteChosen();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStore();
  void addDeleting();
  void openChosen();
  void enableButtons();

  Session& m_session;
  QStandardItemModel* m_model;
  QTreeView* m_tree;
  QSortFilterProxyModel* m_found;
  QLineEdit* m_filter;
  QPushButton* m_refresh;
  QPushButton* m_open;
  QPushButton* m_delete;
  QPushButton* m_undo;
  QLabel* m_place;
};

}  // namespace kerf::ui::inline panels
