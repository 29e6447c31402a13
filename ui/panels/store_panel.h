// StorePanel: what the store holds; double click opens it.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QStandardItemModel;
class QTreeView;

namespace kerf::ui::inline panels {

class StorePanel : public QWidget {
  Q_OBJECT

 public:
  explicit StorePanel(Session& session, QWidget* parent = nullptr);
  QTreeView& tree() { return *m_tree; }
  QPushButton& refresh() { return *m_refresh; }
  /// Deletes the chosen captures, runs, reductions and repros.
  void deleteChosen();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStore();
  void addDeleting();

  Session& m_session;
  QStandardItemModel* m_model;
  QTreeView* m_tree;
  QPushButton* m_refresh;
  QLabel* m_place;
};

}  // namespace kerf::ui::inline panels
