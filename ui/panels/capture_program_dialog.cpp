#include "ui/panels/capture_program_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

CaptureProgramDialog::CaptureProgramDialog(const QString& path, QWidget* parent)
    : RoomyDialog(parent),
      m_path(path),
      m_function(new QLineEdit),
      m_backend(new QComboBox),
      m_sizes(new QComboBox),
      m_whole(new QCheckBox(tr("A graph break is an error (fullgraph)"))),
      m_seconds(new QSpinBox) {
  setObjectName("captureProgramDialog");
  setWindowTitle(tr("Capture %1").arg(QFileInfo(path).fileName()));
  auto* said = new QLabel(tr(
      "This runs the script in the sandbox, on Kerf's own engine and without PyTorch. The script reaches no file, no "
      "network and no other program; time and memory are limited. What torch.compile makes of it is stored as a "
      "capture."));
  said->setWordWrap(true);
  said->setObjectName("captureProgramSaid");
  m_function->setObjectName("programFunction");
  m_function->setAccessibleName(tr("Function to compile"));
  m_function->setPlaceholderText(tr("as the program says, or a name: f, Model.forward"));
  m_backend->setObjectName("programBackend");
  m_backend->setAccessibleName(tr("Backend"));
  m_backend->addItem(tr("as the program says"), QString());
  for (const char* backend : {"eager", "aot_eager", "inductor"}) m_backend->addItem(backend, QString(backend));
  m_sizes->setObjectName("programSizes");
  m_sizes->setAccessibleName(tr("Sizes"));
  m_sizes->addItem(tr("as the program says"), QString());
  m_sizes->addItem(tr("numbers"), "false");
  m_sizes->addItem(tr("symbols"), "true");
  m_sizes->addItem(tr("symbols once they differ"), "auto");
  m_seconds->setAccessibleName(tr("Seconds at most"));
  m_seconds->setRange(1, 3600);
  m_seconds->setValue(60);
  auto* form = new QFormLayout;
  form->addRow(tr("&Function to compile"), m_function);
  form->addRow(tr("&Backend"), m_backend);
  form->addRow(tr("&Sizes"), m_sizes);
  form->addRow(QString(), m_whole);
  form->addRow(tr("Seconds at &most"), m_seconds);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  auto* run = buttons->addButton(tr("Run in the sandbox"), QDialogButtonBox::AcceptRole);
  run->setObjectName("primary");
  run->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* body = new QVBoxLayout;
  body->setSpacing(12);
  body->addWidget(said);
  body->addLayout(form);
  setContent(body, buttons);
}

workbench::CaptureProgramRequest CaptureProgramDialog::request() const {
  workbench::CaptureProgramRequest request;
  const auto function = m_function->text().trimmed();
  request.path = (function.isEmpty() ? m_path : m_path + ":" + function).toStdString();
  request.backend = m_backend->currentData().toString().toStdString();
  request.dynamic = m_sizes->currentData().toString().toStdString();
  request.fullgraph = m_whole->isChecked();
  request.timeout = std::chrono::seconds(m_seconds->value());
  return request;
}

}  // namespace kerf::ui::inline panels
