#include "ui/panels/align_view.h"

#include <algorithm>

#include <QCheckBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panels/align_text.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::AlignedRow;

bool isWorthALook(const AlignmentDoc& doc, const AlignedRow& row) {
  return row.role == "first" || row.role == "new" || row.pair == doc.first || row.pair == doc.firstUnequal;
}

}  // namespace

AlignView::AlignView(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeAlignmentModel().release()),
      m_table(new DataTable(m_model)),
      m_first(new QLineEdit),
      m_second(new QLineEdit),
      m_run(new QPushButton(tr("Align"))),
      m_go(new QPushButton(tr("First wrong step"))),
      m_open(new QPushButton(tr("Show in the graph"))),
      m_onlyWrong(new QCheckBox(tr("Only wrong steps"))),
      m_headline(new QLabel),
      m_hint(new QLabel),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  build();
  const auto run = [this] {
    if (!m_first->text().trimmed().isEmpty())
      m_session.align(m_first->text().trimmed(), m_second->text().trimmed(), {});
  };
  connect(m_run, &QPushButton::clicked, this, run);
  for (auto* edit : {m_first, m_second}) connect(edit, &QLineEdit::returnPressed, this, run);
  connect(m_onlyWrong, &QCheckBox::toggled, this, &AlignView::applyFilter);
  connect(m_table, &DataTable::picked, this, &AlignView::showRow);
  connect(m_table, &QTableView::doubleClicked, this, [this] { m_open->click(); });
  connect(m_open, &QPushButton::clicked, this, [this] {
    const int row = m_table->currentSourceRow();
    open(row < 0 ? nullptr : &m_model->row(row));
  });
  connect(m_go, &QPushButton::clicked, this, [this] {
    const auto* first = m_shown ? m_shown->rowOf(m_shown->first) : nullptr;
    if (first == nullptr) return;
    m_table->selectSourceRow(int(first - m_shown->rows.data()));
    showRow(int(first - m_shown->rows.data()));
  });
  connect(&session, &Session::alignmentChanged, this, &AlignView::showAlignment);
  connect(&session, &Session::capturesChanged, this, &AlignView::proposeCaptures);
  showAlignment();
}

QWidget* AlignView::chooser(QLineEdit* edit, const QString& title) {
  edit->setAccessibleName(title);
  edit->setPlaceholderText(title);
  edit->setMinimumWidth(90);
  edit->setClearButtonEnabled(true);
  auto* button = new QToolButton;
  button->setText("…");
  button->setAccessibleName(tr("Choose: %1").arg(title));
  button->setToolTip(tr("Choose a file or a folder"));
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  menu->addAction(tr("File…"), this, [this, edit] { choose(edit); });
  menu->addAction(tr("Folder…"), this, [this, edit] {
    const auto path = QFileDialog::getExistingDirectory(this, tr("Choose a recording"), edit->text());
    if (!path.isEmpty()) edit->setText(path);
  });
  button->setMenu(menu);
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  row->addWidget(edit, 1);
  row->addWidget(button);
  return box;
}

void AlignView::choose(QLineEdit* edit) {
  const auto path = QFileDialog::getOpenFileName(this, tr("Choose a recording"), edit->text());
  if (!path.isEmpty()) edit->setText(path);
}

void AlignView::build() {
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Find which steps of the two recordings belong together, and the first that is wrong"));
  m_go->setObjectName("goToFirstWrongStep");
  m_open->setObjectName("openStep");
  m_open->setToolTip(tr("Show the step in the graph that it was recorded of"));
  m_headline->setObjectName("status");
  m_headline->setContentsMargins(12, 0, 12, 6);
  m_headline->setMinimumWidth(1);
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_table->setObjectName("alignedSteps");
  m_table->setAccessibleName(tr("Steps of both recordings"));
  m_table->setStretchColumn(2);
  m_detail->setObjectName("alignedDetail");
  m_detail->setAccessibleName(tr("What was recorded of the steps"));
  m_detail->setFrameShape(QFrame::NoFrame);
  m_detail->setOpenLinks(false);
  m_content->addWidget(m_table);
  m_content->addWidget(m_detail);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({760, 340});
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->setSpacing(10);
  bar->addWidget(chooser(m_first, tr("First recording")), 1);
  bar->addWidget(chooser(m_second, tr("Second recording")), 1);
  bar->addWidget(m_run);
  bar->addWidget(m_onlyWrong);
  bar->addWidget(m_go);
  bar->addWidget(m_open);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_headline);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
}

QString AlignView::headline() const { return m_headline->text(); }
QString AlignView::detail() const { return m_detail->toPlainText(); }
QString AlignView::hint() const { return m_hint->text(); }

/// What is open may have been recorded, too.
void AlignView::proposeCaptures() {
  const auto captures = m_session.captures();
  QLineEdit* const edits[] = {m_first, m_second};
  for (std::size_t i = 0; i < std::size(edits) && i < captures.size(); ++i)
    if (edits[i]->text().isEmpty()) edits[i]->setText(QString::fromStdString(captures[i]->path));
}

void AlignView::showAlignment() {
  const auto doc = m_session.alignment();
  const bool running = doc && doc->running, told = doc && !running && doc->error.isEmpty();
  if (running && m_run->hasFocus()) m_first->setFocus();  // a control that is off would lose it to another panel
  m_run->setEnabled(!running);
  m_content->setVisible(told);
  m_headline->setVisible(told);
  m_hint->setVisible(!told);
  m_hint->setText(running ? tr("Aligning the two recordings…")
                  : doc && !told
                      ? doc->error
                      : tr("Choose two recordings of runs: logs of DebugMode, folders with recorded values, or "
                           ".safetensors of named values. One folder alone: its two sides."));
  for (QWidget* widget : std::initializer_list<QWidget*>{m_onlyWrong, m_go, m_open}) widget->setVisible(told);
  const auto shown = told ? doc : nullptr;
  if (shown == m_shown) return;
  m_shown = shown;
  m_model->setRows(shown ? shown->rows : std::vector<AlignedRow>());
  m_table->fitColumns();
  m_headline->setText(shown ? alignmentHeadline(*shown) : QString());
  m_headline->setToolTip(m_headline->text());
  m_go->setEnabled(shown && shown->first >= 0);
  applyFilter();
  showRow(-1);
  if (m_go->isEnabled()) m_go->click();
}

void AlignView::applyFilter() {
  const bool only = m_onlyWrong->isChecked() && m_shown;
  m_table->filter().setKeep(only ? std::function<bool(int)>([doc = m_shown](int row) {
    return row < int(doc->rows.size()) && isWorthALook(*doc, doc->rows[std::size_t(row)]);
  })
                                 : std::function<bool(int)>());
}

void AlignView::showRow(int row) {
  const bool known = m_shown && row >= 0 && row < int(m_shown->rows.size());
  m_detail->setHtml(known ? alignedRowHtml(m_shown->rows[std::size_t(row)]) : QString());
  m_open->setEnabled(known && !m_shown->rows[std::size_t(row)].graph.empty());
}

/// What is said has the theme's colours in it.
void AlignView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && m_shown) showRow(m_table->currentSourceRow());
}

void AlignView::open(const AlignedRow* row) {
  if (row == nullptr) return;
  m_session.goToStep(*row);
  if (!row->graph.empty()) emit stepPicked();
}

}  // namespace kerf::ui::inline panels
