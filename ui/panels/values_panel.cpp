#include "ui/panels/values_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/graph_view/theme_change.h"
#include "ui/models/format.h"
#include "ui/models/run_words.h"
#include "ui/models/theme.h"
#include "ui/panels/backend_picker.h"
#include "ui/panels/heat_map.h"
#include "ui/panels/histogram_chart.h"

namespace kerf::ui::inline panels {
namespace {

constexpr std::pair<const char*, const char*> sides[] = {
    {"compiled", "Compiled"}, {"interpreter", "Interpreter"}, {"fp64", "fp64 reference"}, {"recorded", "Recorded"}};

QString indexText(const std::vector<std::int64_t>& index) {
  QStringList parts;
  for (const auto each : index) parts << QString::number(each);
  return parts.join(", ");
}

std::vector<std::int64_t> readIndex(const QString& text) {
  std::vector<std::int64_t> index;
  for (const auto& part : text.split(',', Qt::SkipEmptyParts)) index.push_back(part.trimmed().toLongLong());
  return index;
}

QString figuresText(const workbench::ValueFigures& figures) {
  const auto number = [](double value) { return QString::number(value, 'g', 6); };
  QString said;
  if (figures.finite > 0)
    said = ValuesPanel::tr("min %1   max %2\nmean %3   std %4\n")
               .arg(number(figures.minimum), number(figures.maximum), number(figures.mean), number(figures.deviation));
  said += ValuesPanel::tr("%1   zeros %2   subnormal %3\n")
              .arg(plural(figures.elements, "element"), formatCount(figures.zeros), formatCount(figures.subnormals));
  return said + ValuesPanel::tr("NaN %1   +inf %2   −inf %3")
                    .arg(formatCount(figures.nans), formatCount(figures.positiveInfinities),
                         formatCount(figures.negativeInfinities));
}

}  // namespace

ValuesPanel::ValuesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_run(new QPushButton(tr("Show value"))),
      m_side(new QComboBox),
      m_minus(new QComboBox),
      m_slice(new QLineEdit),
      m_next(new QPushButton(tr("Next NaN or inf"))),
      m_save(new QPushButton(tr("Save…"))),
      m_expected(new QToolButton),
      m_status(new QLabel),
      m_hint(new QLabel),
      m_content(new QSplitter(Qt::Horizontal)),
      m_map(new HeatMap),
      m_histogram(new HistogramChart),
      m_figures(new QLabel),
      m_cells(new QTableWidget) {
  buildBar();
  buildContent();
  m_follow.setSingleShot(true);
  m_follow.setInterval(180);
  connect(&m_follow, &QTimer::timeout, this, [this] {
    if (isVisible() && m_session.nodeDoc() && !shownIsSelected()) ask();
  });
  connect(&session, &Session::nodeChanged, this, &ValuesPanel::follow);
  connect(&session, &Session::valueChanged, this, [this] {
    goToOdd();
    showValue();
  });
  for (const auto signal : {&Session::nodeChanged, &Session::graphChanged, &Session::plantChanged,
                            &Session::inputsChanged, &Session::symbolsChanged, &Session::backendChanged})
    connect(&session, signal, this, &ValuesPanel::showValue);
  onThemeChange(*this, [this] { showValue(); });
  showValue();
}

void ValuesPanel::buildBar() {
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Compute the value of the selected node in its own process"));
  m_minus->addItem(tr("no difference"), QString());
  for (const auto& [name, title] : sides) {
    m_side->addItem(tr(title), QString(name));
    m_minus->addItem(tr("minus %1").arg(tr(title).toLower()), QString(name));
  }
  m_side->setAccessibleName(tr("Side"));
  m_minus->setAccessibleName(tr("Side to subtract"));
  m_slice->setAccessibleName(tr("Leading indices of the plane"));
  m_slice->setPlaceholderText(tr("leading indices: 0, 0"));
  m_slice->setMaximumWidth(170);
  m_slice->setMinimumWidth(60);
  for (auto* combo : {m_side, m_minus}) {  // a window of 1366 points has room for all of it
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(9);
  }
  m_next->setToolTip(tr("Go to the next NaN or infinity after the first cell that is shown"));
  m_save->setToolTip(tr("Write the whole value as .npy or .safetensors"));
  m_expected->setObjectName("expected");
  m_expected->setText(tr("Expected values…"));
  m_expected->setToolTip(
      tr("Choose a .safetensors file with recorded values: out0, out1, … in0, in1, … or nodes by name"));
  m_status->setObjectName("status");
  m_status->setWordWrap(true);
  m_status->setContentsMargins(12, 6, 12, 0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->setSpacing(10);
  auto* backend = new BackendPicker(m_session);
  for (QWidget* widget :
       std::initializer_list<QWidget*>{m_run, backend, m_side, m_minus, m_expected, m_slice, m_next, m_save})
    bar->addWidget(widget);
  bar->addStretch(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  connect(m_run, &QPushButton::clicked, this, qOverload<>(&ValuesPanel::ask));
  connect(m_next, &QPushButton::clicked, this, &ValuesPanel::findOdd);
  connect(m_save, &QPushButton::clicked, this, &ValuesPanel::chooseFile);
  connect(m_expected, &QToolButton::clicked, this, &ValuesPanel::chooseExpected);
  for (auto* combo : {m_side, m_minus})
    connect(combo, &QComboBox::currentIndexChanged, this, &ValuesPanel::showExpected);
  showExpected();
  connect(m_slice, &QLineEdit::returnPressed, this, qOverload<>(&ValuesPanel::ask));
  for (auto* combo : {m_side, m_minus}) connect(combo, &QComboBox::activated, this, qOverload<>(&ValuesPanel::ask));
}

void ValuesPanel::buildContent() {
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_figures->setObjectName("figures");
  m_figures->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_figures->setContentsMargins(12, 8, 12, 8);
  m_cells->setObjectName("cells");
  m_cells->setAccessibleName(tr("Cells of the value"));
  m_cells->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_cells->setFont(codeFont());
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_status);
  column->addWidget(m_histogram, 1);
  column->addWidget(m_figures);
  m_content->addWidget(m_map);
  m_content->addWidget(middle);
  m_content->addWidget(m_cells);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({320, 280, 500});
  layout()->addWidget(m_hint);
  layout()->addWidget(m_content);
  static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_hint, 1);
  static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_content, 1);
  connect(m_map, &HeatMap::cellPicked, this, &ValuesPanel::moveTo);
}

