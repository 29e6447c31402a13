#include "ui/panels/overview_panel.h"

#include <algorithm>

#include <QCoreApplication>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/graph_view/theme_change.h"
#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"
#include "ui/panels/log_parts.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int whereColumn = 0, statusColumn = 1, timeColumn = 2, cacheColumn = 3, whyColumn = 4;
constexpr int mostOpen = 2000;
constexpr int overviewRowPixels = 24;  ///< as in every table
constexpr int leastWhere = 220, leastWhy = 180;

QColor colorOf(const QString& status) {
  if (status == "ok" || status == "cache hit") return theme().good;
  return status == "failed" ? theme().bad : theme().warn;
}

/// Ids are at the beginning, functions and lines at the end: neither is cut off.
class FrameDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideMiddle;
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index).expandedTo({0, overviewRowPixels});
  }
};

QString escaped(const std::string& value) { return text(value).toHtmlEscaped().replace('\n', "<br>"); }

QString styles() {
  return QString(
             "body { color: %1; } .quiet { color: %2; } .bad { color: %3; } .warn { color: %4; } "
             "a { color: %5; text-decoration: none; } h3 { margin: 0 0 6px 0; } h4 { margin: 14px 0 4px 0; } "
             "p { margin: 2px 0 6px 0; } code { font-family: '%6'; }")
      .arg(theme().text.name(), theme().muted.name(), theme().bad.name(), theme().warn.name(), theme().accent.name(),
           codeFont().family());
}

void colourOverviewRow(QTreeWidgetItem& item, const OverviewRow& row, bool hasCompiles) {
  if (row.compile >= 0) item.setIcon(whereColumn, qvariant_cast<QIcon>(dotIcon(colorOf(row.status), true)));
  if (row.status == "failed") item.setForeground(statusColumn, theme().bad);
  if (row.compile < 0 && hasCompiles) item.setForeground(whereColumn, theme().muted);
}

/// The frames get what they need, and the reasons the rest, but at least a part that can be read.
void fitOverviewColumns(QTreeWidget& tree) {
  auto& header = *tree.header();
  header.setStretchLastSection(true);
  int room = tree.viewport()->width() - leastWhy;
  for (int column = 0; column < whyColumn; ++column) {
    tree.resizeColumnToContents(column);
    if (column != whereColumn) room -= header.sectionSize(column);
  }
  const int wanted = header.sectionSize(whereColumn) + 12;
  header.resizeSection(whereColumn, std::max(std::min(wanted, std::max(leastWhere, room)), 160));
}

}  // namespace

OverviewPanel::OverviewPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_title(new QLabel),
      m_totals(new QLabel),
      m_tree(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  setObjectName("overviewPage");
  m_title->setObjectName("overviewTitle");
  m_totals->setObjectName("quiet");
  m_totals->setWordWrap(true);
  m_tree->setObjectName("overview");
  m_tree->setAccessibleName(tr("Compilations"));
  m_tree->setHeaderLabels({tr("Compile id, by the user's stack"), tr("Status"), tr("Time"), tr("Cache"), tr("Why")});
  m_tree->setUniformRowHeights(true);
  m_tree->setItemDelegateForColumn(whereColumn, new FrameDelegate(m_tree));
  m_tree->setAllColumnsShowFocus(true);
  m_tree->setFrameShape(QFrame::NoFrame);
  m_tree->setHorizontalScrollBarPolicy(
      Qt::ScrollBarAlwaysOff);  // the last column is cut; its tip and the answer are whole
  m_detail->setObjectName("overviewDetail");
  m_detail->setAccessibleName(tr("What happened"));
  m_detail->setOpenLinks(false);
  m_detail->setFrameShape(QFrame::NoFrame);
  m_detail->document()->setDocumentMargin(14);
  auto* head = new QVBoxLayout;
  head->setContentsMargins(14, 10, 14, 8);
  head->setSpacing(2);
  head->addWidget(m_title);
  head->addWidget(m_totals);
  m_content->addWidget(m_tree);
  m_content->addWidget(m_detail);
  m_content->setChildrenCollapsible(false);
  m_content->setStretchFactor(0, 3);
  m_content->setStretchFactor(1, 2);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(m_content, 1);
  connect(m_tree, &QTreeWidget::currentItemChanged, this, &OverviewPanel::showDetail);
  connect(m_tree, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) { open(item); });
  connect(m_detail, &QTextBrowser::anchorClicked, this, &OverviewPanel::follow);
  for (const auto signal :
       {&Session::locationChanged, &Session::capturesChanged, &Session::traceLogChanged, &Session::programChanged})
    connect(&session, signal, this, &OverviewPanel::showCapture);
  onThemeChange(*this, [this] {
    std::size_t row = 0;
    for (QTreeWidgetItemIterator each(m_tree); *each && row < m_rows.size(); ++each, ++row)
      colourOverviewRow(**each, m_rows[row], !m_capture->compiles.empty());
    showDetail();
  });
  showCapture();
}

