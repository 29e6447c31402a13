#include "ui/shell/export_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline shell {
namespace {

const QString pictureJob = "picture";

QString nameOf(const GraphDoc* graph) {
  auto name = graph ? text(graph->title) : QString();
  name.replace(QRegularExpression("[^A-Za-z0-9_.-]+"), "_");
  return name.isEmpty() ? QString("graph") : name.left(80);
}

}  // namespace

ExportDialog::ExportDialog(GraphPane& pane, JobQueue& jobs, const QString& folder, QWidget* parent)
    : RoomyDialog(parent),
      m_pane(pane),
      m_jobs(jobs),
      m_part(new QComboBox),
      m_format(new QComboBox),
      m_scale(new QDoubleSpinBox),
      m_path(new QLineEdit),
      m_plan(new QLabel),
      m_save(nullptr) {
  setWindowTitle(tr("Save the graph as a picture"));
  setObjectName("exportDialog");
  build(folder);
  connect(m_part, &QComboBox::currentIndexChanged, this, &ExportDialog::showPlan);
  connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::changeFormat);
  connect(m_scale, &QDoubleSpinBox::valueChanged, this, &ExportDialog::showPlan);
  connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::showPlan);
  showPlan();
}

ExportDialog::~ExportDialog() { m_jobs.cancel(pictureJob); }

void ExportDialog::build(const QString& folder) {
  const auto named = [](QWidget* widget, const char* name, const QString& what) {
    widget->setObjectName(name);
    widget->setAccessibleName(what);
  };
  m_part->addItems({tr("The whole graph"), tr("What is seen now")});
  for (const auto& [extension, title] : pictureFormats()) m_format->addItem(title, extension);
  m_scale->setRange(1, 1000);
  m_scale->setValue(100);
  m_scale->setSuffix(tr(" %"));
  m_scale->setDecimals(1);
  m_path->setMinimumWidth(380);
  m_path->setText(QDir(folder).filePath(nameOf(m_pane.view().scene() ? m_pane.view().scene()->shown.get() : nullptr) +
                                        "." + format()));
  m_plan->setObjectName("exportPlan");
  m_plan->setWordWrap(true);
  m_plan->setMinimumHeight(m_plan->fontMetrics().height() * 2 + 4);
  named(m_part, "exportPart", tr("Part"));
  named(m_format, "exportFormat", tr("Form"));
  named(m_scale, "exportScale", tr("Scale"));
  named(m_path, "exportPath", tr("File"));
  auto* browse = new QPushButton(tr("Browse…"));
  browse->setObjectName("exportBrowse");
  connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
  auto* file = new QHBoxLayout;
  file->addWidget(m_path, 1);
  file->addWidget(browse);
  auto* form = new QFormLayout;
  form->addRow(tr("&Part"), m_part);
  form->addRow(tr("F&orm"), m_format);
  form->addRow(tr("&Scale"), m_scale);
  form->addRow(tr("&File"), file);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
  m_save = buttons->button(QDialogButtonBox::Save);
  m_save->setObjectName("exportSave");
  connect(buttons, &QDialogButtonBox::accepted, this, &ExportDialog::save);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout;
  column->addLayout(form);
  column->addWidget(m_plan);
  column->addStretch(1);
  setContent(column, buttons);
}

QString ExportDialog::format() const { return m_format->currentData().toString(); }

Picture ExportDialog::picture() const {
  const auto& view = m_pane.view();
  Picture made{view.scene(), view.state(), {}, m_scale->value() / 100};
  made.state.hovered = -1;
  if (!made.scene) return made;
  const auto whole = wholePart(*made.scene);
  made.part = m_part->currentIndex() == 0 ? whole : view.visibleScene().intersected(whole);
  return made;
}

void ExportDialog::showPlan() {
  const auto made = picture();
  auto problem = pictureProblem(made, format());
  if (problem.isEmpty() && m_path->text().trimmed().isEmpty()) problem = tr("Say where it is to be written.");
  const auto size = pictureSize(made);
  const auto unit = format() == "png" ? tr("pixels") : tr("points");
  m_plan->setText(!problem.isEmpty() ? problem
                  : format() == "dot"
                      ? tr("The cards and edges as text, for Graphviz")
                      : tr("%1 × %2 %3").arg(formatCount(size.width()), formatCount(size.height()), unit));
  m_scale->setEnabled(format() != "dot");
  m_save->setEnabled(problem.isEmpty());
}

/// The name follows the form.
void ExportDialog::changeFormat() {
  const QFileInfo file(m_path->text());
  if (!pictureFormatOf(file.fileName()).isEmpty())
    m_path->setText(file.dir().filePath(file.completeBaseName() + "." + format()));
  showPlan();
}

void ExportDialog::browse() {
  const auto path = QFileDialog::getSaveFileName(this, tr("Save the graph"), m_path->text(),
                                                 m_format->currentText() + " (*." + format() + ")");
  if (!path.isEmpty()) m_path->setText(path);
}

void ExportDialog::save() {
  auto path = m_path->text().trimmed();
  if (pictureFormatOf(path) != format()) path += "." + format();
  m_save->setEnabled(false);
  m_plan->setText(tr("Writing…"));
  m_jobs.submit<QString>(
      pictureJob,
      [made = picture(), path](std::stop_token stop) {
        return writePicture(made, path, [stop] { return !stop.stop_requested(); });
      },
      [this, path](const QString& problem) { finished(path, problem); });
}

void ExportDialog::finished(const QString& path, const QString& problem) {
  m_save->setEnabled(true);
  if (!problem.isEmpty()) return m_plan->setText(problem);
  emit saved(path);
  accept();
}

}  // namespace kerf::ui::inline shell