QString ValuesPanel::figures() const { return m_figures->text(); }

QString ValuesPanel::status() const { return m_status->text(); }

bool ValuesPanel::shownIsSelected() const {
  const auto value = m_session.value();
  const auto* node = m_session.nodeDoc();
  return value && node && value->asked.node == node->name && m_session.valueIsCurrent();
}

workbench::NodeValueRequest ValuesPanel::request() const {
  workbench::NodeValueRequest request;
  if (const auto* node = m_session.nodeDoc()) request.node = node->name;
  request.side = m_side->currentData().toString().toStdString();
  request.minus = m_minus->currentData().toString().toStdString();
  request.slice = readIndex(m_slice->text());
  if (isRecorded()) request.expect = expected().toStdString();
  return request;
}

void ValuesPanel::ask() {
  // Another node has other dimensions; its first plane is always there.
  if (m_session.value() && !shownIsSelected()) m_slice->clear();
  ask(request());
}

void ValuesPanel::ask(workbench::NodeValueRequest request) {
  if (!request.node.empty()) m_session.findValue(std::move(request));
}

/// Once a value has been asked for, or nodes were compared, the panel shows those of the nodes that the user goes to.
void ValuesPanel::follow() {
  const auto accuracy = m_session.accuracy();
  const bool compared = accuracy && !accuracy->running && accuracy->error.isEmpty();
  if ((m_session.value() || compared) && isVisible() && m_session.nodeDoc() && !shownIsSelected()) m_follow.start();
}

void ValuesPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  follow();
}

void ValuesPanel::moveTo(qint64 row, qint64 column) {
  if (!shownIsSelected() || m_session.value()->running) return;
  auto moved = request();
  moved.slice = m_session.value()->plane.slice;
  moved.row = row;
  moved.column = column;
  ask(std::move(moved));
}

/// Behind the first cell that is shown; from the start where nothing is shown yet.
void ValuesPanel::findOdd() {
  auto next = request();
  const auto value = m_session.value();
  if (shownIsSelected() && value->error.isEmpty() && !value->shape.empty()) {
    auto index = value->plane.slice;
    if (value->shape.size() > 1) index.push_back(value->window.row);
    index.push_back(value->window.column);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < value->shape.size() && i < index.size(); ++i) at = at * value->shape[i] + index[i];
    const bool atOdd = value->asked.rows == 1;  // the last answer was led here
    next.oddAfter = atOdd ? at : at - 1;
  }
  m_goToOdd = true;
  ask(std::move(next));
}

