#include "ui/panels/plant_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

PlantDialog::PlantDialog(Session& session, QWidget* parent)
    : RoomyDialog(parent), m_op(new QComboBox), m_kind(new QComboBox) {
  setObjectName("plantDialog");
  setWindowTitle(tr("Try it with a planted fault"));
  auto* said = new QLabel(tr(
      "Kerf breaks one op or pass of the compiled side on purpose, so that you can watch how comparing, bisecting and "
      "minifying find it. Results say \"planted\" until you take it out. Other captures stay as they are."));
  said->setWordWrap(true);
  said->setObjectName("quiet");
  m_op->setObjectName("plantOp");
  m_op->setAccessibleName(tr("What is broken"));
  m_op->addItem(tr("nothing"), QString());
  if (const auto graph = session.graph())
    for (const auto& op : graph->ops) m_op->addItem(text(op), QString::fromStdString(op));
  if (const auto compiled = session.compiled())
    for (const auto& pass : compiled->passes)
      if (pass.stage != "aot" && m_op->findData(QString::fromStdString("pass:" + pass.name)) < 0)
        m_op->addItem(tr("pass %1").arg(text(pass.name)), QString::fromStdString("pass:" + pass.name));
  m_kind->setObjectName("plantKind");
  m_kind->setAccessibleName(tr("What goes wrong"));
  m_kind->addItems({"accuracy", "compile_error", "runtime_error", "crash", "hang", "flaky:0.5"});
  const auto plant = session.plant();
  m_op->setCurrentIndex(std::max(0, m_op->findData(plant.section('=', 0, 0))));
  if (const int kind = m_kind->findText(plant.section('=', 1)); kind >= 0) m_kind->setCurrentIndex(kind);
  const auto enable = [this] { m_kind->setEnabled(!m_op->currentData().toString().isEmpty()); };
  connect(m_op, &QComboBox::currentIndexChanged, this, enable);
  enable();
  auto* form = new QFormLayout;
  form->addRow(tr("What is &broken"), m_op);
  form->addRow(tr("What goes &wrong"), m_kind);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* body = new QVBoxLayout;
  body->setSpacing(12);
  body->addWidget(said);
  body->addLayout(form);
  setContent(body, buttons);
}

QString PlantDialog::plant() const {
  const auto op = m_op->currentData().toString();
  return op.isEmpty() ? QString() : op + "=" + m_kind->currentText();
}

}  // namespace kerf::ui::inline panels
