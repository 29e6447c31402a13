#include "ui/panels/backend_picker.h"

#include <QStandardItemModel>

#include "ui/models/run_words.h"

namespace kerf::ui::inline panels {

BackendPicker::BackendPicker(Session& session, QWidget* parent) : QComboBox(parent), m_session(session) {
  setObjectName("backend");
  setAccessibleName(tr("Backend"));
  setToolTip(tr("Whose code the compiled side of comparing, values, kernels and minifying is"));
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(this, &QComboBox::activated, this, [this] { m_session.setBackend(currentData().toString().toStdString()); });
  for (const auto signal : {&Session::backendChanged, &Session::backendsChanged})
    connect(&session, signal, this, &BackendPicker::fill);
  fill();
}

void BackendPicker::showEvent(QShowEvent* event) {
  QComboBox::showEvent(event);
  m_session.findBackends();
}

/// What this machine cannot run is listed, with the reason, and cannot be chosen.
void BackendPicker::fill() {
  clear();
  auto backends = m_session.backends();
  if (backends.empty()) backends.push_back({m_session.backend(), {}, true, {}});
  auto* items = qobject_cast<QStandardItemModel*>(model());
  for (const auto& backend : backends) {
    addItem(backendTitle(backend.name), QString::fromStdString(backend.name));
    setItemData(count() - 1, text(backend.runs ? backend.description : backend.why), Qt::ToolTipRole);
    items->item(count() - 1)->setEnabled(backend.runs);
  }
  setCurrentIndex(findData(QString::fromStdString(m_session.backend())));
}

}  // namespace kerf::ui::inline panels
