#include "ui/shell/help_window.h"

#include <QDialogButtonBox>
#include <QFile>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "ui/session/node_search.h"
#include "ui/session/text.h"

namespace kerf::ui::inline shell {
namespace {

struct HelpPage {
  const char *name, *title;
};
constexpr HelpPage helpPages[] = {{"studio.md", "The window"},
                                  {"queries", "Words of queries"},
                                  {"first-steps.md", "First steps"},
                                  {"traces.md", "Traces"},
                                  {"differences.md", "Differences of graphs"},
                                  {"pasted-texts.md", "Pasted texts"},
                                  {"several-ranks.md", "Several ranks"},
                                  {"glossary.md", "Terms"}};

QString markdownOf(const QString& page) {
  if (page == "queries") return queryReference();
  QFile file(":/kerf/help/" + page);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// In a cell of a table.
QString inCell(QString words) { return words.replace('|', "\\|"); }

}  // namespace

QString queryReference() {
  auto text = HelpWindow::tr(
      "# Words of queries\n\nA node is found if all words of the query fit. Words without a colon are "
      "parts of a name, target or type.\n\n| Word | Fits nodes |\n|---|---|\n");
  for (const auto& [word, what] : searchWords()) text += "| `" + inCell(word) + "` | " + inCell(what) + " |\n";
  return text;
}

HelpWindow::HelpWindow(QWidget* parent)
    : QDialog(parent), m_pages(new QListWidget), m_text(new QTextBrowser), m_find(new QLineEdit) {
  setObjectName("helpWindow");
  setWindowTitle(tr("Help"));
  m_pages->setObjectName("helpPages");
  m_pages->setAccessibleName(tr("Pages"));
  for (const auto& page : helpPages) {
    auto* item = new QListWidgetItem(tr(page.title), m_pages);
    item->setData(Qt::UserRole, QString(page.name));
  }
  m_text->setObjectName("helpText");
  m_text->setAccessibleName(tr("Text of the page"));
  m_text->setOpenLinks(false);
  m_text->document()->setDocumentMargin(16);
  m_find->setPlaceholderText(tr("Find in the page"));
  m_find->setAccessibleName(tr("Find in the page"));
  m_find->setClearButtonEnabled(true);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_find);
  column->addWidget(m_text, 1);
  auto* content = new QSplitter(Qt::Horizontal);
  content->addWidget(m_pages);
  content->addWidget(right);
  content->setChildrenCollapsible(false);
  content->setSizes({200, 700});
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* whole = new QVBoxLayout(this);
  whole->addWidget(content, 1);
  whole->addWidget(buttons);
  connect(m_pages, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item) m_text->setMarkdown(markdownOf(item->data(Qt::UserRole).toString()));
  });
  connect(m_text, &QTextBrowser::anchorClicked, this, &HelpWindow::follow);
  connect(m_find, &QLineEdit::returnPressed, this, &HelpWindow::search);
  m_pages->setCurrentRow(0);
  const auto room = parent ? parent->window()->size() : QSize(1100, 760);
  resize(std::min(1100, room.width() - 60), std::min(760, room.height() - 60));
}

QStringList HelpWindow::pages() const {
  QStringList names;
  for (const auto& page : helpPages) names << page.name;
  return names;
}

QString HelpWindow::page() const {
  const auto* item = m_pages->currentItem();
  return item ? item->data(Qt::UserRole).toString() : QString();
}

void HelpWindow::showPage(const QString& page) {
  const auto row = pages().indexOf(page.section('#', 0, 0));
  if (row < 0) return;
  m_pages->setCurrentRow(int(row));
  show();
}

/// A link to a page that is here; others lead out of the window, and nothing here opens them.
void HelpWindow::follow(const QUrl& link) {
  if (link.isRelative() && !link.path().isEmpty()) return showPage(link.path().section('/', -1));
  if (link.isRelative() && link.hasFragment()) m_text->scrollToAnchor(link.fragment());
}

/// The next place behind the cursor, round the end.
void HelpWindow::search() {
  if (m_find->text().isEmpty() || m_text->find(m_find->text())) return;
  m_text->moveCursor(QTextCursor::Start);
  m_text->find(m_find->text());
}

}  // namespace kerf::ui::inline shell
