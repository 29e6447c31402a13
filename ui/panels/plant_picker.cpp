#include "ui/panels/plant_picker.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>

namespace kerf::ui::inline panels {

PlantPicker::PlantPicker(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_op(new QComboBox), m_kind(new QComboBox) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  auto* label = new QLabel(tr("Planted fault"));
  label->setObjectName("quiet");
  label->setBuddy(m_op);
  m_op->setObjectName("plantOp");
  m_op->setEditable(true);
  m_op->setInsertPolicy(QComboBox::NoInsert);
  m_op->setMinimumWidth(130);
  m_op->setToolTip(tr("Op (or pass:NAME) to plant a fault in"));
  m_kind->setObjectName("plantKind");
  m_kind->addItems({"accuracy", "compile_error", "runtime_error", "crash", "hang", "flaky:0.5"});
  m_kind->setToolTip(tr("What goes wrong"));
  row->addWidget(label);
  row->addWidget(m_op);
  row->addWidget(m_kind);
  m_op->addItem(tr("none"));
  m_kind->setEnabled(false);
  connect(m_op, &QComboBox::currentTextChanged, this, [this] {
    m_kind->setEnabled(!plant().isEmpty());
    emit plantChanged(plant());
  });
  connect(m_kind, &QComboBox::currentTextChanged, this, [this] { emit plantChanged(plant()); });
  for (const auto signal : {&Session::graphChanged, &Session::graphLeft})
    connect(&session, signal, this, &PlantPicker::fillOps);
}

QString PlantPicker::plant() const {
  const auto op = m_op->currentText().trimmed();
  return op.isEmpty() || op == tr("none") ? QString() : op + "=" + m_kind->currentText();
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
  emit m_session.failed(tr("There is no such fault to plant"),
                        pass.empty()
                            ? tr("This graph does not call %1. Choose an op from the list.").arg(part)
                            : tr("Kerf has no pass %1: the strip above the graph names all of them.").arg(part.mid(5)));
  return false;
}

void PlantPicker::setPlant(const QString& plant) {
  if (plant == this->plant()) return;
  const QSignalBlocker quietOp(m_op), quietKind(m_kind);
  m_op->setCurrentText(plant.isEmpty() ? tr("none") : plant.section('=', 0, 0));
  if (const auto kind = plant.section('=', 1); !kind.isEmpty()) {
    if (m_kind->findText(kind) < 0) m_kind->addItem(kind);
    m_kind->setCurrentText(kind);
  }
  m_kind->setEnabled(!plant.isEmpty());
}

/// Ops of what is shown, and of nothing else: while the next graph is read there are none to choose from.
void PlantPicker::fillOps() {
  const auto graph = m_session.graph();
  const auto before = m_op->currentText();
  const QSignalBlocker quiet(m_op);
  m_op->clear();
  m_op->addItem(tr("none"));
  if (graph) m_op->addItems(texts(graph->ops));
  m_op->setCurrentText(before.isEmpty() ? tr("none") : before);
}

}  // namespace kerf::ui::inline panels