/// The answer to findOdd(): shows the plane with that element, which is the first cell then.
void ValuesPanel::goToOdd() {
  const auto value = m_session.value();
  if (!m_goToOdd || !value || value->running) return;
  m_goToOdd = false;
  if (!value->hasOdd || value->odd.empty()) return;
  auto there = value->asked;
  const auto dimensions = value->odd.size();
  there.column = value->odd.back();
  there.row = dimensions > 1 ? value->odd[dimensions - 2] : 0;
  there.slice.assign(value->odd.begin(), value->odd.end() - std::min<std::ptrdiff_t>(2, std::ssize(value->odd)));
  there.rows = 1;
  there.columns = 1;
  m_slice->setText(indexText(there.slice));
  ask(std::move(there));
}

void ValuesPanel::saveTo(const QString& path) {
  auto saved = request();
  saved.save = path.toStdString();
  ask(std::move(saved));
}

void ValuesPanel::chooseFile() {
  const auto path = QFileDialog::getSaveFileName(this, tr("Save the value"), QString(),
                                                 tr("NumPy (*.npy);;safetensors (*.safetensors)"));
  if (!path.isEmpty()) saveTo(path);
}

bool ValuesPanel::isRecorded() const {
  return m_side->currentData() == "recorded" || m_minus->currentData() == "recorded";
}

/// The file that was chosen for the shown capture.
QString ValuesPanel::expected() const { return m_expectedFiles.value(m_session.location().capture); }

void ValuesPanel::setExpected(const QString& path) {
  m_expectedFiles[m_session.location().capture] = path;
  showExpected();
}

void ValuesPanel::showExpected() {
  m_expected->setVisible(isRecorded());
  m_expected->setText(expected().isEmpty() ? tr("Expected values…") : QFileInfo(expected()).fileName());
}

void ValuesPanel::chooseExpected() {
  const auto path = QFileDialog::getOpenFileName(this, tr("Choose a file of expected values"), expected(),
                                                 tr("safetensors (*.safetensors)"));
  if (path.isEmpty()) return;
  setExpected(path);
  ask();
}

QString ValuesPanel::stateText() const {
  const auto value = m_session.value();
  if (!m_session.nodeDoc()) return tr("Select a node to look at its value.");
  if (!shownIsSelected())
    return tr("Show the value of %1: compiled, interpreted, in fp64, or as it was recorded.")
        .arg(text(m_session.nodeDoc()->name));
  return value->running ? tr("Computing…") : value->error;
}

void ValuesPanel::showValue() {
  const auto value = m_session.value();
  showExpected();
  const bool running = value && value->running, chosen = m_session.nodeDoc() != nullptr;
  const bool shown = shownIsSelected() && !running && value->error.isEmpty();
  for (QWidget* widget : std::initializer_list<QWidget*>{m_run, m_next, m_save}) widget->setEnabled(chosen && !running);
  if (running && shownIsSelected() && m_content->isVisible()) return m_status->setText(tr("Computing…"));
  m_hint->setText(stateText());
  m_hint->setVisible(!shown);
  m_content->setVisible(shown);
  m_status->clear();
  if (!shown) return;
  auto said = QString("%1  %2[%3]").arg(text(value->asked.node), text(value->dtype), indexText(value->shape));
  said += settingText(value->asked.plants, value->asked.backend);
  if (!value->source.empty()) said += tr("  ·  recorded as %1").arg(text(value->source));
  if (!value->saved.empty()) said += tr("  ·  saved to %1").arg(text(value->saved));
  if (value->figures.finite == value->figures.elements) said += tr("  ·  all finite");
  m_status->setText(said);
  m_map->setPlane(value->plane, value->window);
  m_histogram->setFigures(value->figures);
  m_figures->setText(figuresText(value->figures));
  showCells(*value);
}

void ValuesPanel::showCells(const ValueDoc& value) {
  const auto& window = value.window;
  m_cells->setRowCount(int(window.rows));
  m_cells->setColumnCount(int(window.columns));
  QStringList rows, columns;
  for (int row = 0; row < int(window.rows); ++row) rows << QString::number(window.row + row);
  for (int column = 0; column < int(window.columns); ++column) columns << QString::number(window.column + column);
  m_cells->setVerticalHeaderLabels(rows);
  m_cells->setHorizontalHeaderLabels(columns);
  for (int row = 0; row < int(window.rows); ++row)
    for (int column = 0; column < int(window.columns); ++column) {
      const auto& cell = window.cells[std::size_t(row * int(window.columns) + column)];
      auto* item = new QTableWidgetItem(text(cell));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      if (cell.ends_with("nan") || cell.ends_with("inf")) item->setForeground(theme().bad);
      m_cells->setItem(row, column, item);
    }
  m_cells->resizeColumnsToContents();
}

}  // namespace kerf::ui::inline panels
