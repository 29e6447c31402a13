// MainWindow: the steps of a failure's story: to bad nodes and NaN, planted faults, the text of the issue.
#include <algorithm>

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QVBoxLayout>

#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/plant_dialog.h"
#include "ui/shell/banner.h"
#include "ui/shell/main_window.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui::inline shell {
namespace {

/// The next of `places` (ascending) behind or before `from`, round the end; -1: there is none.
int nextOf(const std::vector<int>& places, int from, int step) {
  if (places.empty()) return -1;
  if (step < 0) {
    const auto before = std::ranges::lower_bound(places, from);
    return before == places.begin() ? places.back() : *(before - 1);
  }
  const auto behind = std::ranges::upper_bound(places, from);
  return behind == places.end() ? places.front() : *behind;
}

}  // namespace

/// Begins one where there is none.
bool MainWindow::hasComparison() {
  const auto accuracy = m_session.accuracy();
  if (accuracy && !accuracy->running && accuracy->error.isEmpty()) return true;
  (*m_actions)["compare"]->trigger();
  return false;
}

void MainWindow::showPlace(int node) {
  if (m_places->place() == WorkPlace::Overview) m_places->go(WorkPlace::Graph);
  m_session.selectNode(node);
  m_pane->view().reveal(node);
}

/// `step` 0: the first one, where the results part; else the next or the one before in the order of the graph.
void MainWindow::goToBad(int step) {
  const auto graph = m_session.graph();
  if (!graph || !hasComparison()) return;
  const auto accuracy = m_session.accuracy();
  std::vector<int> bad;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i)
    if (const auto* row = accuracy->find(graph->nodes[i].name); row && !row->same) bad.push_back(int(i));
  int found = nextOf(bad, m_session.node(), step);
  if (const int first = graph->find(accuracy->firstBadNode()); step == 0 && first >= 0) found = first;
  if (found < 0) return m_session.noted(tr("No node is beyond the limit."));
  showPlace(found);
}

void MainWindow::goToOdd() {
  const auto graph = m_session.graph();
  if (!graph || !hasComparison()) return;
  const auto odd = m_session.accuracy()->odd(*graph);
  const auto* node = m_session.nodeDoc();
  const int first = graph->find(odd.first);
  const bool among = node && std::ranges::find(odd.places, m_session.node()) != odd.places.end();
  const int found = among || first < 0 ? nextOf(odd.places, m_session.node(), 1) : first;
  if (found < 0) return m_session.noted(tr("All values are finite."));
  showPlace(found);
}

void MainWindow::goToFirst(AccuracyDoc::Oddity oddity) {
  const auto graph = m_session.graph();
  if (!graph || !hasComparison()) return;
  const auto places = m_session.accuracy()->withOddity(*graph, oddity);
  if (places.empty())
    return m_session.noted(oddity == AccuracyDoc::Oddity::NaN ? tr("No value is NaN.") : tr("No value is infinite."));
  showPlace(places.front());
}

void MainWindow::choosePlant() {
  auto* dialog = new PlantDialog(m_session, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    m_session.setPlant(dialog->plant());
    if (!dialog->plant().isEmpty()) (*m_actions)["compare"]->trigger();
  });
  dialog->open();
}

void MainWindow::takeStep(StoryStep step) {
  switch (step) {
    case StoryStep::Open:
      return chooseFiles();
    case StoryStep::Compare:
      return (*m_actions)["compare"]->trigger();
    case StoryStep::FirstBad:
      return goToBad(0);
    case StoryStep::Bisect:
      return (*m_actions)["bisectPass"]->trigger();
    case StoryStep::Minify: {
      const auto minified = m_session.minified();
      return minified ? raisePanel("minify") : (*m_actions)["minify"]->trigger();
    }
    case StoryStep::Issue:
      return showIssue();
  }
}

/// The text is written as a file first, as exporting does it, and then shown.
void MainWindow::showIssue() {
  const auto minified = m_session.minified();
  if (!minified || minified->repro.empty()) return;
  if (!m_pasted) m_pasted = std::make_unique<QTemporaryDir>();
  const auto path = m_pasted->filePath(QString("issue_%1.md").arg(QString::fromStdString(minified->repro)));
  const auto shown = std::make_shared<QMetaObject::Connection>();
  *shown = connect(&m_session, &Session::exported, this, [this, path, shown](const QString& written) {
    if (QFileInfo(written).fileName() != QFileInfo(path).fileName()) return;
    disconnect(*shown);
    showIssueText(path);
  });
  m_session.exportMinifiedAs(path, "issue");
}

void MainWindow::showIssueText(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return m_banner->showError(tr("Cannot read the issue"), file.errorString());
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName("issueDialog");
  dialog->setWindowTitle(tr("Issue for PyTorch"));
  auto* edit = new QPlainTextEdit(QString::fromUtf8(file.readAll()));
  edit->setObjectName("issueText");
  edit->setAccessibleName(tr("Text of the issue"));
  edit->setFont(codeFont());
  edit->setLineWrapMode(QPlainTextEdit::NoWrap);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* copy = buttons->addButton(tr("&Copy"), QDialogButtonBox::ActionRole);
  copy->setObjectName("copyIssue");
  auto* save = buttons->addButton(tr("&Save as file…"), QDialogButtonBox::ActionRole);
  auto* zip = buttons->addButton(tr("Save &repro and issue as zip…"), QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, edit, [edit] { QGuiApplication::clipboard()->setText(edit->toPlainText()); });
  connect(save, &QPushButton::clicked, this, [this] { exportMinified("issue"); });
  connect(zip, &QPushButton::clicked, this, [this] { exportMinified("zip"); });
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(edit, 1);
  column->addWidget(buttons);
  dialog->resize(std::min(860, width() - 80), std::min(640, height() - 80));
  dialog->open();
}

void MainWindow::step(int offset) {
  const auto graph = m_session.graph();
  if (!graph || graph->nodes.empty()) return;
  m_session.selectNode(std::clamp(m_session.node() + offset, 0, int(graph->nodes.size()) - 1));
}

}  // namespace kerf::ui::inline shell
