#include "ui/panels/log_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

LogPanel::LogPanel(LogFeed& feed, QWidget* parent)
    : QWidget(parent),
      m_feed(feed),
      m_model(makeLogModel().release()),
      m_table(new DataTable(m_model)),
      m_level(new QComboBox),
      m_category(new QComboBox),
      m_clear(new QPushButton(tr("Clear"))),
      m_copy(new QPushButton(tr("Copy"))) {
  m_level->addItems(logLevels());
  m_level->setCurrentText("info");
  m_level->setToolTip(tr("The lowest level that is logged and shown"));
  m_category->addItem(tr("all categories"));
  m_category->addItems(logCategories());
  m_table->setObjectName("log");
  m_table->setHint(tr("What Kerf does is logged here."));
  m_table->setStretchColumn(m_model->columnCount() - 1);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->addWidget(m_level);
  row->addWidget(m_category);
  row->addStretch(1);
  row->addWidget(m_copy);
  row->addWidget(m_clear);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  connect(&feed, &LogFeed::changed, this, &LogPanel::showMessages);
  connect(m_level, &QComboBox::currentIndexChanged, &feed, &LogFeed::setLowest);
  connect(m_level, &QComboBox::currentIndexChanged, this, &LogPanel::filter);
  connect(m_category, &QComboBox::currentIndexChanged, this, &LogPanel::filter);
  connect(m_clear, &QPushButton::clicked, &feed, &LogFeed::clear);
  connect(m_copy, &QPushButton::clicked, this, &LogPanel::copy);
  m_table->filter().setKeep([this](int index) { return keeps(index); });
  showMessages();
}

void LogPanel::showMessages() {
  const auto* bar = m_table->verticalScrollBar();
  const bool atEnd = bar->value() == bar->maximum();
  m_model->setRows({m_feed.messages().begin(), m_feed.messages().end()});
  m_table->fitColumns();
  if (atEnd) m_table->scrollToBottom();
}

bool LogPanel::keeps(int row) const {
  const LogDoc& message = m_model->row(row);
  return message.level >= m_level->currentIndex() &&
         (m_category->currentIndex() == 0 || message.category == m_category->currentText());
}

void LogPanel::filter() {
  m_table->filter().setKeep([this](int index) { return keeps(index); });
}

void LogPanel::copy() { QApplication::clipboard()->setText(m_table->text()); }

}  // namespace kerf::ui::inline panels
