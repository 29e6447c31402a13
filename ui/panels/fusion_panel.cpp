#include "ui/panels/fusion_panel.h"

namespace kerf::ui::inline panels {

FusionPanel::FusionPanel(Session& session, QWidget* parent)
    : FusionPanel(makeFusionModel().release(), session, parent) {}

FusionPanel::FusionPanel(FusionModel* model, Session& session, QWidget* parent)
    : DataTable(model, parent), m_session(session), m_model(model) {
  setObjectName("fusion");
  setAccessibleName(tr("Recorded fusion groups"));
  setStretchColumn(3);
  setHint(tr("No fusion groups: open a TORCH_TRACE log or a TORCH_COMPILE_DEBUG folder."));
  connect(&session, &Session::locationChanged, this, &FusionPanel::showGroups);
  connect(&session, &Session::capturesChanged, this, &FusionPanel::showGroups);
  connect(&session, &Session::fusionChanged, this, &FusionPanel::showGroups);
  connect(this, &DataTable::picked, this, [this](int row) {
    const auto& group = m_model->row(row);
    emit groupPicked(texts(group.postGradNodes) + texts(group.preGradNodes));
  });
}

void FusionPanel::showGroups() {
  const auto capture = m_session.capture(m_session.location().capture);
  const FusionRowsPtr groups = capture ? m_session.fusion(capture->id) : nullptr;
  if (capture && !groups) m_session.findFusion(capture->id);
  if (groups == m_shown) return;
  m_shown = groups;
  m_model->setRows(groups ? *groups : std::vector<FusionRow>());
  fitColumns();
}

}  // namespace kerf::ui::inline panels