QString OverviewPanel::detail() const { return m_detail->toPlainText(); }

QString OverviewPanel::totals() const { return m_totals->text(); }

void OverviewPanel::showCapture() {
  const auto capture = m_session.capture(m_session.shownCapture());
  if (capture) m_session.findTraceLog(capture->id);
  const auto log = capture ? m_session.traceLog(capture->id) : nullptr;
  if (capture == m_capture && log == m_log) return;
  m_capture = capture;
  m_log = log;
  m_rows = capture ? overviewRows(*capture, log.get()) : std::vector<OverviewRow>();
  m_title->setText(capture ? captureTitle(text(capture->path)) : QString());
  m_totals->setText(capture ? overviewTotals(*capture, log.get()) : QString());
  fillTree();
  showDetail();
}

void OverviewPanel::fillTree() {
  const QSignalBlocker quiet(m_tree);
  m_tree->clear();
  std::vector<QTreeWidgetItem*> items;
  for (const auto& row : m_rows) {
    auto* item = row.parent < 0 ? new QTreeWidgetItem(m_tree) : new QTreeWidgetItem(items[std::size_t(row.parent)]);
    item->setText(whereColumn, row.where);
    item->setText(statusColumn, row.status);
    item->setText(timeColumn, row.time);
    item->setTextAlignment(timeColumn, Qt::AlignRight | Qt::AlignVCenter);
    item->setText(cacheColumn, row.cache);
    item->setText(whyColumn, row.remarks.join("; "));
    item->setToolTip(whereColumn, row.tip);
    item->setToolTip(cacheColumn, row.cache);
    item->setToolTip(whyColumn, row.remarks.join('\n'));
    colourOverviewRow(*item, row, !m_capture->compiles.empty());
    items.push_back(item);
  }
  if (int(m_rows.size()) <= mostOpen) m_tree->expandAll();
  m_tree->setColumnHidden(cacheColumn,
                          std::ranges::all_of(m_rows, [](const auto& row) { return row.cache.isEmpty(); }));
  fitOverviewColumns(*m_tree);
}

int OverviewPanel::currentRow() const {
  const auto* item = m_tree->currentItem();
  if (!item) return -1;
  int row = 0;
  for (QTreeWidgetItemIterator each(m_tree); *each; ++each, ++row)
    if (*each == item) break;
  // Items are visited as a tree is read; rows are stored in the same order, parents before their children.
  return row < int(m_rows.size()) ? row : -1;
}

void OverviewPanel::showCompile(int compile) {
  int row = 0;
  for (QTreeWidgetItemIterator each(m_tree); *each; ++each, ++row)
    if (m_rows[std::size_t(row)].compile == compile) return m_tree->setCurrentItem(*each);
}

void OverviewPanel::open(const QTreeWidgetItem*) {
  const int row = currentRow();
  if (row >= 0 && m_rows[std::size_t(row)].graph >= 0) emit graphPicked(m_rows[std::size_t(row)].graph);
}

void OverviewPanel::follow(const QUrl& link) {
  const auto target = link.path().toInt();
  if (link.scheme() == "graph") emit graphPicked(target);
  if (link.scheme() == "record") emit recordPicked(target);
  if (link.scheme() == "compile") showCompile(target);
}

