// FusionPanel: the kernels that PyTorch generated, as recorded, and the nodes that were fused into each.
#pragma once

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

namespace kerf::ui::inline panels {

class FusionPanel : public DataTable {
  Q_OBJECT

 public:
  explicit FusionPanel(Session& session, QWidget* parent = nullptr);

 signals:
  /// Nodes of the chosen kernel, before and after the post-grad passes.
  void groupPicked(const QStringList& nodes);

 private:
  FusionPanel(FusionModel* model, Session& session, QWidget* parent);
  void showGroups();

  Session& m_session;
  FusionModel* m_model;
  FusionRowsPtr m_shown;
};

}  // namespace kerf::ui::inline panels
