// HelpWindow: the pages of the documentation that users of the window need, and the words of queries.
#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace kerf::ui::inline shell {

class HelpWindow : public QDialog {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent = nullptr);
  /// "studio.md", "queries"; an anchor may follow. Nothing happens for a page that is not there.
  void showPage(const QString& page);
  QStringList pages() const;
  QString page() const;
  QTextBrowser& text() { return *m_text; }

 private:
  void follow(const QUrl& link);
  void search();

  QListWidget* m_pages;
  QTextBrowser* m_text;
  QLineEdit* m_find;
};

/// All words that queries have, as Markdown.
QString queryReference();

}  // namespace kerf::ui::inline shell