void OverviewPanel::showDetail() {
  const int row = currentRow();
  m_detail->document()->setDefaultStyleSheet(styles());
  QString html;
  if (row >= 0 && m_rows[std::size_t(row)].compile >= 0)
    html = compileHtml(m_rows[std::size_t(row)].compile);
  else
    html = (row >= 0 ? frameHtml(m_rows[std::size_t(row)]) : QString()) + answerHtml();
  m_detail->setHtml("<body>" + html + "</body>");
}

QString OverviewPanel::frameHtml(const OverviewRow& row) const {
  if (row.tip.isEmpty()) return {};
  return "<h3>" + tr("Stack") + "</h3><p><code>" + row.tip.toHtmlEscaped().replace('\n', "<br>") + "</code></p>";
}

QString OverviewPanel::answerHtml() const {
  if (!m_capture) return {};
  if (!m_log && m_session.isTrace(m_capture->id)) return "<p class='quiet'>" + tr("Reading the log…") + "</p>";
  if (m_log && !m_log->error.isEmpty()) return "<p class='bad'>" + m_log->error.toHtmlEscaped() + "</p>";
  QString html;
  for (const auto& sentence : m_log ? m_log->answer : std::vector<workbench::LogSentence>()) {
    const bool problem = sentence.weight == "problem";
    html += QString("<p><span class='%1'>●</span> %2</p>")
                .arg(problem                     ? "bad"
                     : sentence.weight == "note" ? "warn"
                                                 : "quiet",
                     escaped(sentence.text));
  }
  if (!html.isEmpty()) html = "<h3>" + tr("What happened") + "</h3>" + html;
  html += tableHtml("triton", -1);
  const auto notes = m_log ? m_log->notes : m_capture->notes;
  if (!notes.empty()) html += "<h4>" + tr("Notes") + "</h4>";
  for (const auto& note : notes) html += "<p class='quiet'>" + escaped(note) + "</p>";
  return html;
}

QString OverviewPanel::tableHtml(const char* name, int compile) const {
  const auto* table = m_log ? m_log->table(name) : nullptr;
  if (table == nullptr) return {};
  const auto& part = *std::ranges::find(logParts(), std::string_view(name), &LogPart::table);
  QString html;
  int told = 0;
  for (const auto& row : table->rows) {
    if (row.compile != compile || ++told > mostToldRows) continue;
    html += logRowHtml(part, *table, row, *m_log);
  }
  if (told > mostToldRows)
    html += "<p class='quiet'>" + tr("and %1 more").arg(formatCount(told - mostToldRows)) + "</p>";
  return html.isEmpty() ? html : "<h4>" + QCoreApplication::translate("OverviewPanel", part.title) + "</h4>" + html;
}

QString OverviewPanel::compileHtml(int compile) const {
  const auto& entry = m_capture->compiles[std::size_t(compile)];
  QString html = "<h3>" + escaped(entry.id) + "  <span class='quiet'>" + escaped(entry.status) +
                 (entry.seconds >= 0 ? ", " + formatSeconds(entry.seconds) : QString()) + "</span></h3>";
  if (!entry.frame.empty()) html += "<p class='quiet'>" + escaped(entry.frame) + "</p>";
  QString told;
  for (const auto& part : logParts()) told += tableHtml(part.table.data(), compile);
  html += told.isEmpty() && entry.failure.empty() && m_capture->kind != "tritonparse"
              ? "<p>" + tr("It went through: no break, no restart, no failure.") + "</p>"
              : told;
  if (!entry.failure.empty() && !told.contains(QCoreApplication::translate("OverviewPanel", logParts().front().title)))
    html += "<h4>" + tr("Why it failed") + "</h4><p>" + escaped(entry.failure) + "</p>";
  if (entry.graphs.empty()) return html + "<p class='quiet'>" + tr("It left no graph.") + "</p>";
  html += "<h4>" + tr("Graphs") + "</h4>";
  for (const int graph : entry.graphs)
    html +=
        QString("<p><a href='graph:%1'>%2</a></p>").arg(graph).arg(escaped(m_capture->graphs[std::size_t(graph)].name));
  return html;
}

}  // namespace kerf::ui::inline panels
