#include "ui/panels/plant_picker.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QToolButton>

namespace kerf::ui::inline panels {

PlantPicker::PlantPicker(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_chip(new QToolButton), m_remove(new QToolButton) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2);
  m_chip->setObjectName("warnChip");
  m_remove->setObjectName("removePlant");
  m_remove->setText("✕");
  m_remove->setAccessibleName(tr("Take the planted fault out"));
  m_remove->setToolTip(tr("Take the planted fault out"));
  m_chip->setToolTip(
      tr("A fault is planted in the compiled side, to try Kerf with: results are not those of the capture"));
  row->addWidget(m_chip);
  row->addWidget(m_remove);
  connect(m_chip, &QToolButton::clicked, this, &PlantPicker::choiceRequested);
  connect(m_remove, &QToolButton::clicked, this, [this] { setPlant({}); });
  for (const auto signal : {&Session::plantChanged, &Session::locationChanged})
    connect(&session, signal, this, &PlantPicker::showPlant);
  showPlant();
}

void PlantPicker::showPlant() {
  const auto planted = plant();
  m_chip->setText(tr("planted: %1").arg(planted));
  m_chip->setVisible(!planted.isEmpty());
  m_remove->setVisible(!planted.isEmpty());
}

bool PlantPicker::accepted() {
  const auto part = plant().section('=', 0, 0);
  const auto graph = m_session.graph();
  if (part.isEmpty() || !graph) return true;
  const auto compiled = m_session.compiled();
  const auto pass = part.startsWith("pass:") ? part.mid(5).toStdString() : std::string();
  if (!pass.empty() &&
      (!compiled || std::ranges::any_of(compiled->passes, [&](const auto& each) { return each.name == pass; })))
    return true;
  if (pass.empty() && std::ranges::find(graph->ops, part.toStdString()) != graph->ops.end()) return true;
  emit m_session.failed(
      tr("There is no such fault to plant"),
      pass.empty() ? tr("This graph does not call %1. Help > Try it with a planted fault lists the ops.").arg(part)
                   : tr("Kerf has no pass %1: the strip above the graph names all of them.").arg(part.mid(5)));
  return false;
}

}  // namespace kerf::ui::inline panels
