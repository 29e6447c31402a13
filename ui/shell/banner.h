// Banner: an error above the graph: what went wrong, in full, until it is dismissed.
#pragma once

#include <QFrame>

class QLabel;
class QToolButton;

namespace kerf::ui::inline shell {

class Banner : public QFrame {
  Q_OBJECT

 public:
  explicit Banner(QWidget* parent = nullptr);
  void showError(const QString& title, const QString& detail);
  QString text() const;
  void refreshIcons();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QLabel* m_icon;
  QLabel* m_title;
  QLabel* m_detail;
  QToolButton* m_close;
};

}  // namespace kerf::ui::inline shell
